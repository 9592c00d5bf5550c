//! Reads Metalink documents (RFC 5854): files with their sizes, checksums and the places that have them.

use quick_xml::events::{BytesStart, Event};
use quick_xml::name::{Namespace, ResolveResult};
use quick_xml::{NsReader, XmlVersion};

/// Maximum size of a document in bytes.
pub const MAX_SIZE: usize = 4 * 1024 * 1024;
/// The namespace of the elements (RFC 5854 §4.1).
const NAMESPACE: &str = "urn:ietf:params:xml:ns:metalink";
/// Maximum depth of elements.
const MAX_DEPTH: usize = 16;
/// Maximum number of files of a document.
const MAX_FILES: usize = 10_000;
/// Maximum number of places of a file.
const MAX_URLS: usize = 100;
/// Maximum number of checksums of a file, and of its lists of checksums of pieces.
const MAX_HASHES: usize = 16;
/// Maximum length of a text or attribute in bytes.
const MAX_TEXT: usize = 8 * 1024;
/// The priority of a place without one, which is the lowest (RFC 5854 §4.2.16.1).
const LOWEST_PRIORITY: u32 = 999_999;

/// A file of a Metalink document. Everything in it is untrusted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MetalinkFile {
    /// The name, which may contain directories and any characters.
    pub name: String,
    /// The size in bytes.
    pub size: Option<u64>,
    /// The names of the algorithms, such as `sha-256`, and the digests in hexadecimal.
    pub hashes: Vec<(String, String)>,
    /// The lists of checksums of pieces, one for each algorithm.
    pub pieces: Vec<MetalinkPieces>,
    /// The URLs of the places, the preferred one first.
    pub urls: Vec<String>,
}

/// The checksums of the pieces of a file (RFC 5854 §4.1.3). Whether they are complete is not checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MetalinkPieces {
    /// The name of the algorithm, such as `sha-256`.
    pub algorithm: String,
    /// The length of each piece but the last in bytes, or `None` if the document states none.
    pub length: Option<u64>,
    /// The digests in hexadecimal, in the order of the pieces.
    pub hashes: Vec<String>,
}

/// Why a document is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MetalinkError {
    /// The document exceeds a limit: size, depth, files, places or the length of a text.
    LimitReached,
    /// The text is not well-formed XML, or has a document type.
    Malformed,
    /// The document has no file with a name and a place.
    NoFile,
}

impl std::fmt::Display for MetalinkError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::LimitReached => "the metalink is too large",
            Self::Malformed => "it is not a metalink (RFC 5854)",
            Self::NoFile => "the metalink contains no file with a name and a URL",
        })
    }
}

impl std::error::Error for MetalinkError {}

/// Reads a document. Elements of other namespaces are skipped (RFC 5854 §6.3). Entities other than the five of XML are
/// not expanded, and documents with a DTD are rejected.
///
/// # Errors
/// See [`MetalinkError`].
pub fn parse(document: &[u8]) -> Result<Vec<MetalinkFile>, MetalinkError> {
    if document.len() > MAX_SIZE {
        return Err(MetalinkError::LimitReached);
    }
    // XML may have other encodings; RFC 5854 documents are UTF-8 in practice.
    let text = str::from_utf8(document).map_err(|_| MetalinkError::Malformed)?;
    let mut reader = NsReader::from_str(text);
    let mut state = State::default();
    loop {
        let (namespace, event) = reader.read_resolved_event().map_err(|_| MetalinkError::Malformed)?;
        // A document without a namespace is accepted, too.
        let is_foreign =
            !matches!(namespace, ResolveResult::Unbound | ResolveResult::Bound(Namespace(NAMESPACE)));
        match event {
            Event::Start(element) => state.start(&element, is_foreign)?,
            Event::Empty(element) => {
                state.start(&element, is_foreign)?;
                state.end()?;
            }
            Event::End(_) => state.end()?,
            Event::Text(text) => state.add_text(&text)?,
            Event::CData(text) => state.add_text(&text)?,
            Event::GeneralRef(name) => state.add_reference(&name)?,
            Event::DocType(_) => return Err(MetalinkError::Malformed),
            Event::Eof => break,
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
        }
    }
    state.finish()
}

/// The state of the parser: the files and elements that it has read.
#[derive(Default)]
struct State {
    /// The names of the open elements.
    path: Vec<String>,
    text: String,
    /// The type of a hash or the priority of a URL.
    attribute: Option<String>,
    file: MetalinkFile,
    pieces: MetalinkPieces,
    /// The places of the file with their priorities.
    urls: Vec<(u32, String)>,
    files: Vec<MetalinkFile>,
}

