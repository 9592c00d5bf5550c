//! The compared tools: fetch-url and the installed peers.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::news;
use super::workload::{Source, Workload};
use crate::program;

/// A program, and its arguments for fetching one URL into one file without printing anything.
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) version: String,
    program: PathBuf,
    arguments: &'static [&'static str],
    /// Its arguments for fetching many URLs, 16 at the same time, into one directory.
    many: &'static [&'static str],
    /// Its argument before the path of a certification authority, and its argument that requests content codings.
    ca_option: &'static str,
    compressed_option: &'static str,
    speaks: &'static [Source],
}

/// The name of this build in the report.
pub(super) const OURS: &str = "fetch-url";

const EVERYTHING: &[Source] = &[
    Source::RemoteFtp,
    Source::RemoteNews,
    Source::File,
    Source::Ftp,
    Source::Ftps,
    Source::Gopher,
    Source::Gzip,
    Source::Http,
    Source::Http2,
    Source::Https,
    Source::News,
];
const CURLS: &[Source] = &[
    Source::RemoteFtp,
    Source::File,
    Source::Ftp,
    Source::Ftps,
    Source::Gopher,
    Source::Gzip,
    Source::Http,
    Source::Http2,
    Source::Https,
];
const WGETS: &[Source] =
    &[Source::RemoteFtp, Source::Ftp, Source::Ftps, Source::Gzip, Source::Http, Source::Https];
const NEWS: &[Source] = &[Source::RemoteNews, Source::News];
const FTP: &[Source] = &[Source::RemoteFtp, Source::Ftp];
const WGET2S: &[Source] = &[Source::Gzip, Source::Http, Source::Http2, Source::Https];
const ARIAS: &[Source] = &[Source::RemoteFtp, Source::Ftp, Source::Http, Source::Https];

type Words = &'static [&'static str];
type Peer = (&'static str, Words, Words, [&'static str; 2], &'static [Source]);

/// Name, arguments for one URL and for many, options for an authority and for content codings, supported sources. `{out}` is the file, or the directory of many files;
/// `{folder}` and `{name}` are its two parts, `{urls}` is many arguments, `{list}` a file with the URLs, `{base}` the
/// directory of all the URLs, `{n}` the number of simultaneous transfers.
const PEERS: [Peer; 5] = [
    (
        "curl",
        &["-q", "-s", "-o", "{out}", "{url}"],
        &[
            "-q",
            "-s",
            "--no-progress-meter",
            "-Z",
            "--parallel-max",
            "{n}",
            "--remote-name-all",
            "--output-dir",
            "{out}",
            "{urls}",
        ],
        ["--cacert", "--compressed"],
        CURLS,
    ),
    (
        "wget",
        &["--no-config", "-q", "-O", "{out}", "{url}"],
        &[],
        ["--ca-certificate", "--compression=auto"],
        WGETS,
    ),
    (
        "wget2",
        &["--no-config", "-q", "-O", "{out}", "{url}"],
        &["--no-config", "-q", "--max-threads={n}", "-P", "{out}", "-i", "{list}"],
        ["--ca-certificate", "--compression=gzip"],
        WGET2S,
    ),
    (
        "aria2c",
        &["--no-conf", "-q", "--file-allocation=none", "-d", "{folder}", "-o", "{name}", "{url}"],
        &["--no-conf", "-q", "--file-allocation=none", "-j", "{n}", "-d", "{out}", "-i", "{list}"],
        ["--ca-certificate", ""],
        ARIAS,
    ),
    (
        "lftp",
        &["--norc", "-c", "get {url} -o {out}"],
        &["--norc", "-c", "open {base}; mirror --parallel={n} --no-perms -r -i ^[0-9]+-[0-9]+.bin$ . {out}"],
        ["", ""],
        FTP,
    ),
];

/// The arguments of fetch-url for many URLs.
const MANY: &[&str] =
    &["-s", "-Z", "--parallel-max", "{n}", "--remote-name-all", "--output-dir", "{out}", "{urls}"];

/// Returns this build, the build to compare it with, if there is one, and every installed peer.
pub(super) fn all(ours: &Path, other_build: Option<&Path>) -> Vec<Tool> {
    let mut tools = vec![fetch_url(OURS, ours)];
    tools.extend(other_build.map(|program| fetch_url("the other build", program)));
    for peer in PEERS {
        if let Some(version) = program::version(peer.0, "--version") {
            tools.push(installed(peer, version));
        }
    }
    tools.extend(raw_news());
    tools
}

