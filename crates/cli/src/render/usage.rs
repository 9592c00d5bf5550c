//! Messages for wrong options: those of clap, and hints for options of wget and curl that fetch-url does not have.

use clap::error::{ContextKind, ErrorKind};
use fetch_url::url::mask_password;

use super::stdio::print_stderr;

/// Options of wget that fetch-url does not have, with hints.
const WGET_OPTION_HINTS: &[(&str, &str)] = &[
    (
        "-N",
        "use -R to keep the modification time, and -z FILE to fetch only if the object is newer than FILE",
    ),
    ("-T", "use --read-timeout SECONDS"),
    ("-t", "use --retry N"),
];

/// Options of curl that fetch-url does not support, sorted.
const UNSUPPORTED_CURL_OPTIONS: &[&str] = &[
    "--aws-sigv4",
    "--capath",
    "--ciphers",
    "--crlfile",
    "--dns-servers",
    "--ftp-alternative-to-user",
    "--ftp-create-dirs",
    "--ftp-pret",
    "--ftp-ssl-ccc",
    "--ftp-ssl-control",
    "--http3",
    "--quote",
    "--socks5",
    "--socks5-hostname",
    "--stderr",
    "--trace-ascii",
    "--unix-socket",
    "--upload-file",
    "-F",
    "-Q",
    "-a",
];

/// Prints help or version to standard output, or an error of clap to standard error. Returns the exit status.
pub(crate) fn print_clap_error(error: &clap::Error) -> u8 {
    let status = u8::try_from(error.exit_code()).unwrap_or(2);
    if let Some(line) = explanation(error) {
        print_stderr(&line);
        return status;
    }
    let is_help = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    let text = error.render().to_string();
    let masked = mask_password(&text);
    if is_help || masked == text {
        // A failed write cannot be reported anywhere.
        let _ = error.print();
    } else {
        print_stderr(&masked);
    }
    if is_cookie_jar_missing(error) {
        print_stderr("  hint: for wget's -c use -C -, for its -nc use --no-clobber\n");
    }
    status
}

/// Returns `true` if `-c` has no value, which suggests wget's `-c`.
fn is_cookie_jar_missing(error: &clap::Error) -> bool {
    error.kind() == ErrorKind::InvalidValue
        && error
            .get(ContextKind::InvalidArg)
            .is_some_and(|argument| argument.to_string().contains("--cookie-jar"))
}

/// Returns the message for an unknown option that wget or curl has.
fn explanation(error: &clap::Error) -> Option<String> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let argument = error.get(ContextKind::InvalidArg)?.to_string();
    if let Some((_, instead)) = WGET_OPTION_HINTS.iter().find(|(letter, _)| *letter == argument) {
        return Some(format!(
            "fetch-url: usage: {argument} is an option of wget, not of fetch-url\n  hint: {instead}\n"
        ));
    }
    let is_curl_option = UNSUPPORTED_CURL_OPTIONS.contains(&argument.as_str());
    is_curl_option.then(|| {
        format!("fetch-url: usage: {argument} is an option of curl that fetch-url does not support\n")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_list_only_unsupported_options() {
        let command = crate::flags::command();
        let ours: Vec<String> = command
            .get_arguments()
            .flat_map(|argument| {
                let long = argument.get_long_and_visible_aliases().unwrap_or_default();
                let short = argument.get_short().map(|letter| format!("-{letter}"));
                long.into_iter().map(|name| format!("--{name}")).chain(short)
            })
            .collect();
        for name in UNSUPPORTED_CURL_OPTIONS.iter().chain(WGET_OPTION_HINTS.iter().map(|(letter, _)| letter))
        {
            assert!(!ours.iter().any(|own| own == name), "{name} is supported");
        }
        assert!(UNSUPPORTED_CURL_OPTIONS.is_sorted());
    }
}
