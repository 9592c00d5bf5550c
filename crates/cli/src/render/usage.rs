//! Messages for wrong options: those of clap, and hints for options of wget and curl that fetch-url does not have.

use clap::error::{ContextKind, ErrorKind};
use fetch_url::url::mask_password;

use super::stdio::{check_stdout, print_stderr, status_of_print, stdout_error};
use crate::flags::foreign_options::{CURL_OPTIONS, Equivalent, WGET_OPTIONS};

/// Prints help or version to standard output, or an error of clap to standard error. Returns the exit status.
pub(crate) fn print_clap_error(error: &clap::Error) -> u8 {
    let status = u8::try_from(error.exit_code()).unwrap_or(2);
    if let Some(line) = explanation(error) {
        print_stderr(&line);
        return status;
    }
    let is_help = matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    if is_help {
        if error.use_stderr() {
            // The arguments are missing. Errors of standard error cannot be reported anywhere.
            let _ = error.print();
            return status;
        }
        // clap knows whether the terminal shows colours, but it does not report that standard output is closed.
        let printed = check_stdout().and_then(|()| error.print().map_err(stdout_error));
        return status_of_print(printed, status);
    } else {
        print_stderr(&usage_text(&mask_password(&error.render().to_string())));
        if let Some(hint) = hint_for_wget(error) {
            print_stderr(&format!("  hint: {hint}\n"));
        }
    }
    status
}

/// Returns the text of an error of clap in the form of all other errors: one line, and hints.
fn usage_text(text: &str) -> String {
    let (mut message, mut hints) = (Vec::new(), String::new());
    for line in text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:")) {
        match line.strip_prefix("tip: ") {
            Some(tip) => hints.push_str(&format!("  hint: {tip}\n")),
            None if line.is_empty() || line.starts_with("For more information") => {}
            None => message.push(line),
        }
    }
    let message = message.join(" ");
    let message = message.strip_prefix("error: ").unwrap_or(&message);
    format!("fetch-url: usage: {message}\n{hints}")
}

/// Returns the hint for an option that has another meaning in wget.
fn hint_for_wget(error: &clap::Error) -> Option<&'static str> {
    let argument = error.get(ContextKind::InvalidArg)?.to_string();
    let value = error.get(ContextKind::InvalidValue).map(ToString::to_string).unwrap_or_default();
    match error.kind() {
        ErrorKind::InvalidValue if argument.contains("--cookie-jar") => {
            Some("for wget's -c use -C -, for its -nc use --no-clobber")
        }
        ErrorKind::ValueValidation if argument.contains("--range") && value.contains("://") => {
            Some("wget's -r is fetch-url mirror URL [DIR]")
        }
        ErrorKind::UnknownArgument if argument == "--" || argument == "-" => {
            Some("standard output is the default; omit wget's -O-")
        }
        _ => None,
    }
}

/// Returns the message for an unknown option that is a sub-command, or that wget or curl has.
fn explanation(error: &clap::Error) -> Option<String> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let argument = error.get(ContextKind::InvalidArg)?.to_string();
    let option = argument.split(['=', ' ']).next().unwrap_or_default();
    if let Some(name) = option.strip_prefix("--").filter(|name| is_sub_command(name)) {
        return Some(format!(
            "fetch-url: usage: unexpected argument '{option}' found\n  hint: use the command: fetch-url {name}\n"
        ));
    }
    let of_curl = ("curl", CURL_OPTIONS);
    let of_wget = ("wget", WGET_OPTIONS);
    // A letter that both have, such as -T, is more often wget's: curl's are nearly all supported.
    let tables = if option.starts_with("--") { [of_curl, of_wget] } else { [of_wget, of_curl] };
    let mut found = tables.into_iter().filter_map(|(program, table)| {
        let row = table.iter().find(|row| row.is_spelt(option))?;
        (row.equivalent != Equivalent::Same).then_some((program, row.equivalent))
    });
    let (program, equivalent) = found.next()?;
    let hint = hint_text(equivalent).map(|text| format!("  hint: {text}\n")).unwrap_or_default();
    // The letter has another meaning in the other program.
    let other = found.next().and_then(|(program, equivalent)| Some((program, hint_text(equivalent)?)));
    let other = other.filter(|_| !option.starts_with("--"));
    let other = other.map(|(program, text)| format!("  hint: {program}'s {option}: {text}\n"));
    let message = format!("{option} is an option of {program} that fetch-url does not have");
    Some(format!("fetch-url: usage: {message}\n{hint}{}", other.unwrap_or_default()))
}

/// Returns what replaces an option of another program, if it is known.
fn hint_text(equivalent: Equivalent) -> Option<String> {
    match equivalent {
        Equivalent::Ours(text) => Some(format!("use {text}")),
        Equivalent::Different(text) | Equivalent::Refused(text) if !text.is_empty() => Some(text.to_owned()),
        _ => None,
    }
}

/// Returns `true` for the name of a sub-command. `--mirror` is an option of wget, and its hint says more.
fn is_sub_command(name: &str) -> bool {
    name != "mirror" && crate::flags::command().find_subcommand(name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(argument: &str) -> Option<String> {
        let error =
            crate::flags::command().try_get_matches_from(["fetch-url", argument]).expect_err("unknown");
        explanation(&error)
    }

    #[test]
    fn error_of_an_option_is_one_line_and_hints() {
        let text = |arguments: &[&str]| {
            let arguments = [&["fetch-url"], arguments].concat();
            let error = crate::flags::command().try_get_matches_from(arguments).expect_err("an error");
            (usage_text(&error.render().to_string()), hint_for_wget(&error))
        };
        let misspelt = "fetch-url: usage: unexpected argument '--sillent' found\n  hint: a similar argument exists: '--silent'\n";
        assert_eq!(text(&["--sillent"]), (misspelt.to_owned(), None));
        let (wrong, _) = text(&["--list-format", "xml"]);
        assert!(wrong.starts_with("fetch-url: usage: invalid value 'xml' for '--list-format"), "{wrong}");
        assert!(wrong.contains("[possible values: ") && wrong.lines().count() == 1, "{wrong}");
        assert!(text(&["-r", "http://h/"]).1.is_some_and(|hint| hint.contains("mirror")));
        assert!(text(&["-O-", "http://h/"]).1.is_some_and(|hint| hint.contains("standard output")));
    }

    #[test]
    fn unknown_options_of_curl_and_wget_have_hints() {
        for (argument, text) in [
            ("-N", "-N is an option of wget that fetch-url does not have\n  hint: use -R to keep"),
            ("-N", "\n  hint: curl's -N: output to a pipe is written as it arrives\n"),
            ("-t", "hint: use --retry N\n"),
            ("--timeout=9", "hint: use --read-timeout SECONDS\n"),
            ("--timestamping", "hint: use -R"),
            ("--quiet", "--quiet is an option of wget that fetch-url does not have\n  hint: use -s\n"),
            ("--tries=3", "hint: use --retry N\n"),
            ("--recursive", "hint: use fetch-url mirror URL [DIR]\n"),
            ("--explain", "'--explain' found\n  hint: use the command: fetch-url explain\n"),
            ("--mirror", "hint: use fetch-url mirror URL [DIR]\n"),
            (
                "--http3",
                "--http3 is an option of curl that fetch-url does not have\n  hint: HTTP/3 is out of scope\n",
            ),
            ("--aws-sigv4", "--aws-sigv4 is an option of curl that fetch-url does not have\n"),
        ] {
            let shown = shown(argument).expect("an option of curl or wget");
            assert!(shown.contains(text), "{shown}");
        }
        assert_eq!(shown("--no-such-option"), None);
    }
}
