//! Configuration files in curl's syntax: one option per line, inserted before the arguments of the command line.

mod secret_option;
mod short_options;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use fetch_url::Error;
use fetch_url::url::mask_password;
use secret_option::contains_secret;
use short_options::ShortOptions;

use crate::error::usage_error;
use crate::flags;
use crate::job::{environment, is_open_to_others, is_single_object_option};
use crate::stdin::stdin_for;

/// Maximum size of a configuration file in bytes.
const MAX_SIZE: u64 = 1024 * 1024;

const MISSING_NAME: &str = "the name of the option is missing";
const NESTED_FILE: &str = "-K is not allowed in a configuration file";

/// One option of a configuration file.
struct Line {
    number: usize,
    arguments: Vec<OsString>,
}

/// The command that the options are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConfigTarget {
    Fetch,
    Mirror,
}

/// Returns the arguments of `~/.config/fetch-url/config` that apply to the command. Returns no arguments if the user has no
/// such file.
pub(crate) fn user_config_arguments(what: ConfigTarget) -> Result<Vec<OsString>, Error> {
    let Some(path) = environment::config() else { return Ok(Vec::new()) };
    match fs::File::open(&path) {
        Ok(file) => {
            let mut lines = read_file(file, &path)?;
            lines.retain(|line| is_applicable(&line.arguments, what));
            Ok(arguments(lines))
        }
        Err(error) if is_missing(&path, &error) => Ok(Vec::new()),
        Err(error) => Err(read_error(&path, &error)),
    }
}

/// Returns `true` if opening the file failed because there is none, or because it is in a directory that the user cannot
/// search: services often have `HOME=/dev/null` or the home directory of another user.
fn is_missing(path: &Path, error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
    let is_unreachable = || fs::metadata(path).is_err_and(|error| error.kind() == PermissionDenied);
    matches!(error.kind(), NotFound | NotADirectory) || error.kind() == PermissionDenied && is_unreachable()
}

/// Returns the arguments of the files named by `-K`; `-` is standard input.
pub(crate) fn named_config_arguments(paths: &[PathBuf]) -> Result<Vec<OsString>, Error> {
    let mut all = Vec::new();
    for path in paths {
        all.extend(match path.to_str() {
            Some("-") => arguments(read_lines(stdin_for("-K")?.lock(), Path::new("standard input"))?),
            _ => arguments(read_file(fs::File::open(path).map_err(|error| read_error(path, &error))?, path)?),
        });
    }
    Ok(all)
}

/// Returns the error for a file that cannot be read.
fn read_error(path: &Path, error: &io::Error) -> Error {
    usage_error(format!("{}: {error}", path.display()))
}

fn arguments(lines: Vec<Line>) -> Vec<OsString> {
    lines.into_iter().flat_map(|line| line.arguments).collect()
}

/// Returns `true` if an option applies to the command. Unknown options are kept, so that the parser reports them.
fn is_applicable(line: &[OsString], what: ConfigTarget) -> bool {
    let Some(option) = line.first().and_then(|first| first.to_str()) else { return true };
    match what {
        ConfigTarget::Fetch => {
            parse_arguments(ConfigTarget::Fetch, line).is_ok()
                || parse_arguments(ConfigTarget::Mirror, line).is_err()
        }
        ConfigTarget::Mirror => match ShortOptions::of(option) {
            Some(short) => {
                !short.letters.chars().any(|letter| is_single_object_option(&format!("-{letter}")))
            }
            None => !is_single_object_option(option.split('=').next().unwrap_or(option)),
        },
    }
}

/// Reads a configuration file. A file that contains a password must not be readable by other users.
fn read_file(file: fs::File, path: &Path) -> Result<Vec<Line>, Error> {
    let lines = read_lines(&file, path)?;
    let secret = lines.iter().find(|line| contains_secret(&line.arguments));
    if let Some(line) = secret
        && is_open_to_others(&file).map_err(|error| read_error(path, &error))?
    {
        let path = path.display();
        let detail =
            format!("{path}:{}: other users can read this password; run chmod 600 {path}", line.number);
        return Err(usage_error(detail));
    }
    Ok(lines)
}