impl State {
    fn start(&mut self, element: &BytesStart<'_>, is_foreign: bool) -> Result<(), MetalinkError> {
        if self.path.len() == MAX_DEPTH {
            return Err(MetalinkError::LimitReached);
        }
        // No element that is read has an empty name.
        let name = if is_foreign { String::new() } else { element.local_name().as_ref().to_owned() };
        if self.path.is_empty() && name != "metalink" {
            return Err(MetalinkError::Malformed);
        }
        self.text.clear();
        self.attribute = match name.as_str() {
            "hash" => attribute(element, "type")?,
            "url" => attribute(element, "priority")?,
            _ => None,
        };
        if name == "file" {
            self.file = MetalinkFile {
                name: attribute(element, "name")?.unwrap_or_default(),
                ..MetalinkFile::default()
            };
            self.urls.clear();
        }
        if name == "pieces" {
            self.pieces = MetalinkPieces {
                algorithm: attribute(element, "type")?.unwrap_or_default(),
                length: attribute(element, "length")?.and_then(|text| text.trim().parse().ok()),
                hashes: Vec::new(),
            };
        }
        self.path.push(name);
        Ok(())
    }

    fn end(&mut self) -> Result<(), MetalinkError> {
        let path: Vec<&str> = self.path.iter().map(String::as_str).collect();
        let text = self.text.trim().to_owned();
        match path.as_slice() {
            ["metalink", "file", "size"] => self.file.size = text.parse().ok(),
            ["metalink", "file", "hash"] if self.file.hashes.len() < MAX_HASHES => {
                self.file.hashes.extend(self.attribute.take().map(|kind| (kind, text)));
            }
            ["metalink", "file", "pieces", "hash"] => self.pieces.hashes.push(text),
            ["metalink", "file", "pieces"] if self.file.pieces.len() < MAX_HASHES => {
                self.file.pieces.push(std::mem::take(&mut self.pieces));
            }
            ["metalink", "file", "url"] if self.urls.len() < MAX_URLS => {
                let priority = self.attribute.take().and_then(|text| text.parse().ok());
                self.urls.push((priority.unwrap_or(LOWEST_PRIORITY), text));
            }
            ["metalink", "file"] => self.end_file()?,
            _ => {}
        }
        self.text.clear();
        self.path.pop();
        Ok(())
    }

    fn end_file(&mut self) -> Result<(), MetalinkError> {
        if self.files.len() == MAX_FILES {
            return Err(MetalinkError::LimitReached);
        }
        let mut file = std::mem::take(&mut self.file);
        self.urls.sort_by_key(|(priority, _)| *priority);
        file.urls = self.urls.drain(..).map(|(_, url)| url).collect();
        if !file.name.is_empty() && !file.urls.is_empty() {
            self.files.push(file);
        }
        Ok(())
    }

    fn add_text(&mut self, text: &str) -> Result<(), MetalinkError> {
        if self.text.len() + text.len() > MAX_TEXT && !text.trim().is_empty() {
            // Long descriptions are not read.
            return if matches!(self.path.last().map(String::as_str), Some("size" | "hash" | "url")) {
                Err(MetalinkError::LimitReached)
            } else {
                Ok(())
            };
        }
        self.text.push_str(text);
        Ok(())
    }

    /// Adds the character of `&amp;`, another entity of XML, or a character reference.
    fn add_reference(&mut self, reference: &quick_xml::events::BytesRef<'_>) -> Result<(), MetalinkError> {
        let character = match reference.resolve_char_ref().map_err(|_| MetalinkError::Malformed)? {
            Some(character) => character,
            None => match reference.as_ref() {
                "amp" => '&',
                "lt" => '<',
                "gt" => '>',
                "quot" => '"',
                "apos" => '\'',
                _ => return Err(MetalinkError::Malformed),
            },
        };
        self.add_text(character.encode_utf8(&mut [0; 4]))
    }

    fn finish(self) -> Result<Vec<MetalinkFile>, MetalinkError> {
        match (self.path.is_empty(), self.files.is_empty()) {
            (false, _) => Err(MetalinkError::Malformed),
            (true, true) => Err(MetalinkError::NoFile),
            (true, false) => Ok(self.files),
        }
    }
}

