//! Words that are forbidden in parts of the project: the invariants of the architecture, one row each.

use super::Finding;
use super::source::{Line, Source};

/// A row of the table.
struct ForbiddenWords {
    words: &'static [&'static str],
    /// The part of a line that is searched.
    looks_at: SearchedText,
    /// The beginnings of the paths that the row applies to; empty: all files.
    inside: &'static [&'static str],
    /// The beginnings of the paths that are excepted.
    except: &'static [&'static str],
    why: &'static str,
}

/// The text in which a row searches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SearchedText {
    /// Rust code without comments, tests included.
    Code,
    /// Rust code without comments and tests.
    CodeOutsideTests,
    /// Every line of every text file.
    Text,
}

const PURE: &[&str] = &["crates/core/src/", "crates/proto/src/"];
const OURS: &[&str] = &["crates/"];
/// This file contains the forbidden words as data.
const HERE: &str = "xtask/src/tidy/words.rs";
/// URLs collected from other sources; some contain paths of machines.
const CORPORA: &str = "crates/core/tests/data/";

const BANS: &[ForbiddenWords] = &[
    ForbiddenWords {
        words: &[
            "tokio",
            "std::net::Tcp",
            "std::net::Udp",
            "std::time::Instant",
            "SystemTime::now",
            "Instant::now",
            "std::fs",
            "std::env",
        ],
        looks_at: SearchedText::CodeOutsideTests,
        inside: PURE,
        except: &[],
        why: "core and proto know no socket, clock, file or environment",
    },
    ForbiddenWords {
        words: &["tokio::time"],
        looks_at: SearchedText::CodeOutsideTests,
        inside: OURS,
        except: &[
            "crates/fetch/src/engine/",
            "crates/fetch/src/time.rs",
            "crates/fetch/src/time/",
            "crates/fetch/src/net/happy_eyeballs.rs",
            "crates/fetch/src/body.rs",
            "crates/fetch/src/body/limits.rs",
            // The timeouts of the clients of `fetch-url serve`.
            "crates/serve/src/connect.rs",
            "crates/serve/src/head_stream.rs",
            "crates/serve/src/listen.rs",
            // Leases, requests and repetitions of the queue.
            "crates/queue/src/",
            "crates/cli/src/run/queue_verbs.rs",
            // The time from which SIGHUP is handled.
            "crates/cli/src/signal.rs",
        ],
        why: "drivers do not measure time: they name their phase",
    },
    ForbiddenWords {
        words: &["print!(", "println!("],
        looks_at: SearchedText::CodeOutsideTests,
        inside: OURS,
        except: &["crates/cli/src/main.rs", "crates/cli/src/render/"],
        why: "only render/ prints",
    },
    ForbiddenWords {
        words: &["env::var"],
        looks_at: SearchedText::CodeOutsideTests,
        inside: OURS,
        except: &["crates/cli/src/job/environment.rs"],
        why: "only job/environment.rs reads the environment",
    },
    ForbiddenWords {
        words: &["TcpStream::connect"],
        looks_at: SearchedText::CodeOutsideTests,
        inside: OURS,
        except: &["crates/fetch/src/net/connector.rs"],
        why: "only net/connector.rs connects: it applies the address policy",
    },
    ForbiddenWords {
        words: &["reqwest"],
        looks_at: SearchedText::Code,
        inside: OURS,
        except: &["crates/fetch/src/drivers/http/"],
        why: "reqwest stays under drivers/http/",
    },
    ForbiddenWords {
        words: &["suppaftp::", "suppaftp;"], // its bare name is a log target that has to be silenced
        looks_at: SearchedText::Code,
        inside: OURS,
        except: &["crates/fetch/src/drivers/ftp/"],
        why: "suppaftp stays under drivers/ftp/",
    },
    ForbiddenWords {
        words: &[".unwrap()"],
        looks_at: SearchedText::CodeOutsideTests,
        inside: &[],
        except: &[HERE],
        why: "say why it holds, or return the error",
    },
    ForbiddenWords {
        words: &["/work/", "/root/", "/home/"],
        looks_at: SearchedText::Text,
        inside: &[],
        except: &[HERE, CORPORA],
        why: "a path of one machine",
    },
    ForbiddenWords {
        words: &["TODO", "FIXME", "XXX", "todo!("],
        looks_at: SearchedText::Text,
        inside: &[],
        except: &[HERE],
        why: "do it, or write an issue",
    },
];