/// Reads and checks the lines of a file. An error names the file and the line.
fn read_lines(file: impl io::Read, path: &Path) -> Result<Vec<Line>, Error> {
    let mut text = String::new();
    file.take(MAX_SIZE + 1).read_to_string(&mut text).map_err(|error| read_error(path, &error))?;
    if text.len() as u64 > MAX_SIZE {
        return Err(usage_error(format!("{}: larger than {MAX_SIZE} bytes", path.display())));
    }
    let line_error =
        |number: usize, detail: &str| usage_error(format!("{}:{number}: {detail}", path.display()));
    let mut lines = Vec::new();
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        let arguments = parse_line(line).map_err(|detail| line_error(number, detail))?;
        lines.push(Line { number, arguments });
    }
    let all: Vec<_> = lines.iter().flat_map(|line| line.arguments.iter().cloned()).collect();
    // The lines are parsed one by one only to find the line with the error.
    if parse_arguments(ConfigTarget::Fetch, &all).is_err() || lacks_value(&lines) {
        for line in &lines {
            let parsed = parse_arguments(ConfigTarget::Fetch, &line.arguments);
            let parsed = parsed
                .or_else(|error| parse_arguments(ConfigTarget::Mirror, &line.arguments).map_err(|_| error));
            match parsed {
                // The option that this line requires may be on another line or on the command line.
                Err(error) if error.kind() == ErrorKind::MissingRequiredArgument => {}
                parsed => drop(parsed.map_err(|error| line_error(line.number, &first_line(&error)))?),
            }
        }
    }
    Ok(lines)
}

/// Returns `true` if an option lacks its value. It would take the next line, such as a URL, as its value.
fn lacks_value(lines: &[Line]) -> bool {
    let lone = lines.iter().filter_map(|line| match &line.arguments[..] {
        [option] if option.as_encoded_bytes().starts_with(b"-") => Some(option),
        _ => None,
    });
    // Each option is parsed once, however often it occurs.
    let is_error = |option: &OsString| {
        let parsed = parse_arguments(ConfigTarget::Fetch, std::slice::from_ref(option));
        parsed.is_err_and(|error| error.kind() == ErrorKind::InvalidValue)
    };
    lone.collect::<BTreeSet<_>>().into_iter().any(is_error)
}

/// Parses arguments with clap, for the command.
fn parse_arguments(what: ConfigTarget, arguments: &[OsString]) -> Result<clap::ArgMatches, clap::Error> {
    let words: &[&str] = if what == ConfigTarget::Fetch { &["fetch-url"] } else { &["fetch-url", "mirror"] };
    let words = words.iter().map(OsString::from);
    flags::command().try_get_matches_from(words.chain(arguments.iter().cloned()))
}

/// Returns the first line of the message of clap, with passwords masked.
fn first_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    mask_password(text.lines().next().unwrap_or_default().trim_start_matches("error: "))
}

/// Returns `true` for the white space of curl's configuration files. Other white space is part of a value.
const fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t'..='\r')
}

/// Parses a line: `option = value`, `--option value`, `-o value`, `-ovalue`, `option`, or a comment. Returns its
/// arguments.
fn parse_line(line: &str) -> Result<Vec<OsString>, &'static str> {
    let line = line.trim_matches(is_space);
    if line.is_empty() || line.starts_with('#') {
        return Ok(Vec::new());
    }
    let (word, rest) = line.split_at(line.find(is_space).unwrap_or(line.len()));
    if let Some(options) = ShortOptions::of(word) {
        return short_arguments(
            word,
            &options,
            parse_value(without_separator(rest.trim_start_matches(is_space)))?,
        );
    }
    let end = line.find(|character: char| is_space(character) || "=:".contains(character));
    let (name, rest) = line.split_at(end.unwrap_or(line.len()));
    let is_separator = |letter: char| is_space(letter) || "=:".contains(letter);
    let rest = match name.starts_with('-') {
        // As in curl, all separators are skipped.
        false => rest.trim_start_matches(is_separator),
        true if rest.starts_with(is_space) => without_separator(rest.trim_start_matches(is_space)),
        true => rest.strip_prefix(['=', ':']).unwrap_or(rest).trim_start_matches(is_space),
    };
    let value = parse_value(rest)?;
    Ok(match (name, value) {
        // clap treats `-` as a URL, and also every argument after `--`, such as the options of the command line.
        ("" | "--", _) => return Err(MISSING_NAME),
        ("config" | "--config", _) => return Err(NESTED_FILE),
        ("url" | "--url", Some(url)) if url.starts_with('-') => {
            return Err("a URL does not begin with a dash");
        }
        ("url" | "--url", Some(url)) => vec![url.into()],
        // The environment has priority over a configuration file (docs/spec/semantics.md §6).
        ("news-server" | "--news-server", Some(server)) => {
            vec![format!("--default-news-server={server}").into()]
        }
        (name, None) if name.starts_with('-') => vec![name.into()],
        (name, Some(value)) => vec![format!("--{}={value}", name.trim_start_matches('-')).into()],
        (name, None) => vec![format!("--{name}").into()],
    })
}

/// Removes `=` or `:` and spaces before the value of an option with dashes. Without spaces, it is part of the value, as in
/// `-d =x`.
fn without_separator(text: &str) -> &str {
    let value = text.strip_prefix(['=', ':']).filter(|value| value.starts_with(is_space));
    value.map_or(text, |value| value.trim_start_matches(is_space))
}

