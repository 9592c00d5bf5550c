//! Defaults files, in curl's syntax: an option a line, which becomes an argument in front of those that were typed.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use clap::CommandFactory as _;
use fetch_url::Error;
use fetch_url::url::mask_password;

use crate::flags::Flags;
use crate::job::{environment, is_of_one_file, usage};

/// The largest file.
const SIZE: u64 = 1024 * 1024;

/// One option of a file.
struct Line {
    number: usize,
    arguments: Vec<OsString>,
}

/// What the defaults are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum For {
    Fetch,
    Mirror,
}

/// The arguments of the person's own defaults, where there are any: those that make sense for what is done.
pub(crate) fn own(what: For) -> Result<Vec<OsString>, Error> {
    let Some(path) = environment::config() else { return Ok(Vec::new()) };
    match fs::File::open(&path) {
        Ok(file) => {
            let mut lines = lines(file, &path)?;
            lines.retain(|line| makes_sense(&line.arguments, what));
            Ok(arguments(lines))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(unreadable(&path, &error)),
    }
}

/// The arguments of the files that `-K` names; `-` is standard input.
pub(crate) fn named(paths: &[PathBuf]) -> Result<Vec<OsString>, Error> {
    let mut all = Vec::new();
    for path in paths {
        all.extend(match path.to_str() {
            Some("-") => arguments(lines(io::stdin().lock(), Path::new("standard input"))?),
            _ => arguments(lines(fs::File::open(path).map_err(|error| unreadable(path, &error))?, path)?),
        });
    }
    Ok(all)
}

fn unreadable(path: &Path, error: &io::Error) -> Error {
    usage(format!("{}: {error}", path.display()))
}

fn arguments(lines: Vec<Line>) -> Vec<OsString> {
    lines.into_iter().flat_map(|line| line.arguments).collect()
}

/// Defaults are for everything that a person does: each is used where it has a meaning.
fn makes_sense(line: &[OsString], what: For) -> bool {
    let Some(option) = line.first().and_then(|first| first.to_str()) else { return true };
    match what {
        For::Fetch => parse(For::Fetch, line).is_ok() || parse(For::Mirror, line).is_err(),
        For::Mirror => !is_of_one_file(option.split('=').next().unwrap_or(option)),
    }
}

fn lines(file: impl io::Read, path: &Path) -> Result<Vec<Line>, Error> {
    let mut text = String::new();
    file.take(SIZE + 1).read_to_string(&mut text).map_err(|error| unreadable(path, &error))?;
    if text.len() as u64 > SIZE {
        return Err(usage(format!("{}: larger than {SIZE} octets", path.display())));
    }
    let wrong = |number: usize, detail: &str| usage(format!("{}:{number}: {detail}", path.display()));
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        let arguments = read(line).map_err(|detail| wrong(number, detail))?;
        lines.push(Line { number, arguments });
    }
    let all: Vec<_> = lines.iter().flat_map(|line| line.arguments.iter().cloned()).collect();
    // Which line it is that nobody understands is asked only when there is one.
    if parse(For::Fetch, &all).is_err() {
        for line in &lines {
            let parsed = parse(For::Fetch, &line.arguments);
            let parsed = parsed.or_else(|error| parse(For::Mirror, &line.arguments).map_err(|_| error));
            parsed.map_err(|error| wrong(line.number, &first_line(&error)))?;
        }
    }
    Ok(lines)
}

fn parse(what: For, arguments: &[OsString]) -> Result<clap::ArgMatches, clap::Error> {
    let words: &[&str] = if what == For::Fetch { &["fetch-url"] } else { &["fetch-url", "mirror"] };
    let words = words.iter().map(OsString::from);
    Flags::command().try_get_matches_from(words.chain(arguments.iter().cloned()))
}

fn first_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    mask_password(text.lines().next().unwrap_or_default().trim_start_matches("error: "))
}

/// The arguments that a line stands for: `option = value`, `--option value`, `-o value`, `option`, or a comment.
fn read(line: &str) -> Result<Vec<OsString>, &'static str> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(Vec::new());
    }
    let end = line.find(|character: char| character.is_whitespace() || "=:".contains(character));
    let (name, rest) = line.split_at(end.unwrap_or(line.len()));
    let rest = rest.trim_start();
    let value = value(rest.strip_prefix(['=', ':']).unwrap_or(rest).trim_start())?;
    Ok(match (name, value) {
        ("config" | "--config" | "-K", _) => return Err("a defaults file names no other"),
        ("url" | "--url", Some(url)) => vec![url.into()],
        // The environment is asked before a defaults file is (SEMANTICS.md, section 6).
        ("news-server" | "--news-server", Some(server)) => {
            vec![format!("--default-news-server={server}").into()]
        }
        (short, Some(value)) if short.starts_with('-') && !short.starts_with("--") => {
            vec![short.into(), value.into()]
        }
        (name, None) if name.starts_with('-') => vec![name.into()],
        (name, Some(value)) => vec![format!("--{}={value}", name.trim_start_matches('-')).into()],
        (name, None) => vec![format!("--{name}").into()],
    })
}

/// A value: between quotes, with escapes, or up to the first blank.
fn value(text: &str) -> Result<Option<String>, &'static str> {
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let is_over = rest.trim_start().is_empty() || rest.trim_start().starts_with('#');
        let value = (!value.is_empty()).then(|| value.to_owned());
        return if is_over { Ok(value) } else { Err("a value with blanks in it stands between quotes") };
    };
    let mut value = String::new();
    let mut characters = quoted.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => return Ok(Some(value)),
            '\\' => value.push(match characters.next() {
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('v') => '\u{b}',
                Some(other) => other,
                None => break,
            }),
            other => value.push(other),
        }
    }
    Err("a quote that is not closed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_an_argument() {
        for (line, arguments) in [
            ("", &[][..]),
            ("  # a comment", &[]),
            ("silent", &["--silent"]),
            ("-s", &["-s"]),
            ("--fail-early", &["--fail-early"]),
            ("max-time = 10", &["--max-time=10"]),
            ("max-time: 10 # seconds", &["--max-time=10"]),
            ("--max-time 10", &["--max-time=10"]),
            ("-m 10", &["-m", "10"]),
            ("-m=10", &["-m", "10"]),
            ("header = \"X-Own: a \\\"b\\\" \\\\ \\t\"", &["--header=X-Own: a \"b\" \\ \t"]),
            ("data = -x", &["--data=-x"]),
            ("url = \"ftp://h/a b\"", &["ftp://h/a b"]),
            ("news-server=n:1190", &["--default-news-server=n:1190"]),
        ] {
            assert_eq!(read(line).expect("a line"), arguments, "{line}");
        }
        for line in ["header = X-Own: a", "data = \"x", "data = \"x\\", "config = other"] {
            assert!(read(line).is_err(), "{line}");
        }
    }
}