/// Checks a file against every row.
pub(super) fn forbidden(source: &Source, findings: &mut Vec<Finding>) {
    for ban in BANS.iter().filter(|ban| ban.holds_for(source)) {
        for line in source.lines() {
            if let Some(word) = ban.words.iter().find(|word| ban.read(&line).contains(**word)) {
                findings.push(Finding::new(source, line.number, format!("`{word}`: {}", ban.why)));
            }
        }
    }
}

impl ForbiddenWords {
    fn holds_for(&self, source: &Source) -> bool {
        let begins = |places: &[&str]| places.iter().any(|place| source.path.starts_with(place));
        (self.looks_at == SearchedText::Text || source.is_rust())
            && (self.inside.is_empty() || begins(self.inside))
            && !begins(self.except)
    }

    fn read<'a>(&self, line: &Line<'a>) -> &'a str {
        match self.looks_at {
            SearchedText::Text => line.whole,
            SearchedText::CodeOutsideTests if line.is_test => "",
            SearchedText::Code | SearchedText::CodeOutsideTests => line.code,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;

    /// For each row: a path where the words are forbidden, a text that contains them, a path where they are allowed.
    const ROWS: [(&str, &str, &str); 16] = [
        ("crates/core/src/url.rs", "use tokio::net;", "crates/fetch/src/net.rs"),
        ("crates/proto/src/ftp.rs", "use std::net::TcpStream;", "crates/fetch/src/net.rs"),
        ("crates/proto/src/ftp.rs", "use std::time::Instant;", "crates/proto/tests/wire.rs"),
        ("crates/core/src/url.rs", "let now = SystemTime::now();", "crates/fetch/src/net.rs"),
        ("crates/core/src/url.rs", "use std::fs;", "crates/core/tests/table.rs"),
        ("crates/core/src/url.rs", "std::env::args()", "crates/cli/src/main.rs"),
        ("crates/fetch/src/net/connector.rs", "tokio::time::sleep(x)", "crates/fetch/src/engine/deadline.rs"),
        ("crates/cli/src/run.rs", "println!(\"x\");", "crates/cli/src/render/listing.rs"),
        ("crates/fetch/src/body.rs", "eprint!(\"x\");", "crates/fetch/examples/stream.rs"),
        ("crates/cli/src/run.rs", "std::env::var_os(\"X\")", "crates/cli/src/job/environment.rs"),
        (
            "crates/fetch/src/net/happy_eyeballs.rs",
            "TcpStream::connect(x)",
            "crates/fetch/src/net/connector.rs",
        ),
        ("crates/fetch/src/error.rs", "reqwest::Error", "crates/fetch/src/drivers/http/fault.rs"),
        ("crates/fetch/src/error.rs", "suppaftp::FtpError", "crates/fetch/src/drivers/ftp/io.rs"),
        ("xtask/src/main.rs", "x.unwrap()", "crates/cli/tests/cli.rs"),
        ("docker/README.md", "see /work/main", HERE),
        ("crates/core/src/url.rs", "// TODO: more", HERE),
    ];

    #[test]
    fn every_rule_finds_its_words_in_its_paths_only() {
        for (bad, text, good) in ROWS {
            let text = format!("//! Head.\n{text}\n");
            let found = check(forbidden, bad, &text);
            assert!(found.iter().any(|(line, _)| *line == 2), "{bad}: {text}");
            assert_eq!(check(forbidden, good, &text), [], "{good}: {text}");
        }
    }

    #[test]
    fn tests_and_comments_are_not_searched() {
        let path = "crates/core/src/url.rs";
        for text in ["/// let x = y.unwrap();", "#[cfg(test)]\nuse std::fs;", "let x = 1; // as tokio does"] {
            assert_eq!(check(forbidden, path, text), [], "{text}");
        }
        let mention = "#[cfg(test)]\nuse reqwest::Client;";
        assert_eq!(check(forbidden, "crates/fetch/src/body.rs", mention).len(), 1);
    }
}
