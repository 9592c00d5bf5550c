//! The dependencies that the two pure crates may have.

use super::Finding;
use super::source::Source;

const PURE: [&str; 2] = ["crates/core/Cargo.toml", "crates/proto/Cargo.toml"];
const ALLOWED: [&str; 6] = ["bytes", "fetch-url-core", "html5gum", "idna", "memchr", "quick-xml"];

/// Checks that core and proto depend on nothing that opens a socket, reads a clock or needs an operating system.
pub(super) fn pure_crates(source: &Source, findings: &mut Vec<Finding>) {
    if !PURE.contains(&source.path.as_str()) {
        return;
    }
    let mut counts = false;
    for line in source.lines() {
        let text = line.whole.trim();
        if text.starts_with('[') {
            counts = is_dependencies(text);
            if let Some(name) = text.strip_prefix("[dependencies.") {
                refuse(source, line.number, name.trim_end_matches(']'), findings);
                counts = false;
            }
        } else if counts && let Some((name, _)) = text.split_once(['.', '=', ' ']) {
            refuse(source, line.number, name, findings);
        }
    }
}

/// Returns `true` for `[dependencies]`, `[build-dependencies]` and `[target.….dependencies]`. Dependencies of tests are
/// not restricted.
fn is_dependencies(section: &str) -> bool {
    section.ends_with("dependencies]") && !section.ends_with("dev-dependencies]")
}

fn refuse(source: &Source, number: usize, name: &str, findings: &mut Vec<Finding>) {
    if !ALLOWED.contains(&name) && !name.starts_with('#') {
        findings.push(Finding::new(source, number, format!("`{name}` in a crate that must stay pure")));
    }
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;

    #[test]
    fn forbidden_dependencies_are_reported() {
        let path = "crates/core/Cargo.toml";
        let good = "[package]\nname = \"x\"\n[dependencies]\n# why\nidna = { workspace = true }\n\
                    memchr.workspace = true\n[dev-dependencies]\ntokio.workspace = true\n";
        assert_eq!(check(pure_crates, path, good), []);
        for bad in [
            "[dependencies]\ntokio.workspace = true\n",
            "[dependencies]\ntokio = \"1\"\n",
            "[dependencies.tokio]\nversion = \"1\"\n",
            "[target.'cfg(unix)'.dependencies]\ntokio = \"1\"\n",
        ] {
            let found = check(pure_crates, path, bad);
            assert_eq!(found.len(), 1, "{bad}");
            assert_eq!(found[0].1, "`tokio` in a crate that must stay pure");
            assert_eq!(check(pure_crates, "crates/fetch/Cargo.toml", bad), []);
        }
    }
}