/// Returns the value of an attribute.
fn attribute(element: &BytesStart<'_>, name: &str) -> Result<Option<String>, MetalinkError> {
    let found = element.try_get_attribute(name).map_err(|_| MetalinkError::Malformed)?;
    let value =
        found.map(|found| found.normalized_value(XmlVersion::Implicit1_0).map(std::borrow::Cow::into_owned));
    let value = value.transpose().map_err(|_| MetalinkError::Malformed)?;
    if value.as_ref().is_some_and(|value| value.len() > MAX_TEXT) {
        return Err(MetalinkError::LimitReached);
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<metalink xmlns="urn:ietf:params:xml:ns:metalink">
  <generator>x &amp; y</generator>
  <file name="dir/example&quot;.ext">
    <size>14471447</size>
    <pieces length="262144" type="sha-256"><hash>aa</hash><hash>bb</hash></pieces>
    <pieces type="md5"><hash>cc</hash></pieces>
    <hash type="md5">05c7</hash><hash type="sha-256">f0ad</hash>
    <metaurl mediatype="torrent">http://h/x.torrent</metaurl>
    <url location="de">http://last.test/</url>
    <url priority="2">http://second.test/?a=1&amp;b=2</url>
    <url priority="1"><![CDATA[ftp://first.test/x]]></url>
  </file>
  <file name="no-place"/>
</metalink>"#;

    #[test]
    fn files_have_their_places_in_the_order_of_priority() {
        let files = parse(DOCUMENT.as_bytes()).expect("a metalink");
        assert_eq!(files.len(), 1);
        let file = &files[0];
        assert_eq!((file.name.as_str(), file.size), ("dir/example\".ext", Some(14_471_447)));
        assert_eq!(file.urls, ["ftp://first.test/x", "http://second.test/?a=1&b=2", "http://last.test/"]);
        let hash = |kind: &str, hex: &str| (kind.to_owned(), hex.to_owned());
        assert_eq!(file.hashes, [hash("md5", "05c7"), hash("sha-256", "f0ad")]);
        let pieces = |algorithm: &str, length, hashes: &[&str]| MetalinkPieces {
            algorithm: algorithm.to_owned(),
            length,
            hashes: hashes.iter().map(|&hex| hex.to_owned()).collect(),
        };
        let expected = [pieces("sha-256", Some(262_144), &["aa", "bb"]), pieces("md5", None, &["cc"])];
        assert_eq!(file.pieces, expected);
    }

    #[test]
    fn elements_of_other_namespaces_are_skipped() {
        let document = r#"<m:metalink xmlns:m="urn:ietf:params:xml:ns:metalink" xmlns:x="urn:x">
  <x:file name="other"><x:url>http://other.test/</x:url></x:file>
  <m:file name="a">
    <x:url>http://other.test/</x:url><x:hash type="sha-512">00</x:hash><x:size>7</x:size>
    <x:file name="inner"><m:url>http://other.test/</m:url></x:file>
    <url xmlns="urn:y">http://other.test/</url><unbound:url>http://other.test/</unbound:url>
    <m:url>http://h/a</m:url>
  </m:file>
</m:metalink>"#;
        let files = parse(document.as_bytes()).expect("a metalink");
        let expected = MetalinkFile {
            name: "a".to_owned(),
            urls: vec!["http://h/a".to_owned()],
            ..MetalinkFile::default()
        };
        assert_eq!(files, [expected]);
    }

    #[test]
    fn every_prefix_is_rejected_without_a_panic() {
        for end in 0..DOCUMENT.len() - 1 {
            assert!(parse(&DOCUMENT.as_bytes()[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn hostile_documents_are_rejected() {
        let bomb = "<!DOCTYPE m [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;\">]><metalink>&b;</metalink>";
        let deep = "<metalink>".to_owned() + &"<a>".repeat(100) + &"</a>".repeat(100) + "</metalink>";
        let many = "<metalink>".to_owned()
            + &"<file name=\"a\"><url>http://h/</url></file>".repeat(MAX_FILES + 1)
            + "</metalink>";
        let long =
            format!("<metalink><file name=\"a\"><url>{}</url></file></metalink>", "x".repeat(MAX_TEXT + 1));
        for (document, error) in [
            (bomb, MetalinkError::Malformed),
            (&deep, MetalinkError::LimitReached),
            (&many, MetalinkError::LimitReached),
            (&long, MetalinkError::LimitReached),
            (&" ".repeat(MAX_SIZE + 1), MetalinkError::LimitReached),
            ("<metalink>&unknown;</metalink>", MetalinkError::Malformed),
            ("<metalink></file></metalink>", MetalinkError::Malformed),
            ("<html></html>", MetalinkError::Malformed),
            ("<metalink/>", MetalinkError::NoFile),
            ("", MetalinkError::NoFile),
            ("not XML", MetalinkError::NoFile),
            // Version 3 of the format is another one.
            (
                "<metalink version=\"3.0\" xmlns=\"http://www.metalinker.org/\"><files/></metalink>",
                MetalinkError::Malformed,
            ),
        ] {
            assert_eq!(parse(document.as_bytes()), Err(error), "{}", &document[..document.len().min(60)]);
        }
    }
}
