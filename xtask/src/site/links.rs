//! Checks links between pages, without a network: files and the places in them must exist. Links to other sites are
//! not followed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The pages of a site.
pub(super) struct Site {
    folder: PathBuf,
    pages: BTreeMap<PathBuf, Page>,
}

struct Page {
    links: Vec<String>,
    /// The values of `id` and `name`.
    places: BTreeSet<String>,
}

/// Pages whose links are relative to another directory: mdBook's page for missing pages, and the one for printing, which
/// repeats all others.
const NOT_CHECKED: [&str; 3] = ["404.html", "print.html", "toc.html"];

impl Site {
    /// Reads all pages below a directory.
    pub(super) fn read(folder: &Path) -> Result<Self, String> {
        let mut site = Self { folder: folder.to_owned(), pages: BTreeMap::new() };
        site.add(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(site)
    }

    fn add(&mut self, folder: &Path) -> std::io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                self.add(&path)?;
            } else if path.extension().is_some_and(|extension| extension == "html") {
                let name = path.strip_prefix(&self.folder).unwrap_or(&path).to_owned();
                self.pages.insert(name, Page::read(&fs::read_to_string(&path)?));
            }
        }
        Ok(())
    }

    /// The number of links.
    pub(super) fn len(&self) -> usize {
        self.checked().map(|(_, page)| page.links.len()).sum()
    }

    fn checked(&self) -> impl Iterator<Item = (&PathBuf, &Page)> {
        self.pages.iter().filter(|(name, _)| !NOT_CHECKED.iter().any(|other| name.ends_with(other)))
    }

    /// Returns a message for each link that leads nowhere.
    pub(super) fn broken(&self) -> Vec<String> {
        let links = self.checked().flat_map(|(name, page)| page.links.iter().map(move |link| (name, link)));
        let broken = links.filter(|(name, link)| !self.exists(name, link));
        broken.map(|(name, link)| format!("{}: {link} does not exist", name.display())).collect()
    }

    fn exists(&self, from: &Path, link: &str) -> bool {
        // Another site, which cannot be checked offline, or a URL of another scheme.
        if link.contains(':') || link.starts_with("//") {
            return true;
        }
        let (path, place) = link.split_once('#').unwrap_or((link, ""));
        let path = path.split('?').next().unwrap_or_default();
        let target = if path.is_empty() { from.to_owned() } else { resolved(from, path) };
        match self.pages.get(&target) {
            Some(page) => place.is_empty() || page.places.contains(&decoded(place)),
            None => !target.as_os_str().is_empty() && self.folder.join(&target).is_file(),
        }
    }
}

impl Page {
    fn read(html: &str) -> Self {
        let places = attributes(html, "id").chain(attributes(html, "name")).collect();
        Self { links: attributes(html, "href").chain(attributes(html, "src")).collect(), places }
    }
}

/// Returns the values of an attribute. The text of a page has `"` only as `&quot;` inside of attributes.
fn attributes<'a>(html: &'a str, name: &str) -> impl Iterator<Item = String> + 'a {
    let open = format!(" {name}=\"");
    let mut rest = html;
    std::iter::from_fn(move || {
        let (_, behind) = rest.split_once(&open)?;
        let (value, after) = behind.split_once('"')?;
        rest = after;
        Some(value.replace("&amp;", "&"))
    })
}

/// Returns the path that a relative link names, or an empty path if it leads out of the site.
fn resolved(from: &Path, link: &str) -> PathBuf {
    let mut path = from.parent().unwrap_or(Path::new("")).to_owned();
    for part in Path::new(&decoded(link)).components() {
        match part {
            Component::ParentDir if !path.pop() => return PathBuf::new(),
            Component::Normal(name) => path.push(name),
            _ => {}
        }
    }
    path
}

/// Decodes `%XX`.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        let hex = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
        match (first, behind.get(..2).and_then(hex)) {
            (b'%', Some(byte)) => (bytes.push(byte), rest = &behind[2..]),
            _ => (bytes.push(*first), rest = behind),
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_links_are_found_and_good_ones_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(
            "a.html",
            r##"<h1 id="top §1">A</h1><a href="sub/b.html#there">b</a> <a href="#top%20§1">t</a>"##,
        );
        write(
            "sub/b.html",
            r#"<p id="there"><a href="../a.html">a</a> <img src="x.svg"> <a href="http://h/">h</a>"#,
        );
        write("sub/x.svg", "<svg/>");
        let site = Site::read(folder.path()).unwrap();
        assert_eq!(site.broken(), [""; 0]);
        assert_eq!(site.len(), 5);

        write("c.html", r##"<a href="a.html#nowhere">x</a><a href="d.html">y</a><a href="../../x">z</a>"##);
        let broken = Site::read(folder.path()).unwrap().broken();
        assert_eq!(
            broken,
            [
                "c.html: a.html#nowhere does not exist",
                "c.html: d.html does not exist",
                "c.html: ../../x does not exist"
            ]
        );
    }
}
