//! `cargo xtask gen`: what is made from the code and kept in the repository: README's tables, the manual page,
//! the shells' completions. `--check` only says what is stale.

use std::fs;
use std::path::{Path, PathBuf};

use clap_complete::Shell;
use fetch_url::url::{SCHEMES, Url, parse};
use fetch_url::{CODES, Fetcher, Standing};

use crate::program::root;

const NAME: &str = "fetch-url";
const README: &str = "README.md";

/// README's sections and what makes them.
const SECTIONS: [(&str, fn() -> String); 2] = [("exit-codes", exit_codes), ("schemes", schemes)];

const COMPLETIONS: [(Shell, &str); 3] = [(Shell::Bash, "bash"), (Shell::Zsh, "zsh"), (Shell::Fish, "fish")];

/// A file as it must be.
struct Wanted {
    path: PathBuf,
    text: String,
}

/// Writes what is stale.
pub(crate) fn write() -> Result<(), String> {
    for file in stale()? {
        let path = root().join(&file.path);
        let folder = path.parent().unwrap_or(root());
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, &file.text));
        written.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        println!("gen: wrote {}", file.path.display());
    }
    Ok(())
}

/// Says what is stale.
pub(crate) fn check() -> Result<(), String> {
    let stale = stale()?;
    if stale.is_empty() {
        println!("gen: everything is up to date");
        return Ok(());
    }
    let names: Vec<String> = stale.iter().map(|file| file.path.display().to_string()).collect();
    Err(format!("gen: stale: {}\nrun `cargo xtask gen`", names.join(", ")))
}

/// The files whose text is not what the code says.
fn stale() -> Result<Vec<Wanted>, String> {
    let mut wanted = vec![readme()?, manual()?];
    wanted.extend(COMPLETIONS.into_iter().map(completions));
    wanted.retain(|file| fs::read_to_string(root().join(&file.path)).ok().as_ref() != Some(&file.text));
    Ok(wanted)
}

fn readme() -> Result<Wanted, String> {
    let path = root().join(README);
    let mut text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    for (name, make) in SECTIONS {
        text = with_section(&text, name, &make()).map_err(|why| format!("{README}: {why}"))?;
    }
    Ok(Wanted { path: README.into(), text })
}

/// `text` with `body` between the markers of a section.
fn with_section(text: &str, name: &str, body: &str) -> Result<String, String> {
    let (open, close) = (format!("<!-- gen:{name} -->\n"), "<!-- /gen -->");
    let missing = |what: &str| format!("no `{}` for the section `{name}`", what.trim_end());
    let (before, rest) = text.split_once(&open).ok_or_else(|| missing(&open))?;
    let (_, after) = rest.split_once(close).ok_or_else(|| missing(close))?;
    Ok(format!("{before}{open}{body}{close}{after}"))
}

fn exit_codes() -> String {
    let mut table = "| exit | code | when |\n|---|---|---|\n| 0 | | fetched, or advice given |\n".to_owned();
    for row in CODES {
        let exits: Vec<String> = row.exits.iter().map(u8::to_string).collect();
        table += &format!("| {} | `{}` | {} |\n", exits.join(", "), row.word, row.meaning);
    }
    table
}

fn schemes() -> String {
    let fetcher = Fetcher::new();
    let mut table = "| scheme | defined in | port | here |\n|---|---|---|---|\n".to_owned();
    for row in SCHEMES.iter().filter(|row| !row.name.is_empty()) {
        let port = row.default_port.map_or(String::new(), |port| port.to_string());
        let standing = with_a_url(row.name, |url| in_words(fetcher.standing(url)));
        let standing = standing.unwrap_or("unknown");
        table += &format!("| `{}` | {} | {port} | {standing} |\n", row.name, row.defined_in);
    }
    table
}

/// Calls `say` with some URL of a scheme.
fn with_a_url<T>(scheme: &str, say: impl Fn(&Url<'_>) -> T) -> Option<T> {
    let forms = [format!("{scheme}://host.example/a"), format!("{scheme}:a@b.example")];
    forms.iter().find_map(|text| parse(text).ok().map(|parsed| say(&parsed.url)))
}

const fn in_words(standing: Standing) -> &'static str {
    match standing {
        Standing::BuiltIn => "fetched",
        Standing::NotBuiltIn => "parsed and explained, not built in yet",
        Standing::Reserved => "reserved, no access method",
        _ => "unknown",
    }
}

fn manual() -> Result<Wanted, String> {
    let mut page = Vec::new();
    let made = clap_mangen::Man::new(fetch_url_cli::flags::command()).render(&mut page);
    made.map_err(|error| format!("the manual page: {error}"))?;
    Ok(Wanted { path: Path::new("docs").join("fetch-url.1"), text: text_of(&page) })
}

fn completions((shell, name): (Shell, &str)) -> Wanted {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut fetch_url_cli::flags::command(), NAME, &mut script);
    Wanted { path: Path::new("docs/completions").join(name), text: text_of(&script) }
}

/// Text without spaces at line ends.
fn text_of(octets: &[u8]) -> String {
    String::from_utf8_lossy(octets).lines().map(|line| format!("{}\n", line.trim_end())).collect()
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
    fn every_scheme_has_a_url_and_a_standing() {
        let table = schemes();
        assert!(!table.contains("unknown"), "{table}");
        assert!(table.contains("| `http` | RFC 1738 §3.3 | 80 | fetched |\n"), "{table}");
        assert!(table.contains("| `afs` | RFC 1738 §4 |  | reserved, no access method |\n"), "{table}");
    }

    #[test]
    fn every_exit_status_is_there() {
        let table = exit_codes();
        assert_eq!(table.lines().count(), CODES.len() + 3);
        assert!(table.contains("| 6, 5 | `resolve_failed` | host (5: proxy) not found |"), "{table}");
    }
}
