//! The licences of the crates in the binary, as their authors published them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::program::{cargo, command_output};

/// The beginnings of the names of files that belong to a licence.
const NAMES: [&str; 5] = ["COPYING", "COPYRIGHT", "LICENCE", "LICENSE", "NOTICE"];

/// A crate in the binary.
struct Dependency {
    /// Name and version.
    title: String,
    license: String,
    repository: String,
    folder: PathBuf,
}

/// Returns the list of crates with their licences, and each text of a licence once.
pub(super) fn text(target: &str) -> Result<String, String> {
    let dependencies = dependencies(target)?;
    let mut list = "The program fetch-url contains these crates:\n\n".to_owned();
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for dependency in &dependencies {
        let Dependency { title, license, repository, .. } = dependency;
        list += &format!("{title}: {license} {repository}\n");
        for text in license_texts(&dependency.folder)? {
            texts.entry(text).or_default().push(title.clone());
        }
    }
    // In the order of the first crate that has the text.
    let mut sections: Vec<(Vec<String>, String)> = texts.into_iter().map(|(text, of)| (of, text)).collect();
    sections.sort();
    for (of, text) in sections {
        list += &format!("\n{}\n{}\n\n{}\n", "-".repeat(78), of.join(", "), text.trim());
    }
    Ok(list)
}

/// Returns the dependencies that are linked into the binary, without the crates of this project.
fn dependencies(target: &str) -> Result<Vec<Dependency>, String> {
    let mut metadata = cargo(["metadata", "--format-version=1", "--locked", "--filter-platform", target]);
    let metadata = command_output(&mut metadata)?;
    let metadata: Value =
        serde_json::from_str(&metadata).map_err(|error| format!("cargo metadata: {error}"))?;
    let linked = linked(target)?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata names no packages")?;
    let foreign = packages.iter().filter(|package| !package["source"].is_null()).map(dependency);
    let found: Vec<Dependency> = foreign.filter(|one| linked.contains(&one.title)).collect();
    if found.is_empty() { Err("cargo metadata names no dependencies".to_owned()) } else { Ok(found) }
}

/// Returns name and version of every crate in the binary.
fn linked(target: &str) -> Result<BTreeSet<String>, String> {
    let mut tree =
        cargo(["tree", "--locked", "-p", "fetch-url-cli", "--edges", "normal", "--prefix", "none"]);
    let lines = command_output(tree.args(["--target", target, "--format", "{p}"]))?;
    let title = |line: &str| {
        let mut words = line.split(' ');
        Some(format!("{} {}", words.next()?, words.next()?.strip_prefix('v')?))
    };
    Ok(lines.lines().filter_map(title).collect())
}

fn dependency(package: &Value) -> Dependency {
    let field = |name: &str| package[name].as_str().unwrap_or_default().to_owned();
    let manifest = PathBuf::from(field("manifest_path"));
    Dependency {
        title: format!("{} {}", field("name"), field("version")),
        license: field("license"),
        repository: field("repository"),
        folder: manifest.parent().map(Path::to_owned).unwrap_or_default(),
    }
}

/// Returns the texts of the licence files in a directory. Without line ends of other systems and spaces at line ends, so
/// that equal texts are equal.
fn license_texts(folder: &Path) -> Result<BTreeSet<String>, String> {
    let unreadable = |error: std::io::Error| format!("cannot read {}: {error}", folder.display());
    let mut texts = BTreeSet::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_uppercase();
        if NAMES.iter().any(|start| name.starts_with(start)) && path.is_file() {
            let bytes = fs::read(&path).map_err(unreadable)?;
            let text = String::from_utf8_lossy(&bytes);
            texts.insert(text.lines().map(|line| format!("{}\n", line.trim_end())).collect());
        }
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn license_files_are_read_once_and_other_files_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let files =
            [("LICENSE-MIT", "a\r\nb\n"), ("license.txt", "a\nb  \n"), ("COPYING", "c"), ("README", "d")];
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let texts = license_texts(folder.path()).unwrap();
        assert_eq!(texts.into_iter().collect::<Vec<_>>(), ["a\nb\n", "c\n"]);
        assert!(license_texts(&folder.path().join("none")).unwrap_err().starts_with("cannot read "));
    }

    #[test]
    fn only_crates_in_the_binary_are_listed() {
        let titles: Vec<String> =
            dependencies("x86_64-unknown-linux-gnu").unwrap().into_iter().map(|one| one.title).collect();
        let has = |name: &str| titles.iter().any(|title| title.starts_with(&format!("{name} ")));
        assert!(has("tokio") && has("rustls") && !has("proptest") && !has("fetch-url-core"), "{titles:?}");
    }
}
