//! The first words of a control connection, in the clear and before suppaftp has it: a greeting that
//! is put off, and AUTH TLS (RFC 4217 §4).

use fetch_url_proto::Inbox;
use fetch_url_proto::text::{Reply, ReplyReader};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::control::{closed, lost};
use super::fault;
use crate::engine::dialogue;
use crate::{Code, Error, Phase};

/// How often a server may put its greeting off.
const MOST_DELAYS: u32 = 8;
/// Read at once.
const PIECE: usize = 4096;

/// Waits until a server greets, and takes what suppaftp would not take for a greeting: replies that put it
/// off (120, RFC 959 §4.2.2), and lines inside of one that look like its end.
pub(super) async fn until_ready(stream: &mut TcpStream) -> Result<(), Error> {
    let mut piece = [0; PIECE];
    for _ in 0..MOST_DELAYS {
        let count = stream.peek(&mut piece).await.map_err(lost)?;
        match &piece[..count] {
            [b'1', ..] => delayed(stream).await?,
            [_, _, _, mark, ..] if !matches!(mark, b' ' | b'-' | b'\r' | b'\n') => {
                return Err(Error::new(Code::PeerMisbehaved, Phase::Reply, "what came is no FTP reply"));
            }
            seen => {
                let inner = deceptive_lines(seen);
                if inner > 0 {
                    stream.read_exact(&mut piece[..inner]).await.map_err(lost)?;
                    piece[..inner].split(|&octet| octet == b'\n').for_each(dialogue::heard);
                }
                return Ok(());
            }
        }
    }
    Err(Error::new(Code::LimitReached, Phase::Reply, "a greeting that is put off again and again"))
}

/// How many octets stand before the last line of a greeting, when one of the lines there looks like the
/// last; none when it is not all here.
fn deceptive_lines(seen: &[u8]) -> usize {
    let mut inbox = Inbox::new();
    inbox.push(seen);
    if !matches!(ReplyReader::new().read(&mut inbox), Ok(Some(_))) {
        return 0;
    }
    let reply = &seen[..seen.len() - inbox.octets().len()];
    let Some(last) = memchr::memrchr(b'\n', &reply[..reply.len() - 1]) else { return 0 };
    let looks_last = |line: &[u8]| matches!(line, [b'0'..=b'9', b'0'..=b'9', b'0'..=b'9', b' ', ..]);
    let is_deceptive = reply[..last].split(|&octet| octet == b'\n').any(looks_last);
    if is_deceptive { last + 1 } else { 0 }
}

/// Takes one reply and not an octet more.
async fn delayed(stream: &mut TcpStream) -> Result<(), Error> {
    let (mut reader, mut inbox) = (ReplyReader::new(), Inbox::new());
    loop {
        inbox.push(&[stream.read_u8().await.map_err(lost)?]);
        if let Some(reply) = reader.read(&mut inbox)? {
            tell(&reply);
            return Ok(());
        }
    }
}

/// Hears the greeting and asks for TLS. The greeting, for whoever takes the connection on.
pub(super) async fn auth_tls(stream: &mut TcpStream) -> Result<Reply, Error> {
    until_ready(stream).await?;
    let mut inbox = Inbox::new();
    let greeting = hear(stream, &mut inbox).await?;
    if greeting.code != 220 {
        return Err(fault::of_greeting(greeting));
    }
    dialogue::said(&"AUTH TLS");
    stream.write_all(b"AUTH TLS\r\n").await.map_err(lost)?;
    let reply = hear(stream, &mut inbox).await?;
    if reply.code != 234 {
        return Err(no_tls(&reply));
    }
    // Whoever is on the way could put replies there, to be taken for the server's own.
    if !inbox.octets().is_empty() {
        let detail = "octets in the clear behind the reply to AUTH";
        return Err(Error::new(Code::TlsFailed, Phase::Tls, detail));
    }
    Ok(greeting)
}

/// Whether a server has said that it knows no TLS, or will have none: not that it is busy.
pub(super) fn is_without_tls(error: &Error) -> bool {
    error.code() == Code::TlsFailed && error.reply().is_some() && !error.is_temporary()
}

fn no_tls(reply: &Reply) -> Error {
    let code = if reply.code == 421 { Code::Busy } else { Code::TlsFailed };
    let error = Error::new(code, Phase::Tls, "the server refuses TLS").with_reply(&fault::words(reply));
    if (400..500).contains(&reply.code) { error.passing() } else { error }
}

async fn hear(stream: &mut TcpStream, inbox: &mut Inbox) -> Result<Reply, Error> {
    let mut reader = ReplyReader::new();
    let mut piece = [0; PIECE];
    loop {
        if let Some(reply) = reader.read(inbox)? {
            tell(&reply);
            return Ok(reply);
        }
        match stream.read(&mut piece).await.map_err(lost)? {
            0 => return Err(closed()),
            count => inbox.push(&piece[..count]),
        }
    }
}

fn tell(reply: &Reply) {
    dialogue::heard(&fault::words(reply));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_look_like_the_last() {
        for (greeting, inner) in [
            ("220 hello\r\n", 0),
            ("220-hello\r\n220 now\r\n", 0),
            ("220-hello\r\n331 not yet\r\n220 now\r\n", 24),
            ("220-hello\r\n331 not yet\r\n220 now\r\n331 who\r\n", 24),
            ("220-hello\r\n331 not yet\r\n220", 0),
            ("220-hello\r\n331 not yet\r\n", 0),
            ("", 0),
            ("\n", 0),
        ] {
            assert_eq!(deceptive_lines(greeting.as_bytes()), inner, "{greeting:?}");
        }
    }
}
