//! The files of an FTP server and the lines of its listings. Names are bytes; large files are generated while
//! they are sent.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::iter::{from_fn, once};
use std::sync::Arc;

use crate::pattern::pattern_blocks;

/// Maximum number of bytes in one write.
const BLOCK: usize = 256 * 1024;
/// The modification time of paths that have no other.
const MODIFIED: &str = "20240102030405";
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The file or directory that a path names.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Directory,
    File(Content),
    /// A directory that lists this many empty files. They exist in the listing only.
    Generated(u64),
}

/// The content of a file.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Bytes(Arc<[u8]>),
    /// The first bytes of the pattern.
    Pattern(u64),
}

/// The format of a listing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ListFormat {
    /// NLST.
    Names,
    /// LIST, as `ls -l` prints it.
    Long,
    /// MLSD (RFC 3659 §7).
    Facts,
}

/// All paths. A path starts with a slash and does not end with one, except `/`.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    nodes: BTreeMap<Vec<u8>, Node>,
    modified: BTreeMap<Vec<u8>, String>,
}

impl Tree {
    pub(crate) fn new() -> Self {
        Self { nodes: once((b"/".to_vec(), Node::Directory)).collect(), modified: BTreeMap::new() }
    }

    /// Adds a path and the directories above it.
    pub(crate) fn add(&mut self, path: &[u8], node: Node) {
        let path = resolve(b"/", path);
        for (at, _) in path.iter().enumerate().skip(1).filter(|(_, byte)| **byte == b'/') {
            self.nodes.entry(path[..at].to_vec()).or_insert(Node::Directory);
        }
        self.nodes.insert(path, node);
    }

    pub(crate) fn set_modified(&mut self, path: &[u8], time: &str) {
        self.modified.insert(resolve(b"/", path), time.to_owned());
    }

    pub(crate) fn node(&self, path: &[u8]) -> Option<&Node> {
        self.nodes.get(path)
    }

    pub(crate) fn file(&self, path: &[u8]) -> Option<&Content> {
        match self.node(path)? {
            Node::File(content) => Some(content),
            Node::Directory | Node::Generated(_) => None,
        }
    }

    pub(crate) fn is_directory(&self, path: &[u8]) -> bool {
        matches!(self.node(path), Some(Node::Directory | Node::Generated(_)))
    }

    pub(crate) fn modified(&self, path: &[u8]) -> &str {
        self.modified.get(path).map_or(MODIFIED, String::as_str)
    }

    /// Returns the listing of a directory or of one file, in blocks. `prefix` is put before each name.
    pub(crate) fn listing<'a>(
        &'a self,
        path: &'a [u8],
        prefix: &'a [u8],
        format: ListFormat,
    ) -> Box<dyn Iterator<Item = Cow<'a, [u8]>> + 'a> {
        let mut lines = self.lines(path, prefix, format);
        Box::new(from_fn(move || {
            let mut block = Vec::new();
            while block.len() < BLOCK {
                let Some(line) = lines.next() else { break };
                block.extend_from_slice(&line);
            }
            Some(Cow::Owned(block)).filter(|block: &Cow<'_, [u8]>| !block.is_empty())
        }))
    }

    /// Returns the facts of one path (RFC 3659 §7.5) for MLST and MLSD.
    pub(crate) fn facts(&self, path: &[u8], kind: &str) -> String {
        let kind = match (kind, self.file(path)) {
            ("", Some(_)) => "file",
            ("", None) => "dir",
            (kind, _) => kind,
        };
        let size = self.file(path).map(|content| format!("size={};", content.size())).unwrap_or_default();
        format!("type={kind};{size}modify={};", self.modified(path))
    }

    fn lines<'a>(
        &'a self,
        path: &'a [u8],
        prefix: &'a [u8],
        format: ListFormat,
    ) -> Box<dyn Iterator<Item = Vec<u8>> + 'a> {
        match self.node(path) {
            Some(Node::Generated(count)) => Box::new((0..*count).map(move |number| {
                let name = format!("entry-{number:07}.txt");
                self.line(path, &[prefix, name.as_bytes()].concat(), format, &Node::File(Content::Pattern(0)))
            })),
            Some(Node::Directory) => {
                let own = format!("{} .\r\n", self.facts(path, "cdir")).into_bytes();
                let own = (format == ListFormat::Facts).then_some(own);
                let children = self
                    .children(path)
                    .map(move |(path, name, node)| self.line(path, &[prefix, name].concat(), format, node));
                Box::new(own.into_iter().chain(children))
            }
            Some(file) => Box::new(once(self.line(path, prefix, format, file))),
            None => Box::new(std::iter::empty()),
        }
    }

    /// Returns path, name and node of each child of a directory.
    fn children<'a>(&'a self, path: &'a [u8]) -> impl Iterator<Item = (&'a [u8], &'a [u8], &'a Node)> + 'a {
        let start = if path == b"/" { 1 } else { path.len() + 1 };
        let all = self.nodes.range(path.to_vec()..).take_while(move |(found, _)| found.starts_with(path));
        all.filter_map(move |(found, node)| {
            let name = found.get(start..).filter(|name| !name.is_empty() && found[start - 1] == b'/')?;
            (!name.contains(&b'/')).then_some((found.as_slice(), name, node))
        })
    }

    fn line(&self, path: &[u8], name: &[u8], format: ListFormat, node: &Node) -> Vec<u8> {
        let start = match format {
            ListFormat::Names => String::new(),
            ListFormat::Facts => format!("{} ", self.facts(path, kind(node))),
            ListFormat::Long => format!("{} {} ", long(node), self.date(path)),
        };
        [start.as_bytes(), name, b"\r\n"].concat()
    }

    /// Returns `Dec 01  1994`, as `ls` formats old dates.
    fn date(&self, path: &[u8]) -> String {
        let time = self.modified(path);
        let part = |range| time.get(range).unwrap_or("01");
        let month = part(4..6).parse::<usize>().unwrap_or(1);
        let month = MONTHS.get(month.wrapping_sub(1)).unwrap_or(&"Jan");
        format!("{month} {}  {}", part(6..8), part(0..4))
    }
}

