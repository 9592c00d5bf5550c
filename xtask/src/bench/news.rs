//! A news server for the bench, and a minimal client that only requests one article after another: its speed is the
//! maximum that the server allows.

use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Error, Result, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

use super::delayed_network;

/// The number of bytes of each article.
pub(super) const ARTICLE_BYTES: u64 = 2048;
/// The number of articles, which are numbered from 1.
const ARTICLES: u64 = 2000;
/// The subcommands of `cargo xtask` that run the server and the client.
pub(crate) const SERVER: &str = "bench-news-server";
pub(crate) const CLIENT: &str = "bench-news-client";
/// The port in the other network namespace, where no other server runs.
const REMOTE_PORT: u16 = 1119;

/// A running server.
pub(super) struct News {
    process: Child,
    pub(super) authority: String,
}

impl News {
    /// Starts the server on this machine.
    pub(super) fn local() -> Result<Self> {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        Self::start(command(&format!("127.0.0.1:{port}"))?, format!("127.0.0.1:{port}"))
    }

    /// Starts the server in the other network namespace.
    pub(super) fn remote() -> Result<Self> {
        let authority = format!("{}:{REMOTE_PORT}", delayed_network::REMOTE_ADDRESS);
        Self::start(delayed_network::in_remote_namespace(&command(&authority)?), authority)
    }

    fn start(mut command: Command, authority: String) -> Result<Self> {
        let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        if let Some(said) = process.stdout.take() {
            BufReader::new(said).read_line(&mut line)?;
        }
        if line.trim() == "ready" {
            return Ok(Self { process, authority });
        }
        process.wait()?;
        Err(Error::other("the news server of the bench does not start"))
    }
}

impl Drop for News {
    fn drop(&mut self) {
        let _ = self.process.kill().and_then(|()| self.process.wait());
    }
}

fn command(address: &str) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args([SERVER, address]);
    Ok(command)
}

/// Serves until the process is killed.
pub(crate) fn serve(address: &str) -> std::result::Result<(), String> {
    let listener = TcpListener::bind(address).map_err(|error| error.to_string())?;
    println!("ready");
    for stream in listener.incoming().map_while(Result::ok) {
        // An error of one connection does not stop the server.
        thread::spawn(move || converse(&stream));
    }
    Ok(())
}

fn converse(stream: &TcpStream) -> Result<()> {
    let mut commands = BufReader::new(stream);
    let mut replies = BufWriter::with_capacity(64 * 1024, stream);
    replies.write_all(b"200 ready\r\n")?;
    let mut line = String::new();
    loop {
        // Pipelined commands are answered with one write.
        if commands.buffer().is_empty() {
            replies.flush()?;
        }
        line.clear();
        if commands.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let mut words = line.split_whitespace();
        let number = match (words.next(), words.next()) {
            (Some("GROUP"), _) => {
                write!(replies, "211 {ARTICLES} 1 {ARTICLES} bench.group\r\n")?;
                continue;
            }
            (Some("ARTICLE"), Some(number)) => number.parse().ok().filter(|number| *number <= ARTICLES),
            _ => None,
        };
        match number {
            Some(number) => {
                write!(replies, "220 {number} <{number}@bench.invalid>\r\n")?;
                replies.write_all(&article(number))?;
                replies.write_all(b".\r\n")?;
            }
            None => replies.write_all(b"500 what?\r\n")?,
        }
    }
}

/// Returns a header, and lines of 64 bytes, one of them shorter.
fn article(number: u64) -> Vec<u8> {
    let mut article =
        format!("Message-ID: <{number}@bench.invalid>\r\nSubject: {number}\r\n\r\n").into_bytes();
    while article.len() < ARTICLE_BYTES as usize {
        let length = (ARTICLE_BYTES as usize - article.len()).min(64);
        article.extend(std::iter::repeat_n(b'x', length - 2));
        article.extend_from_slice(b"\r\n");
    }
    article
}

/// Fetches the articles of `url`, `nntp://host:port/group/first-last`, into a file, `ahead` articles at a time.
pub(crate) fn fetch(ahead: &str, url: &str, out: &str) -> std::result::Result<(), String> {
    let ahead: usize = ahead.parse().map_err(|_| format!("{ahead} is not a number"))?;
    let parts: Vec<&str> = url.trim_start_matches("nntp://").split('/').collect();
    let [authority, group, range] = parts[..] else { return Err(format!("{url} is not an article range")) };
    let ends =
        range.split_once('-').and_then(|(first, last)| Some((first.parse().ok()?, last.parse().ok()?)));
    let Some((first, last)) = ends else { return Err(format!("{range} is no range")) };
    fetch_range(authority, group, (first, last), ahead, Path::new(out)).map_err(|error| error.to_string())
}

fn fetch_range(
    authority: &str,
    group: &str,
    (first, last): (u64, u64),
    ahead: usize,
    out: &Path,
) -> Result<()> {
    let mut stream = TcpStream::connect(authority)?;
    stream.set_nodelay(true)?;
    let mut replies = BufReader::with_capacity(1 << 20, stream.try_clone()?);
    let mut file = BufWriter::with_capacity(1 << 20, File::create(out)?);
    let mut line = Vec::new();
    replies.read_until(b'\n', &mut line)?;
    write!(stream, "GROUP {group}\r\n")?;
    line.clear();
    replies.read_until(b'\n', &mut line)?;
    let (mut asked, mut came) = (first, first);
    while came <= last {
        if (asked - came) as usize <= ahead / 2 && asked <= last {
            let until = last.min(came + ahead as u64 - 1);
            let commands: String = (asked..=until).map(|number| format!("ARTICLE {number}\r\n")).collect();
            stream.write_all(commands.as_bytes())?;
            asked = until + 1;
        }
        copy_article(&mut replies, &mut file, &mut line)?;
        came += 1;
    }
    file.flush()
}

fn copy_article(
    replies: &mut BufReader<TcpStream>,
    file: &mut BufWriter<File>,
    line: &mut Vec<u8>,
) -> Result<()> {
    line.clear();
    replies.read_until(b'\n', line)?;
    if !line.starts_with(b"220") {
        return Err(Error::other(String::from_utf8_lossy(line).into_owned()));
    }
    loop {
        line.clear();
        if replies.read_until(b'\n', line)? == 0 {
            return Err(Error::other("the connection ended"));
        }
        match line.strip_prefix(b".") {
            Some(b"\r\n") => return Ok(()),
            Some(rest) => file.write_all(rest)?,
            None => file.write_all(line)?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn articles_have_their_size() {
        for number in [1, 999, 2000] {
            let article = article(number);
            assert_eq!(article.len() as u64, ARTICLE_BYTES);
            assert!(article.ends_with(b"\r\n"));
        }
    }
}
