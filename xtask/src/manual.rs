//! The sections of the man pages that are not options: EXAMPLES, FILES, ENVIRONMENT, EXIT STATUS.

use fetch_url::internal::CODES;

/// Commands of `fetch-url`, with what they do.
const FETCH_EXAMPLES: &[(&str, &str)] = &[
    (
        "fetch-url -O https://example.com/file.iso",
        "Save file.iso. After an interruption, repeat the command with -C - to go on.",
    ),
    (
        "fetch-url -C - --checksum-from auto -O ftp://example.com/pub/file.tar.gz",
        "Resume, and check the file against SHA256SUMS or a similar list beside it.",
    ),
    (
        "fetch-url -Z -o '#1.html' 'https://example.com/page[1-20].html'",
        "Save 20 pages in parallel as 1.html to 20.html.",
    ),
    (
        "fetch-url --input-file list.txt -Z --output-dir out",
        "Fetch the URLs of a file; a second run fetches only what is missing.",
    ),
    ("fetch-url -d name=value -u me https://example.com/form", "Send form data; the password is asked for."),
    ("fetch-url gopher://example.com/", "Show a menu with the URLs of its items."),
    ("fetch-url -I ftp://example.com/pub/file", "Show size and time without the file."),
    (
        "fetch-url explain ftp://example.com/a/b;type=i",
        "Show the parts of a URL and the commands that would be sent.",
    ),
];

/// Commands of `fetch-url mirror`, with what they do.
const MIRROR_EXAMPLES: &[(&str, &str)] = &[
    (
        "fetch-url mirror ftp://example.com/pub/ pub",
        "Copy a directory. A second run fetches only what has changed.",
    ),
    (
        "fetch-url mirror --delete -v https://example.com/files/ files",
        "Also delete files that the server no longer lists.",
    ),
    (
        "fetch-url mirror --page-requisites https://example.com/page.html page",
        "Copy one page with its images and style sheets.",
    ),
    (
        "fetch-url mirror --include-glob '*.deb' --max-depth 3 ftp://example.com/pub/",
        "Copy the packages of three levels of directories.",
    ),
];

/// Commands of `fetch-url serve` and its clients, with what they do.
const SERVE_EXAMPLES: &[(&str, &str)] = &[
    (
        "fetch-url serve",
        "Serve this computer at http://127.0.0.1:1738/. A browser opens the start page there.",
    ),
    (
        "fetch-url serve --news-server news.example.org --log access.log",
        "Read newsgroups, and write a log in the common log format.",
    ),
    (
        "gopher_proxy=http://127.0.0.1:1738/ lynx gopher://gopher.example.org/",
        "Read gopher in lynx; wais_proxy, ftp_proxy, news_proxy and nntp_proxy work as well.",
    ),
    (
        "curl -x http://127.0.0.1:1738 ftp://ftp.example.org/file",
        "Fetch through the server with curl; wget reads ftp_proxy.",
    ),
    (
        "fetch-url serve --listen 192.168.1.5:1738 --allow-client 192.168.1.0/24",
        "Serve the computers of a network.",
    ),
];

const EXPLAIN_EXAMPLES: &[(&str, &str)] =
    &[("fetch-url explain --json example.com/x", "Print the parts of http://example.com/x as JSON.")];
const EXTRACT_EXAMPLES: &[(&str, &str)] =
    &[("fetch-url extract mail.txt", "Print the URLs of a text, one per line.")];
const COMPLETIONS_EXAMPLES: &[(&str, &str)] = &[
    (
        "fetch-url completions bash > ~/.local/share/bash-completion/completions/fetch-url",
        "Install the completions for bash.",
    ),
    (
        "fetch-url completions fish > ~/.config/fish/completions/fetch-url.fish",
        "Install the completions for fish.",
    ),
];

/// Commands of `fetch-url queue`, with what they do. The page of a sub-command has those that use it.
const QUEUE_EXAMPLES: &[(&str, &str)] = &[
    (
        "fetch-url queue add nats://q.example/corpus --input-file list.txt",
        "Add the lines of a list. Repeat the command after an interruption.",
    ),
    (
        "fetch-url queue add tls://me@q.example/corpus --nats-password-file secret --input-file list.txt",
        "The same with TLS and a login.",
    ),
    (
        "fetch-url queue work nats://q.example/corpus --output-dir /shared/corpus -Z",
        "Fetch lines until the queue is empty. Run it on each machine.",
    ),
    ("fetch-url queue status nats://q.example/corpus --watch", "Show the numbers every two seconds."),
    ("fetch-url queue failed nats://q.example/corpus", "Print the failed lines."),
    ("fetch-url queue failed nats://q.example/corpus --retry", "Add the failed lines again."),
    ("fetch-url queue drop nats://q.example/corpus", "Delete lines and results. The files stay."),
];

/// The section of the pages of `fetch-url queue`, which packages do not install.
const QUEUE_AVAILABILITY: &str = "This sub-command is in builds with the Cargo feature queue, which is not a default:\n\
    cargo install fetch-url-cli --features queue. It needs a NATS server of version 2.9 or later with JetStream.";

const FILES: &[(&str, &str)] = &[
    (
        "~/.config/fetch-url/config",
        "Options, one per line in curl's syntax. $XDG_CONFIG_HOME replaces ~/.config.",
    ),
    ("~/.netrc", "Logins, read with -n."),
    ("NAME.fetch-url.part, NAME.fetch-url.json", "The partial download of NAME and its state."),
];