fn installed((name, arguments, many, [ca_option, compressed_option], speaks): Peer, version: String) -> Tool {
    Tool { name, version, program: name.into(), arguments, many, ca_option, compressed_option, speaks }
}

fn fetch_url(name: &'static str, program: &Path) -> Tool {
    Tool {
        name,
        version: program::version(&program.to_string_lossy(), "--version").unwrap_or_default(),
        program: program.to_owned(),
        arguments: &["-s", "-o", "{out}", "{url}"],
        many: MANY,
        ca_option: "--cacert",
        compressed_option: "--compressed",
        speaks: EVERYTHING,
    }
}

/// No common tool fetches many articles, so the peers for news are two minimal clients of the bench.
fn raw_news() -> impl Iterator<Item = Tool> {
    const SCRIPTS: [(&str, Words); 2] = [
        ("a pipelining script", &[news::CLIENT, "128", "{url}", "{out}"]),
        ("one at a time", &[news::CLIENT, "1", "{url}", "{out}"]),
    ];
    let program = std::env::current_exe().ok();
    SCRIPTS.into_iter().filter_map(move |(name, arguments)| {
        let program = program.clone()?;
        let peer = (name, arguments, &[][..], ["", ""], NEWS);
        Some(Tool { program, ..installed(peer, String::new()) })
    })
}

impl Tool {
    /// Returns `true` if the tool supports the row.
    pub(super) fn can(&self, row: &Workload) -> bool {
        self.speaks.contains(&row.source) && (row.count == 1 || !self.many.is_empty())
    }

    /// Returns the command that fetches `urls`, `at_once` at the same time, into the directory `out`; `list` is a file with
    /// the URLs, one per line.
    pub(super) fn command_for_many(
        &self,
        urls: &[String],
        at_once: usize,
        list: &Path,
        out: &Path,
    ) -> Command {
        let mut command = Command::new(&self.program);
        let base = urls.first().and_then(|url| url.rsplit_once('/')).map_or("", |(base, _)| base);
        for &argument in self.many {
            if argument == "{urls}" {
                command.args(urls);
                continue;
            }
            let argument = argument.replace("{out}", &out.to_string_lossy()).replace("{base}", base);
            let argument = argument.replace("{n}", &at_once.to_string());
            command.arg(argument.replace("{list}", &list.to_string_lossy()));
        }
        command
    }

    /// Adds the options that the source needs; `ca` is the certification authority of the servers. Options may follow
    /// the URLs in all tools.
    pub(super) fn add_options(&self, command: &mut Command, source: Source, ca: &Path) {
        if source.is_tls() {
            command.arg(self.ca_option).arg(ca);
        }
        if source == Source::Gzip {
            command.arg(self.compressed_option);
        }
    }

    /// Returns the command that fetches `url` into `out`.
    pub(super) fn command(&self, url: &str, out: &Path) -> Command {
        let part = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
        let (folder, name) = (part(out.parent().map(Path::as_os_str)), part(out.file_name()));
        let mut command = Command::new(&self.program);
        for argument in self.arguments {
            let argument = argument.replace("{url}", url).replace("{out}", &out.to_string_lossy());
            command.arg(argument.replace("{folder}", &folder).replace("{name}", &name));
        }
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_filled() {
        let tool = installed(PEERS[3], String::new());
        let urls = ["http://h/1".to_owned(), "http://h/2".to_owned()];
        let listed = tool.command_for_many(&urls, 16, Path::new("/x/list"), Path::new("/x/out"));
        assert_eq!(listed.get_args().last(), Some("/x/list".as_ref()));
        let command = tool.command("http://h/", Path::new("/dev/shm/x/out"));
        let words: Vec<_> = command.get_args().skip(3).collect();
        assert_eq!(words, ["-d", "/dev/shm/x", "-o", "out", "http://h/"]);
        assert!(!tool.speaks.contains(&Source::File));
        let mut command = Command::new("aria2c");
        tool.add_options(&mut command, Source::Https, Path::new("/x/ca.pem"));
        tool.add_options(&mut command, Source::Http, Path::new("/x/ca.pem"));
        assert_eq!(command.get_args().collect::<Vec<_>>(), ["--ca-certificate", "/x/ca.pem"]);
    }
}