/// Returns the arguments of a line that begins with short options. `value` follows their word.
fn short_arguments(
    word: &str,
    options: &ShortOptions<'_>,
    value: Option<String>,
) -> Result<Vec<OsString>, &'static str> {
    match value {
        // clap treats `-` as a URL.
        _ if options.letters.is_empty() || options.letters.starts_with(['=', ':']) => Err(MISSING_NAME),
        _ if options.letters.contains('K') => Err(NESTED_FILE),
        // clap would treat the value as a URL, or every argument after `--`.
        Some(_) if !options.has_value || options.value.is_some() => Err("unexpected value"),
        Some(value) if value == "--" => Err("the value is missing"),
        Some(value) => Ok(vec![word.into(), value.into()]),
        None => Ok(vec![word.into()]),
    }
}

/// Parses a value: in quotes with escapes, or up to the first space.
fn parse_value(text: &str) -> Result<Option<String>, &'static str> {
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, rest) = text.split_once(is_space).unwrap_or((text, ""));
        let is_over = rest.trim_start_matches(is_space).is_empty()
            || rest.trim_start_matches(is_space).starts_with('#');
        let value = (!value.is_empty()).then(|| value.to_owned());
        return if is_over { Ok(value) } else { Err("a value with spaces must be quoted") };
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
    Err("the closing quote is missing")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn option_without_its_value_does_not_take_the_next_line() {
        let read = |text: &str| read_lines(text.as_bytes(), Path::new("f")).map(|lines| lines.len());
        let error = read("silent\noutput\nurl = http://h/\n").expect_err("no value");
        assert!(error.to_string().contains("f:2: a value is required"), "{error}");
        assert_eq!(read("silent\nsilent\nurl = http://h/\n").ok(), Some(3));
        assert_eq!(read("data = -\nurl = http://h/\n").ok(), Some(2));
    }

    #[test]
    fn byte_order_mark_at_the_start_is_ignored() {
        let lines = read_lines("\u{feff}silent\n".as_bytes(), Path::new("f")).expect("lines");
        assert_eq!(arguments(lines), ["--silent"]);
    }

    #[test]
    fn dashes_without_a_name_are_an_error_of_their_line() {
        for line in ["--", " -- ", "-- silent", "--=1", "--:\"\"", "-", "-=x", "- x", "=", ":", "=x"] {
            let text = format!("silent\n{line}\nsilent\n");
            let error = read_lines(text.as_bytes(), Path::new("f")).err().expect(line);
            assert!(error.to_string().contains("f:2: the name of the option is missing"), "{line}: {error}");
        }
    }

    #[test]
    fn dashes_as_a_value_do_not_end_the_options() {
        for line in ["url = --", "url = -x", "--url \"--\"", "-s --", "-s=--", "-o --"] {
            let error = read_lines(line.as_bytes(), Path::new("f")).err();
            assert!(error.is_some_and(|error| error.to_string().contains("f:1:")), "{line}");
        }
    }

    #[test]
    fn lines_are_parsed_into_arguments_or_rejected() {
        for (line, arguments) in [
            ("", &[][..]),
            ("  # a comment", &[]),
            ("silent", &["--silent"]),
            ("-s", &["-s"]),
            ("--fail-early", &["--fail-early"]),
            ("max-time = 10", &["--max-time=10"]),
            ("max-time: 10 # seconds", &["--max-time=10"]),
            ("user = u:p\u{3000}w\u{a0}", &["--user=u:p\u{3000}w\u{a0}"]),
            ("\u{b}max-time\u{c}10\r", &["--max-time=10"]),
            ("--max-time 10", &["--max-time=10"]),
            ("-m 10", &["-m", "10"]),
            ("-m=10", &["-m=10"]),
            ("-ume:secret", &["-ume:secret"]),
            ("-d =x", &["-d", "=x"]),
            ("-m = 10", &["-m", "10"]),
            ("-m : \"10\"", &["-m", "10"]),
            ("-su me:secret", &["-su", "me:secret"]),
            ("header = \"X-Own: a \\\"b\\\" \\\\ \\t\"", &["--header=X-Own: a \"b\" \\ \t"]),
            ("data = -x", &["--data=-x"]),
            ("user-agent := :x", &["--user-agent=x"]),
            ("user-agent==x", &["--user-agent=x"]),
            ("data = \"=x\"", &["--data==x"]),
            ("--user-agent =x", &["--user-agent==x"]),
            ("--user-agent = x", &["--user-agent=x"]),
            ("--user-agent=x", &["--user-agent=x"]),
            ("url = \"ftp://h/a b\"", &["ftp://h/a b"]),
            ("news-server=n:1190", &["--default-news-server=n:1190"]),
        ] {
            assert_eq!(parse_line(line).expect("a line"), arguments, "{line}");
        }
        for line in [
            "header = X-Own: a",
            "data = \"x",
            "data = \"x\\",
            "config = other",
            "-K other",
            "-Kother",
            "-sKother",
            "-sK other",
            "-L yes",
            "-sL true",
            "-ume:secret http://h/",
        ] {
            assert!(parse_line(line).is_err(), "{line}");
        }
    }
}
