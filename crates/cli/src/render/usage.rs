//! What clap says of wrong options, and what it cannot know: which letters are wget's, and which
//! options of curl's are not supported.

use clap::error::{ContextKind, ErrorKind};
use fetch_url::url::mask_password;

use super::say;

/// wget's letters that mean something else here, and what to write instead.
const WGET: &[(&str, &str)] = &[
    ("-N", "-R keeps the object's time, and -z FILE asks only for what is newer than the file"),
    ("-T", "--read-timeout SECONDS"),
    ("-t", "--retry N"),
];

/// Options that curl has and that are not supported, in the order of the alphabet.
const CURL: &[&str] = &[
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

/// clap's own words: help and version to standard output, complaints to standard error; its exit
/// status.
pub(crate) fn usage(error: &clap::Error) -> u8 {
    let status = u8::try_from(error.exit_code()).unwrap_or(2);
    if let Some(line) = explanation(error) {
        say(&line);
        return status;
    }
    let is_ours = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    let text = error.render().to_string();
    let masked = mask_password(&text);
    if is_ours || masked == text {
        // Nobody is left to be told when this fails.
        let _ = error.print();
    } else {
        say(&masked);
    }
    if lacks_jar(error) {
        say("  hint: wget's -c is -C - here, and its -nc is --no-clobber\n");
    }
    status
}

/// `-c` as the last word.
fn lacks_jar(error: &clap::Error) -> bool {
    error.kind() == ErrorKind::InvalidValue
        && error
            .get(ContextKind::InvalidArg)
            .is_some_and(|argument| argument.to_string().contains("--cookie-jar"))
}

fn explanation(error: &clap::Error) -> Option<String> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let argument = error.get(ContextKind::InvalidArg)?.to_string();
    if let Some((_, instead)) = WGET.iter().find(|(letter, _)| *letter == argument) {
        return Some(format!("fetch-url: usage: {argument} is wget's\n  hint: {instead}\n"));
    }
    let is_curls = CURL.contains(&argument.as_str());
    is_curls.then(|| format!("fetch-url: usage: {argument} is curl's, and not supported\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_called_unsupported_that_is_supported() {
        let command = crate::flags::command();
        let ours: Vec<String> = command
            .get_arguments()
            .flat_map(|argument| {
                let long = argument.get_long_and_visible_aliases().unwrap_or_default();
                let short = argument.get_short().map(|letter| format!("-{letter}"));
                long.into_iter().map(|name| format!("--{name}")).chain(short)
            })
            .collect();
        for name in CURL.iter().chain(WGET.iter().map(|(letter, _)| letter)) {
            assert!(!ours.iter().any(|own| own == name), "{name} is supported");
        }
        assert!(CURL.is_sorted());
    }
}
