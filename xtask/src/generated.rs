//! `cargo xtask gen`: files that are generated from the code and kept in the repository: the tables of the README and the
//! site, the man pages, the shell completions. With `--check` it only lists the outdated ones.

use std::fs;
use std::path::{Path, PathBuf};

use clap_complete::Shell;
use fetch_url::Fetcher;
use fetch_url::driver::SchemeSupport;
use fetch_url::internal::CODES;
use fetch_url::url::{SCHEMES, Url, parse};
use fetch_url_cli::flags::foreign_options::{CURL_OPTIONS, Equivalent, WGET_OPTIONS};

use crate::manual;
use crate::program::root;

const NAME: &str = "fetch-url";
const FOREIGN_OPTIONS: &str = "docs/spec/foreign-options.md";
const FOREIGN_OPTIONS_HEAD: &str = "# Options of curl and wget

`cargo xtask gen` makes this page of the table that the hints for unknown options use. The options are those of the manuals
of curl 7.88 and wget 1.21.

- *the same*: the option has the same name and meaning.
- *ours*: another option, command or program does it. An unknown option is `usage` (2), and the hint names ours.
- *different*: the behaviour differs on purpose, for the reason given.
- *refused*: the option is `usage` (2), with the reason as the hint.
";

/// A section of a page and the function that generates it.
struct Section {
    page: &'static str,
    name: &'static str,
    make: fn() -> String,
}

const SECTIONS: [Section; 4] = [
    Section { page: "README.md", name: "exit-codes", make: exit_codes },
    Section { page: "README.md", name: "schemes", make: schemes },
    Section { page: "docs/site/src/scripting.md", name: "exit-codes", make: exit_codes },
    Section { page: "docs/site/src/schemes.md", name: "schemes", make: schemes },
];

const COMPLETIONS: [(Shell, &str); 3] = [(Shell::Bash, "bash"), (Shell::Zsh, "zsh"), (Shell::Fish, "fish")];

/// A file with its generated text.
struct GeneratedFile {
    path: PathBuf,
    text: String,
}

/// The outdated files, and the errors of those that cannot be generated.
struct Stale {
    files: Vec<GeneratedFile>,
    faults: Vec<String>,
}

/// Writes the outdated files.
pub(crate) fn write() -> Result<(), String> {
    let stale = stale();
    for file in stale.files {
        let path = root().join(&file.path);
        let folder = path.parent().unwrap_or(root());
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, &file.text));
        written.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        println!("gen: wrote {}", file.path.display());
    }
    if stale.faults.is_empty() { Ok(()) } else { Err(format!("gen: {}", stale.faults.join("\ngen: "))) }
}

/// Lists the outdated files and fails if there are any.
pub(crate) fn check() -> Result<(), String> {
    let Stale { files, mut faults } = stale();
    if !files.is_empty() {
        let names: Vec<String> = files.iter().map(|file| file.path.display().to_string()).collect();
        faults.push(format!("stale: {}; run `cargo xtask gen`", names.join(", ")));
    }
    if faults.is_empty() {
        println!("gen: everything is up to date");
        return Ok(());
    }
    Err(format!("gen: {}", faults.join("\ngen: ")))
}

/// Returns the files whose text differs from the generated text.
fn stale() -> Stale {
    let mut stale = Stale { files: Vec::new(), faults: Vec::new() };
    for made in manual()
        .into_iter()
        .chain(pages())
        .chain([Ok(foreign_options())])
        .chain(COMPLETIONS.map(|shell| Ok(completions(shell))))
    {
        match made {
            Ok(file) => stale.files.push(file),
            Err(why) => stale.faults.push(why),
        }
    }
    stale.files.retain(|file| fs::read_to_string(root().join(&file.path)).ok().as_ref() != Some(&file.text));
    stale
}

/// Returns the pages with generated sections.
fn pages() -> Vec<Result<GeneratedFile, String>> {
    let mut names: Vec<&str> = SECTIONS.iter().map(|section| section.page).collect();
    names.dedup();
    names.into_iter().map(page_with_sections).collect()
}

fn page_with_sections(page: &str) -> Result<GeneratedFile, String> {
    let mut text = fs::read_to_string(root().join(page)).map_err(|error| format!("{page}: {error}"))?;
    for Section { name, make, .. } in SECTIONS.iter().filter(|section| section.page == page) {
        text = with_section(&text, name, &make()).map_err(|why| format!("{page}: {why}"))?;
    }
    Ok(GeneratedFile { path: page.into(), text })
}

/// Returns `text` with `body` between the markers of a section.
pub(crate) fn with_section(text: &str, name: &str, body: &str) -> Result<String, String> {
    let (open, close) = (format!("<!-- gen:{name} -->\n"), "<!-- /gen -->");
    let missing = |what: &str| format!("no `{}` for the section `{name}`", what.trim_end());
    let (before, rest) = text.split_once(&open).ok_or_else(|| missing(&open))?;
    let (_, after) = rest.split_once(close).ok_or_else(|| missing(close))?;
    Ok(format!("{before}{open}{body}{close}{after}"))
}

fn exit_codes() -> String {
    let mut table = "| status | name | meaning |\n|---|---|---|\n| 0 | | fetched, not modified, or explained (telnet, mailto) |\n".to_owned();
    for row in CODES {
        let exits: Vec<String> = row.exits.iter().map(u8::to_string).collect();
        table += &format!("| {} | `{}` | {} |\n", exits.join(", "), row.word, row.meaning);
    }
    table
}

