//! `-h`, which fits a screen, and `--help GROUP`.

use std::ffi::OsString;

use clap::{Arg, Command};

use super::stdio::print_stderr;
use super::stdio::{print_stdout, status_of_print};

/// The first line of `-h`, with all sub-commands that are built.
const USAGE: &str = if cfg!(feature = "queue") {
    "Usage: fetch-url [OPTIONS] URL...|mirror|queue|serve|explain|extract|completions\n"
} else if cfg!(feature = "serve") {
    "Usage: fetch-url [OPTIONS] URL...|mirror|serve|explain|extract|completions\n"
} else {
    "Usage: fetch-url [OPTIONS] URL...|mirror|explain|extract|completions\n"
};

/// The options of `-h`: the name in clap, the value, and a text that fits into 80 columns.
const COMMON_OPTIONS: [(&str, &str, &str); 18] = [
    ("output", "FILE", "Write to FILE instead of standard output"),
    ("remote_name", "", "Write to a file named like the end of the URL"),
    ("remote_header_name", "", "With -O, use the name that the server suggests"),
    ("continue_at", "-", "Resume where an earlier run ended"),
    ("input_file", "FILE", "Read URLs from FILE, one per line"),
    ("parallel", "", "Fetch several URLs at the same time"),
    ("user", "USER[:PASSWORD]", "Log in as USER"),
    ("header", "FIELD", "Add the header field \"Name: value\""),
    ("data", "DATA", "Send DATA as form data, by POST"),
    ("method", "METHOD", "Use this request method"),
    ("head", "", "Print header, size and time only"),
    ("include", "", "Print the header before the object"),
    ("limit_rate", "SIZE", "Maximum bytes per second, such as 200k"),
    ("max_time", "SECONDS", "Maximum time for each URL"),
    ("retry", "N", "Number of retries (default 3)"),
    ("proxy", "URL", "Use this proxy"),
    ("insecure", "", "Accept every certificate"),
    ("checksum", "ALGORITHM:HEX", "Discard a file with another checksum"),
];

/// The last line of the options, which has two of them so that a prompt fits on the screen, too.
const SILENT_AND_VERBOSE: &str =
    "-s, --silent; -v, --verbose     Print nothing; print what is sent and received\n";

/// The width of the column of options in `-h`.
const OPTION_WIDTH: usize = 31;

/// Prints the help that the arguments ask for, if it is not the complete one. Returns the exit status, or `None` for the
/// complete help.
pub(crate) fn print_short_help(command: &mut Command, arguments: &[OsString]) -> Option<u8> {
    command.build();
    let verb =
        arguments.get(1).and_then(|first| first.to_str()).and_then(|name| command.find_subcommand(name));
    let shown = verb.unwrap_or(command);
    let asked = arguments.iter().position(|argument| argument == "--help");
    let Some(at) = asked else {
        let is_fetch = verb.is_none();
        return is_fetch.then(|| print(&common_options(shown)));
    };
    let group = arguments.get(at + 1)?.to_str()?;
    let groups = groups(shown);
    // The URL of `fetch-url --help URL` is not a group.
    if group == "all" || group.starts_with('-') || group.contains([':', '/', '.']) || groups.is_empty() {
        return None;
    }
    let Some(heading) = groups.iter().find(|heading| word(heading) == group.to_ascii_lowercase()) else {
        let words: Vec<String> = groups.iter().map(|heading| word(heading)).collect();
        print_stderr(&format!(
            "fetch-url: usage: there is no help group {group:?}\n  hint: the groups are all, {}\n",
            words.join(", ")
        ));
        return Some(2);
    };
    Some(print(&group_help(shown.clone(), heading)))
}

fn print(text: &str) -> u8 {
    status_of_print(print_stdout(text), 0)
}

/// Returns the name of a group for `--help GROUP`: the first word of its heading.
fn word(heading: &str) -> String {
    heading.split_whitespace().next().unwrap_or_default().to_ascii_lowercase()
}

/// Returns the headings of the options, in order.
fn groups(command: &Command) -> Vec<String> {
    let mut groups: Vec<String> = Vec::new();
    for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
        let heading = argument.get_help_heading().map(str::to_owned);
        groups.extend(heading.filter(|heading| !groups.contains(heading)));
    }
    groups
}

/// Returns the text of `-h`.
fn common_options(command: &Command) -> String {
    let mut text = USAGE.to_owned();
    for (id, value, help) in COMMON_OPTIONS {
        let argument = command.get_arguments().find(|argument| argument.get_id() == id);
        text.extend(argument.map(|argument| option_line(argument, value, help)));
    }
    text.push_str(SILENT_AND_VERBOSE);
    let words: Vec<String> = groups(command).iter().map(|heading| word(heading)).collect();
    let list = format!("{}, all", words.join(", "));
    let wrapped = textwrap::wrap(
        &list,
        textwrap::Options::new(80).initial_indent("--help GROUP: ").subsequent_indent("  "),
    );
    text.push_str(&format!("{}\n", wrapped.join("\n")));
    text
}

/// Returns the line of an option: its letter, its name, its value and its help.
fn option_line(argument: &Arg, value: &str, help: &str) -> String {
    let letter = argument.get_short().map_or_else(|| "   ".to_owned(), |letter| format!("-{letter},"));
    let option = format!("{letter} --{} {value}", argument.get_long().unwrap_or_default());
    format!("{option:<OPTION_WIDTH$} {help}\n")
}

/// Returns the complete help of the options with one heading.
fn group_help(command: Command, heading: &str) -> String {
    let mut command =
        command.disable_help_flag(true).disable_version_flag(true).help_template("{options}\n").mut_args(
            |argument| {
                let is_shown = argument.get_help_heading() == Some(heading);
                if is_shown { argument } else { argument.hide(true) }
            },
        );
    format!("{}\n", command.render_long_help().to_string().trim_end())
}
