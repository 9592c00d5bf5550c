//! The compared tools: fetch-url and the installed peers.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::news;
use super::workload::{Source, Task, Workload};
use crate::program;

/// A program and its arguments.
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) version: String,
    program: PathBuf,
    arguments: Arguments,
    /// Its argument before the path of a certification authority, and its argument that requests content codings.
    ca_option: &'static str,
    compressed_option: &'static str,
    speaks: &'static [Source],
    mirrors: &'static [Source],
}

/// The name of this build in the report.
pub(super) const OURS: &str = "fetch-url";

const EVERYTHING: &[Source] = &[
    Source::RemoteFtp,
    Source::RemoteHttp,
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
const FTP: &[Source] = &[Source::RemoteFtp, Source::RemoteHttp, Source::Ftp];
const TREES: &[Source] = &[Source::Ftp, Source::Http];
const WGET2S: &[Source] = &[Source::Gzip, Source::Http, Source::Http2, Source::Https];
const ARIAS: &[Source] = &[Source::RemoteFtp, Source::RemoteHttp, Source::Ftp, Source::Http, Source::Https];

type Words = &'static [&'static str];

/// The arguments of a tool for each task. A tool without arguments for a task is not measured in its rows.
///
/// `{out}` is the file, or the directory of many files; `{folder}` and `{name}` are its two parts, `{url}` is one URL,
/// `{urls}` many arguments, `{list}` a file with the URLs, `{base}` the directory of all the URLs, `{n}` the number of
/// simultaneous transfers.
#[derive(Clone, Copy)]
struct Arguments {
    /// One URL into one file without printing anything.
    one: Words,
    /// Many URLs into one directory.
    many: Words,
    /// One URL in segments.
    segments: Words,
    /// A tree into a directory.
    mirror: Words,
}

/// Its name, arguments, options for an authority and for content codings, supported sources of objects and of trees.
type Peer = (&'static str, Arguments, [&'static str; 2], &'static [Source], &'static [Source]);