fn schemes() -> String {
    let fetcher = Fetcher::new();
    let mut table = "| scheme | defined in | port | support |\n|---|---|---|---|\n".to_owned();
    for row in SCHEMES.iter().filter(|row| !row.name.is_empty()) {
        let port = row.default_port.map_or(String::new(), |port| port.to_string());
        let equivalent = with_a_url(row.name, |url| in_words(url, fetcher.support(url)));
        let equivalent = equivalent.unwrap_or("unknown");
        table += &format!("| `{}` | {} | {port} | {equivalent} |\n", row.name, row.defined_in);
    }
    table
}

/// Calls `format_example` with an example URL of a scheme.
fn with_a_url<T>(scheme: &str, format_example: impl Fn(&Url<'_>) -> T) -> Option<T> {
    let forms =
        ["://host.example/a", "://host.example/", ":a@b.example"].map(|rest| format!("{scheme}{rest}"));
    forms.iter().find_map(|text| parse(text).ok().map(|parsed| format_example(&parsed.url)))
}

const fn in_words(url: &Url<'_>, equivalent: SchemeSupport) -> &'static str {
    match equivalent {
        SchemeSupport::BuiltIn if matches!(url, Url::Mailto(_) | Url::Telnet(_)) => {
            "no file; prints how to open it"
        }
        SchemeSupport::BuiltIn => "fetched",
        SchemeSupport::NotBuiltIn => "parsed and explained, not built in yet",
        SchemeSupport::Reserved => "reserved, no access method",
        _ => "unknown",
    }
}

/// Returns the man pages: one for the command, one for each subcommand. Those of `queue` are made without its feature.
fn manual() -> Vec<Result<GeneratedFile, String>> {
    let mut command = fetch_url_cli::flags::command();
    let mut with_queue = fetch_url_cli::flags::queue::command();
    command.build();
    with_queue.build();
    let mut named = vec![(NAME.to_owned(), command.clone())];
    add_verbs(NAME, &command, &mut named);
    add_verbs(NAME, &with_queue, &mut named);
    named.into_iter().map(|(name, command)| page(name, command)).collect()
}

/// Adds the sub-commands of a command, and theirs, with the names of their pages.
fn add_verbs(name: &str, command: &clap::Command, named: &mut Vec<(String, clap::Command)>) {
    for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
        let name = format!("{name}-{}", verb.get_name());
        add_verbs(&name, verb, named);
        named.push((name, verb.clone()));
    }
}

fn page(name: String, command: clap::Command) -> Result<GeneratedFile, String> {
    let (path, mut page) = (Path::new("docs").join(format!("{name}.1")), Vec::new());
    // The exit statuses have a section of their own.
    let command = command.after_help(None::<&str>).after_long_help(None::<&str>);
    let made = clap_mangen::Man::new(command).title(&name).render(&mut page);
    made.map_err(|error| format!("the manual page: {error}"))?;
    page.extend(manual::sections(&name).into_bytes());
    Ok(GeneratedFile { path, text: text_of(&page) })
}

/// Returns the page with the tables of the options of curl and wget.
fn foreign_options() -> GeneratedFile {
    let mut text = FOREIGN_OPTIONS_HEAD.to_owned();
    for (program, table) in [("curl", CURL_OPTIONS), ("wget", WGET_OPTIONS)] {
        text += &format!("\n## {program}\n\n| option | here |\n|---|---|\n");
        for row in table {
            let names = row.names.split(", ").map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let equivalent = match row.equivalent {
                Equivalent::Same => "the same".to_owned(),
                Equivalent::Ours(ours) => format!("ours: {ours}"),
                Equivalent::Different(why) => format!("different: {why}"),
                Equivalent::Refused("") => "refused".to_owned(),
                Equivalent::Refused(why) => format!("refused: {why}"),
                _ => "unknown".to_owned(),
            };
            text += &format!("| {names} | {} |\n", equivalent.replace('|', "\\|"));
        }
    }
    GeneratedFile { path: FOREIGN_OPTIONS.into(), text }
}

fn completions((shell, name): (Shell, &str)) -> GeneratedFile {
    let script = fetch_url_cli::completion_script(shell);
    GeneratedFile { path: Path::new("docs/completions").join(name), text: text_of(script.as_bytes()) }
}

/// Returns the text without spaces at the ends of lines.
fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_replaced_and_the_rest_stays() {
        let text = "a\n<!-- gen:x -->\nold\n<!-- /gen -->\nb\n<!-- gen:y -->\n<!-- /gen -->\n";
        let new = with_section(text, "x", "new\n").unwrap();
        assert_eq!(new, "a\n<!-- gen:x -->\nnew\n<!-- /gen -->\nb\n<!-- gen:y -->\n<!-- /gen -->\n");
        assert_eq!(with_section(&new, "x", "new\n").unwrap(), new);
        let why = with_section(text, "z", "").unwrap_err();
        assert_eq!(why, "no `<!-- gen:z -->` for the section `z`");
        let why = with_section("<!-- gen:x -->\n", "x", "").unwrap_err();
        assert_eq!(why, "no `<!-- /gen -->` for the section `x`");
    }

    #[test]
    fn every_scheme_has_a_url_and_a_status() {
        let table = schemes();
        assert!(!table.contains("unknown"), "{table}");
        assert!(table.contains("| `http` | RFC 1738 §3.3 | 80 | fetched |\n"), "{table}");
        assert!(table.contains("| `afs` | RFC 1738 §4 |  | reserved, no access method |\n"), "{table}");
    }

    #[test]
    fn every_exit_status_is_listed() {
        let table = exit_codes();
        assert_eq!(table.lines().count(), CODES.len() + 3);
        assert!(table.contains("| 6, 5 | `resolve_failed` | host (5: proxy) not found |"), "{table}");
    }
}