impl Content {
    pub(crate) fn size(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Pattern(size) => *size,
        }
    }

    /// Returns the bytes from `offset`, in blocks.
    pub(crate) fn blocks(&self, offset: u64) -> Box<dyn Iterator<Item = Cow<'_, [u8]>> + '_> {
        let offset = offset.min(self.size());
        match self {
            Self::Bytes(bytes) => Box::new(bytes[offset as usize..].chunks(BLOCK).map(Cow::Borrowed)),
            Self::Pattern(size) => Box::new(pattern_blocks(offset..*size, BLOCK)),
        }
    }
}

/// Resolves a path of a client against a directory.
pub(crate) fn resolve(directory: &[u8], name: &[u8]) -> Vec<u8> {
    let base = if name.starts_with(b"/") { &b""[..] } else { directory };
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in base.split(|byte| *byte == b'/').chain(name.split(|byte| *byte == b'/')) {
        match part {
            b"" | b"." => {}
            b".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    [b"/".as_slice(), &parts.join(&b'/')].concat()
}

/// Converts line ends for TYPE A: LF alone becomes CR LF.
pub(crate) fn in_ascii<'a>(
    blocks: impl Iterator<Item = Cow<'a, [u8]>> + 'a,
) -> Box<dyn Iterator<Item = Cow<'a, [u8]>> + 'a> {
    let mut last = 0;
    Box::new(blocks.map(move |block| {
        let mut converted = Vec::with_capacity(block.len());
        for byte in block.iter() {
            if *byte == b'\n' && last != b'\r' {
                converted.push(b'\r');
            }
            converted.push(*byte);
            last = *byte;
        }
        Cow::Owned(converted)
    }))
}

fn kind(node: &Node) -> &'static str {
    match node {
        Node::Directory | Node::Generated(_) => "dir",
        Node::File(_) => "file",
    }
}

fn long(node: &Node) -> String {
    match node {
        Node::Directory | Node::Generated(_) => "drwxr-xr-x   2 ftp      ftp          4096".to_owned(),
        Node::File(content) => format!("-rw-r--r--   1 ftp      ftp      {:>8}", content.size()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes<'a>(blocks: impl Iterator<Item = Cow<'a, [u8]>>) -> String {
        String::from_utf8(blocks.flat_map(Cow::into_owned).collect()).unwrap()
    }

    #[test]
    fn path_is_resolved_against_working_directory() {
        for (directory, name, path) in [
            ("/a", "b", "/a/b"),
            ("/a", "/b/", "/b"),
            ("/a/b", "../c", "/a/c"),
            ("/", "..", "/"),
            ("/a", "", "/a"),
            ("/a", "x//.//y", "/a/x/y"),
            ("/", "...", "/..."),
        ] {
            assert_eq!(resolve(directory.as_bytes(), name.as_bytes()), path.as_bytes(), "{directory} {name}");
        }
    }

    #[test]
    fn listing_contains_children_only() {
        let mut tree = Tree::new();
        tree.add(b"/a/b/c", Node::File(Content::Pattern(7)));
        tree.add(b"/a/x", Node::File(Content::Pattern(70)));
        tree.add(b"/ab", Node::Generated(2));
        tree.set_modified(b"/a/x", "19941201123456");
        assert_eq!(bytes(tree.listing(b"/", b"", ListFormat::Names)), "a\r\nab\r\n");
        assert_eq!(bytes(tree.listing(b"/a", b"a/", ListFormat::Names)), "a/b\r\na/x\r\n");
        assert_eq!(bytes(tree.listing(b"/a/x", b"x", ListFormat::Names)), "x\r\n");
        let generated = "entry-0000000.txt\r\nentry-0000001.txt\r\n";
        assert_eq!(bytes(tree.listing(b"/ab", b"", ListFormat::Names)), generated);
        assert_eq!(
            bytes(tree.listing(b"/a", b"", ListFormat::Facts)),
            "type=cdir;modify=20240102030405; .\r\ntype=dir;modify=20240102030405; b\r\n\
             type=file;size=70;modify=19941201123456; x\r\n"
        );
        let long = bytes(tree.listing(b"/a", b"", ListFormat::Long));
        assert!(long.ends_with("-rw-r--r--   1 ftp      ftp            70 Dec 01  1994 x\r\n"), "{long}");
    }

    #[test]
    fn line_ends_are_converted_across_blocks() {
        let blocks = [&b"a\n\r"[..], b"\nb", b"\n"].map(Cow::Borrowed);
        assert_eq!(bytes(in_ascii(blocks.into_iter())), "a\r\n\r\nb\r\n");
        let content = Content::Pattern(3_000_000);
        let sizes: u64 = content.blocks(7).map(|block| block.len() as u64).sum();
        assert_eq!(sizes, 2_999_993);
        assert_eq!(content.blocks(9_000_000).count(), 0);
    }
}
