//! The tools that are compared: ours, and those that are installed.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::workload::Source;
use crate::program;

/// A program and how it is told to fetch one URL into one file, in silence.
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) version: String,
    program: PathBuf,
    arguments: &'static [&'static str],
    speaks: &'static [Source],
}

/// Ours.
pub(super) const OURS: &str = "fetch-url";

const EVERYTHING: &[Source] = &[Source::File, Source::Http];
const HTTP: &[Source] = &[Source::Http];

/// Name, arguments, what it speaks. `{out}` is the file, `{folder}` and `{name}` its two parts.
const PEERS: [(&str, &[&str], &[Source]); 4] = [
    ("curl", &["-q", "-s", "-o", "{out}", "{url}"], EVERYTHING),
    ("wget", &["--no-config", "-q", "-O", "{out}", "{url}"], HTTP),
    ("wget2", &["--no-config", "-q", "-O", "{out}", "{url}"], HTTP),
    (
        "aria2c",
        &["--no-conf", "-q", "--file-allocation=none", "-d", "{folder}", "-o", "{name}", "{url}"],
        HTTP,
    ),
];

/// Ours first, then every peer that is installed.
pub(super) fn all(ours: &Path) -> Vec<Tool> {
    let mut tools = vec![Tool {
        name: OURS,
        version: program::version(&ours.to_string_lossy(), "--version").unwrap_or_default(),
        program: ours.to_owned(),
        arguments: &["-s", "-o", "{out}", "{url}"],
        speaks: EVERYTHING,
    }];
    for (name, arguments, speaks) in PEERS {
        if let Some(version) = program::version(name, "--version") {
            tools.push(Tool { name, version, program: name.into(), arguments, speaks });
        }
    }
    tools
}

impl Tool {
    pub(super) fn speaks(&self, source: Source) -> bool {
        self.speaks.contains(&source)
    }

    /// The command that fetches `url` into `out`.
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
        let (name, arguments, speaks) = PEERS[3];
        let tool = Tool { name, version: String::new(), program: name.into(), arguments, speaks };
        let command = tool.command("http://h/", Path::new("/dev/shm/x/out"));
        let words: Vec<_> = command.get_args().skip(3).collect();
        assert_eq!(words, ["-d", "/dev/shm/x", "-o", "out", "http://h/"]);
        assert!(!tool.speaks(Source::File));
    }
}
