//! `cargo xtask site`: the documentation site of `docs/site`, built by mdBook in `target/site`, with its plots drawn and
//! its links checked.

mod links;
mod plot;

use std::fs;
use std::path::{Path, PathBuf};

use crate::generated::with_section;
use crate::program::{root, run_command, version};

const INSTALL: &str = "cargo install mdbook --locked";

/// Builds the site and checks its links.
pub(crate) fn run() -> Result<(), String> {
    if version("mdbook", "--version").is_none() {
        return Err(format!("site: mdbook is not installed (`{INSTALL}`)"));
    }
    let out = build()?;
    println!("site: {}", out.join("index.html").display());
    Ok(())
}

/// Builds and checks the site where mdBook is installed; otherwise returns what was skipped.
pub(crate) fn check() -> Result<Option<String>, String> {
    if version("mdbook", "--version").is_none() {
        return Ok(Some(format!("the documentation site skipped: mdbook is not installed (`{INSTALL}`)")));
    }
    build().map(|_| None)
}

/// Draws the plots of `cargo xtask bench` into the page on performance, from `target/bench.json` or another file.
pub(crate) fn plot(measured: Option<&str>) -> Result<(), String> {
    let path = measured.map_or_else(|| root().join("target/bench.json"), PathBuf::from);
    let why = |error: std::io::Error| format!("{}: {error}; `cargo xtask bench` writes it", path.display());
    let text = fs::read_to_string(&path).map_err(why)?;
    let plots = plot::all(&text).map_err(|why| format!("{}: {why}", path.display()))?;
    let pages = root().join("docs/site/src");
    let folder = pages.join("plots");
    // Plots of rows that no longer exist must not stay.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
    for (name, svg) in &plots {
        write(&folder.join(name), svg)?;
    }
    let page = pages.join("performance.md");
    let text = fs::read_to_string(&page).map_err(|error| format!("{}: {error}", page.display()))?;
    let images: String = plots
        .iter()
        .map(|(name, _)| format!("![{}](plots/{name})\n", name.trim_end_matches(".svg")))
        .collect();
    write(&page, &with_section(&text, "plots", &images)?)?;
    println!("site: {} plots in {}", plots.len(), page.display());
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

fn build() -> Result<PathBuf, String> {
    let out = root().join("target/site");
    // mdBook keeps pages that have no source any more.
    let _ = fs::remove_dir_all(&out);
    let mut mdbook = std::process::Command::new("mdbook");
    run_command(mdbook.arg("build").arg(root().join("docs/site")).arg("--dest-dir").arg(&out))?;
    let count = check_links(&out)?;
    println!("site: {count} links lead to a page or a place that exists");
    Ok(out)
}

/// Checks the links of every page. Returns their number.
fn check_links(out: &Path) -> Result<usize, String> {
    let site = links::Site::read(out)?;
    let broken = site.broken();
    if broken.is_empty() { Ok(site.len()) } else { Err(format!("site: {}", broken.join("\nsite: "))) }
}