const ENVIRONMENT: &[(&str, &str)] = &[
    (
        "http_proxy, https_proxy, ftp_proxy, ftps_proxy, gopher_proxy, gophers_proxy, all_proxy",
        "Proxies for URLs of these schemes and of all others. Capitals are read, too, except HTTP_PROXY.",
    ),
    ("no_proxy", "Hosts that are contacted without a proxy."),
    ("NNTPSERVER", "The server for news URLs without one."),
    ("HOME, XDG_CONFIG_HOME", "The directories of the configuration file and of .netrc."),
];

/// Returns the sections of a page as roff.
pub(crate) fn sections(name: &str) -> String {
    let mut text = String::new();
    if name.starts_with("fetch-url-queue") {
        text += &format!(".SH AVAILABILITY\n{}\n", escaped(QUEUE_AVAILABILITY));
    }
    text += ".SH EXAMPLES\n";
    for (command, what) in examples(name) {
        text += &format!(".TP\n\\fB{}\\fR\n{}\n", escaped(command), escaped(what));
    }
    if matches!(name, "fetch-url" | "fetch-url-mirror") {
        for (heading, rows) in [("FILES", FILES), ("ENVIRONMENT", ENVIRONMENT)] {
            text += &format!(".SH {heading}\n");
            for (term, what) in rows {
                text += &format!(".TP\n\\fB{}\\fR\n{}\n", escaped(term), escaped(what));
            }
        }
    }
    text + &exit_statuses(name)
}

/// Returns the examples of a page.
fn examples(name: &str) -> Vec<&'static (&'static str, &'static str)> {
    let verb =
        name.strip_prefix("fetch-url-queue").map(|verb| format!("queue {}", verb.trim_start_matches('-')));
    if let Some(verb) = verb {
        return QUEUE_EXAMPLES.iter().filter(|(command, _)| command.contains(&verb)).collect();
    }
    let examples = match name {
        "fetch-url" => FETCH_EXAMPLES,
        "fetch-url-mirror" => MIRROR_EXAMPLES,
        "fetch-url-explain" => EXPLAIN_EXAMPLES,
        "fetch-url-extract" => EXTRACT_EXAMPLES,
        "fetch-url-serve" => SERVE_EXAMPLES,
        _ => COMPLETIONS_EXAMPLES,
    };
    examples.iter().collect()
}

fn exit_statuses(name: &str) -> String {
    let mut text = ".SH \"EXIT STATUS\"\n.TP\n\\fB0\\fR\nsuccess\n".to_owned();
    if !matches!(name, "fetch-url" | "fetch-url-mirror") {
        return text + ".TP\n\\fBother\\fR\nas for fetch\\-url(1)\n";
    }
    let mut rows: Vec<_> = CODES.iter().collect();
    rows.sort_by_key(|row| row.exits[0]);
    for row in rows {
        let exits: Vec<String> = row.exits.iter().map(u8::to_string).collect();
        text +=
            &format!(".TP\n\\fB{}\\fR\n{}: {}\n", exits.join(", "), escaped(row.word), escaped(row.meaning));
    }
    text
}

/// Escapes backslashes and hyphens, and a full stop or an apostrophe at the start of the line.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_all_sections() {
        for name in ["fetch-url", "fetch-url-mirror"] {
            let text = sections(name);
            for heading in ["EXAMPLES", "FILES", "ENVIRONMENT", "\"EXIT STATUS\""] {
                assert!(text.contains(&format!(".SH {heading}\n")), "{name}: {heading}");
            }
            assert_eq!(text.matches("\n.TP\n").count(), text.matches(".TP").count());
        }
        assert!(sections("fetch-url-extract").contains("EXIT STATUS"));
    }

    #[test]
    fn pages_of_queue_name_the_feature_and_have_their_own_examples() {
        for (verb, count) in
            [("", 7), ("-add", 2), ("-work", 1), ("-status", 1), ("-failed", 2), ("-drop", 1)]
        {
            let text = sections(&format!("fetch-url-queue{verb}"));
            assert!(
                text.starts_with(".SH AVAILABILITY\n") && text.contains("\\-\\-features queue"),
                "{text}"
            );
            assert_eq!(text.matches("\\fBfetch\\-url queue ").count(), count, "{verb}");
        }
    }

    #[test]
    fn control_lines_of_roff_are_escaped() {
        assert_eq!(escaped("-a\\b"), "\\-a\\eb");
        assert_eq!(escaped(".x"), "\\&.x");
    }

    #[test]
    fn examples_have_options_that_exist() {
        let all = [FETCH_EXAMPLES, MIRROR_EXAMPLES, EXPLAIN_EXAMPLES, EXTRACT_EXAMPLES, COMPLETIONS_EXAMPLES];
        let check = |example: &str, command: clap::Command| {
            let text = example.split(" > ").next().unwrap_or(example);
            let words = text.split(' ').map(|word| word.trim_matches('\''));
            let parsed = command.try_get_matches_from(words);
            assert!(parsed.is_ok(), "{example}: {}", parsed.unwrap_err());
        };
        for (example, _) in all.into_iter().flatten() {
            check(example, fetch_url_cli::flags::command());
        }
        for (example, _) in QUEUE_EXAMPLES {
            check(example, fetch_url_cli::flags::queue::command());
        }
    }
}