const PEERS: [Peer; 5] = [
    (
        "curl",
        Arguments {
            one: &["-q", "-s", "-o", "{out}", "{url}"],
            many: &[
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
            segments: &[],
            mirror: &[],
        },
        ["--cacert", "--compressed"],
        CURLS,
        &[],
    ),
    (
        "wget",
        Arguments {
            one: &["--no-config", "-q", "-O", "{out}", "{url}"],
            many: &[],
            segments: &[],
            mirror: &[
                "--no-config",
                "-q",
                "-m",
                "-nH",
                "--cut-dirs=1",
                "-np",
                "-R",
                "index.html*",
                "-P",
                "{out}",
                "{url}",
            ],
        },
        ["--ca-certificate", "--compression=auto"],
        WGETS,
        TREES,
    ),
    (
        "wget2",
        Arguments {
            one: &["--no-config", "-q", "-O", "{out}", "{url}"],
            many: &["--no-config", "-q", "--max-threads={n}", "-P", "{out}", "-i", "{list}"],
            segments: &[],
            mirror: &[
                "--no-config",
                "-q",
                "-m",
                "-nH",
                "--cut-dirs=1",
                "-np",
                "-R",
                "index.html*",
                "--max-threads={n}",
                "-P",
                "{out}",
                "{url}",
            ],
        },
        ["--ca-certificate", "--compression=gzip"],
        WGET2S,
        &[Source::Http],
    ),
    (
        "aria2c",
        Arguments {
            one: &["--no-conf", "-q", "--file-allocation=none", "-d", "{folder}", "-o", "{name}", "{url}"],
            many: &["--no-conf", "-q", "--file-allocation=none", "-j", "{n}", "-d", "{out}", "-i", "{list}"],
            segments: &[
                "--no-conf",
                "-q",
                "--file-allocation=none",
                "-x{n}",
                "-s{n}",
                "-k1M",
                "-d",
                "{folder}",
                "-o",
                "{name}",
                "{url}",
            ],
            mirror: &[],
        },
        ["--ca-certificate", ""],
        ARIAS,
        &[],
    ),
    (
        "lftp",
        Arguments {
            one: &["--norc", "-c", "get {url} -o {out}"],
            many: &[
                "--norc",
                "-c",
                "open {base}; mirror --parallel={n} --no-perms -r -i ^[0-9]+-[0-9]+.bin$ . {out}",
            ],
            segments: &["--norc", "-c", "pget -n {n} {url} -o {out}"],
            mirror: &["--norc", "-c", "mirror --parallel={n} --no-perms {url} {out}"],
        },
        ["", ""],
        FTP,
        TREES,
    ),
];

const OWN_ARGUMENTS: Arguments = Arguments {
    one: &["-s", "-o", "{out}", "{url}"],
    many: &["-s", "-Z", "--parallel-max", "{n}", "--remote-name-all", "--output-dir", "{out}", "{urls}"],
    segments: &["-s", "--segments", "{n}", "-o", "{out}", "{url}"],
    mirror: &["mirror", "-s", "--parallel-max", "{n}", "{url}", "{out}"],
};

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

fn installed(
    (name, arguments, [ca_option, compressed_option], speaks, mirrors): Peer,
    version: String,
) -> Tool {
    Tool { name, version, program: name.into(), arguments, ca_option, compressed_option, speaks, mirrors }
}

fn fetch_url(name: &'static str, program: &Path) -> Tool {
    Tool {
        name,
        version: program::version(&program.to_string_lossy(), "--version").unwrap_or_default(),
        program: program.to_owned(),
        arguments: OWN_ARGUMENTS,
        ca_option: "--cacert",
        compressed_option: "--compressed",
        speaks: EVERYTHING,
        mirrors: TREES,
    }
}

/// No common tool fetches many articles, so the peers for news are two minimal clients of the bench.
fn raw_news() -> impl Iterator<Item = Tool> {
    const SCRIPTS: [(&str, Words); 2] = [
        ("a pipelining script", &[news::CLIENT, "128", "{url}", "{out}"]),
        ("one at a time", &[news::CLIENT, "1", "{url}", "{out}"]),
    ];
    let program = std::env::current_exe().ok();
    SCRIPTS.into_iter().filter_map(move |(name, one)| {
        let program = program.clone()?;
        let arguments = Arguments { one, many: &[], segments: &[], mirror: &[] };
        let peer = (name, arguments, ["", ""], NEWS, &[][..]);
        Some(Tool { program, ..installed(peer, String::new()) })
    })
}

impl Tool {
    /// Returns `true` if the tool supports the row.
    pub(super) fn can(&self, row: &Workload) -> bool {
        let sources = if row.task.is_mirror() { self.mirrors } else { self.speaks };
        sources.contains(&row.source) && !self.arguments_for(row).is_empty()
    }

    const fn arguments_for(&self, row: &Workload) -> Words {
        match row.task {
            Task::Fetch if row.count == 1 => self.arguments.one,
            Task::Fetch => self.arguments.many,
            Task::Segments => self.arguments.segments,
            Task::Mirror | Task::MirrorAgain => self.arguments.mirror,
        }
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
        for &argument in self.arguments.many {
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

    /// Returns the command that fetches or copies `url` into `out`.
    pub(super) fn command(&self, row: &Workload, url: &str, out: &Path) -> Command {
        let part = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
        let (folder, name) = (part(out.parent().map(Path::as_os_str)), part(out.file_name()));
        let mut command = Command::new(&self.program);
        for argument in self.arguments_for(row) {
            let argument = argument
                .replace("{n}", &row.at_once.to_string())
                .replace("{url}", url)
                .replace("{out}", &out.to_string_lossy());
            command.arg(argument.replace("{folder}", &folder).replace("{name}", &name));
        }
        command
    }
}

#[cfg(test)]
mod tests {
    use super::super::workload::WORKLOADS;
    use super::*;

    #[test]
    fn commands_are_filled() {
        let tool = installed(PEERS[3], String::new());
        let urls = ["http://h/1".to_owned(), "http://h/2".to_owned()];
        let listed = tool.command_for_many(&urls, 16, Path::new("/x/list"), Path::new("/x/out"));
        assert_eq!(listed.get_args().last(), Some("/x/list".as_ref()));
        let http = WORKLOADS.iter().find(|row| row.name == "http-1g").unwrap();
        let command = tool.command(http, "http://h/", Path::new("/dev/shm/x/out"));
        let words: Vec<_> = command.get_args().skip(3).collect();
        assert_eq!(words, ["-d", "/dev/shm/x", "-o", "out", "http://h/"]);
        assert!(!tool.speaks.contains(&Source::File));
        let mut command = Command::new("aria2c");
        tool.add_options(&mut command, Source::Https, Path::new("/x/ca.pem"));
        tool.add_options(&mut command, Source::Http, Path::new("/x/ca.pem"));
        assert_eq!(command.get_args().collect::<Vec<_>>(), ["--ca-certificate", "/x/ca.pem"]);
    }
}
