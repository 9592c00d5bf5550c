//! The files of a site, and their versions.

use fetch_url_tests::{pattern_vec, percent_encode};

/// Different names that are one name on a disk that folds names: they differ in case, in the Unicode form, or in both.
pub(super) const EQUAL_NAMES: [[&str; 2]; 4] = [
    ["f00", "F00"],
    ["caf\u{e9}", "cafe\u{301}"],
    ["stra\u{df}e", "STRASSE"],
    ["\u{e9}t\u{e9}", "E\u{301}T\u{c9}"],
];

/// A file that has other bytes in each version.
#[derive(Clone, Debug)]
pub(super) struct SiteFile {
    pub(super) name: String,
    /// The size in each version, in bytes.
    pub(super) sizes: Vec<usize>,
}

impl SiteFile {
    /// Returns the name as a URL has it.
    pub(super) fn url_name(&self) -> String {
        percent_encode(self.name.as_bytes(), b"")
    }

    /// Returns the content of a version. Versions and files differ in every block, so that a mixture is noticed.
    pub(super) fn content(&self, version: usize) -> Vec<u8> {
        let name = self.name.bytes().fold(7, |sum: u64, byte| sum * 31 % 65_521 + u64::from(byte));
        let mut bytes = pattern_vec(name * 13 + 500_009 * version as u64, self.sizes[version]);
        let mark = format!("{} {version} ", self.name);
        bytes.chunks_mut(1000).for_each(|block| {
            let length = mark.len().min(block.len());
            block[..length].copy_from_slice(&mark.as_bytes()[..length]);
        });
        bytes
    }

    /// Returns the first version with this content. Empty versions have the same.
    pub(super) fn version_of(&self, bytes: &[u8]) -> Option<usize> {
        (0..self.sizes.len()).find(|version| self.content(*version) == bytes)
    }
}

/// Returns the modification time of a version as an HTTP date.
pub(super) fn http_date(version: usize) -> String {
    let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][version % 7];
    format!("{weekday}, {:02} Jan 2026 00:00:00 GMT", version + 1)
}

/// Returns an index page as nginx writes it.
pub(super) fn index_page(files: &[SiteFile], version: usize) -> String {
    let line = |file: &SiteFile| {
        let (name, link, size) = (&file.name, file.url_name(), file.sizes[version]);
        format!("<a href=\"{link}\">{name}</a>    {:02}-Jan-2026 00:00    {size}\r\n", version + 1)
    };
    let lines: String = files.iter().map(line).collect();
    format!(
        "<html><head><title>Index of /d/</title></head><body><h1>Index of /d/</h1><hr><pre>\
         <a href=\"../\">../</a>\r\n{lines}</pre><hr></body></html>\r\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_differ_and_a_mixture_is_none_of_them() {
        let file = SiteFile { name: "f".to_owned(), sizes: vec![5000, 5000, 0] };
        for version in 0..3 {
            assert_eq!(file.version_of(&file.content(version)), Some(version));
        }
        let mixture = [&file.content(0)[..2500], &file.content(1)[2500..]].concat();
        assert_eq!(file.version_of(&mixture), None);
    }
}
