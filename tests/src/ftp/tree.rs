//! What an FTP server has: names made of octets, files of which the large ones are made as they are sent,
//! and the lines of its listings.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::iter::{from_fn, once};
use std::sync::Arc;

use crate::pattern::pattern_part;

/// As much as goes into one write.
const BLOCK: usize = 256 * 1024;
/// When everything was modified of which nothing else is said.
const MODIFIED: &str = "20240102030405";
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// What a name stands for.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// A directory of so many empty files that exist in its listings only.
    Crowd(u64),
    Directory,
    File(Content),
}

/// The octets of a file.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Octets(Arc<[u8]>),
    /// So many octets of the pattern.
    Pattern(u64),
}

/// Which lines a listing has.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Style {
    /// NLST.
    Names,
    /// LIST, as `ls -l` prints.
    Long,
    /// MLSD, RFC 3659 §7.
    Facts,
}

/// All names by their whole path, which begins with a slash and does not end with one.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    nodes: BTreeMap<Vec<u8>, Node>,
    modified: BTreeMap<Vec<u8>, String>,
}

impl Tree {
    pub(crate) fn new() -> Self {
        Self { nodes: once((b"/".to_vec(), Node::Directory)).collect(), modified: BTreeMap::new() }
    }

    /// Adds a name and the directories above it.
    pub(crate) fn add(&mut self, path: &[u8], node: Node) {
        let path = resolved(b"/", path);
        for (at, _) in path.iter().enumerate().skip(1).filter(|(_, octet)| **octet == b'/') {
            self.nodes.entry(path[..at].to_vec()).or_insert(Node::Directory);
        }
        self.nodes.insert(path, node);
    }

    pub(crate) fn set_modified(&mut self, path: &[u8], time: &str) {
        self.modified.insert(resolved(b"/", path), time.to_owned());
    }

    pub(crate) fn node(&self, path: &[u8]) -> Option<&Node> {
        self.nodes.get(path)
    }

    pub(crate) fn file(&self, path: &[u8]) -> Option<&Content> {
        match self.node(path)? {
            Node::File(content) => Some(content),
            Node::Crowd(_) | Node::Directory => None,
        }
    }

    pub(crate) fn is_directory(&self, path: &[u8]) -> bool {
        matches!(self.node(path), Some(Node::Crowd(_) | Node::Directory))
    }

    pub(crate) fn modified(&self, path: &[u8]) -> &str {
        self.modified.get(path).map_or(MODIFIED, String::as_str)
    }

    /// The listing of a directory or of one file, in blocks; `prefix` is put before each name.
    pub(crate) fn listing<'a>(
        &'a self,
        path: &'a [u8],
        prefix: &'a [u8],
        style: Style,
    ) -> Box<dyn Iterator<Item = Cow<'a, [u8]>> + 'a> {
        let mut lines = self.lines(path, prefix, style);
        Box::new(from_fn(move || {
            let mut block = Vec::new();
            while block.len() < BLOCK {
                let Some(line) = lines.next() else { break };
                block.extend_from_slice(&line);
            }
            Some(Cow::Owned(block)).filter(|block: &Cow<'_, [u8]>| !block.is_empty())
        }))
    }

    /// The facts of one name (RFC 3659 §7.5), as MLST and MLSD tell them.
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
        style: Style,
    ) -> Box<dyn Iterator<Item = Vec<u8>> + 'a> {
        match self.node(path) {
            Some(Node::Crowd(count)) => Box::new((0..*count).map(move |number| {
                let name = format!("entry-{number:07}.txt");
                self.line(path, &[prefix, name.as_bytes()].concat(), style, &Node::File(Content::Pattern(0)))
            })),
            Some(Node::Directory) => {
                let own = format!("{} .\r\n", self.facts(path, "cdir")).into_bytes();
                let own = (style == Style::Facts).then_some(own);
                let below = self
                    .below(path)
                    .map(move |(path, name, node)| self.line(path, &[prefix, name].concat(), style, node));
                Box::new(own.into_iter().chain(below))
            }
            Some(file) => Box::new(once(self.line(path, prefix, style, file))),
            None => Box::new(std::iter::empty()),
        }
    }

    /// Path, name and node of what is directly below.
    fn below<'a>(&'a self, path: &'a [u8]) -> impl Iterator<Item = (&'a [u8], &'a [u8], &'a Node)> + 'a {
        let start = if path == b"/" { 1 } else { path.len() + 1 };
        let all = self.nodes.range(path.to_vec()..).take_while(move |(found, _)| found.starts_with(path));
        all.filter_map(move |(found, node)| {
            let name = found.get(start..).filter(|name| !name.is_empty() && found[start - 1] == b'/')?;
            (!name.contains(&b'/')).then_some((found.as_slice(), name, node))
        })
    }

    fn line(&self, path: &[u8], name: &[u8], style: Style, node: &Node) -> Vec<u8> {
        let start = match style {
            Style::Names => String::new(),
            Style::Facts => format!("{} ", self.facts(path, kind(node))),
            Style::Long => format!("{} {} ", long(node), self.date(path)),
        };
        [start.as_bytes(), name, b"\r\n"].concat()
    }

    /// `Dec 01  1994`, as `ls` writes what is old.
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
            Self::Octets(octets) => octets.len() as u64,
            Self::Pattern(size) => *size,
        }
    }

    /// The octets from an offset on; none beyond the end.
    pub(crate) fn blocks(&self, offset: u64) -> Box<dyn Iterator<Item = Cow<'_, [u8]>> + '_> {
        let offset = offset.min(self.size());
        match self {
            Self::Octets(octets) => Box::new(octets[offset as usize..].chunks(BLOCK).map(Cow::Borrowed)),
            Self::Pattern(size) => Box::new(pattern_blocks(offset, *size)),
        }
    }
}

/// The path that a name given by a client means in a directory.
pub(crate) fn resolved(directory: &[u8], name: &[u8]) -> Vec<u8> {
    let base = if name.starts_with(b"/") { &b""[..] } else { directory };
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in base.split(|octet| *octet == b'/').chain(name.split(|octet| *octet == b'/')) {
        match part {
            b"" | b"." => {}
            b".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    [b"/".as_slice(), &parts.join(&b'/')].concat()
}

/// Line ends as TYPE A wants them: an LF alone becomes CR LF.
pub(crate) fn in_ascii<'a>(
    blocks: impl Iterator<Item = Cow<'a, [u8]>> + 'a,
) -> Box<dyn Iterator<Item = Cow<'a, [u8]>> + 'a> {
    let mut last = 0;
    Box::new(blocks.map(move |block| {
        let mut converted = Vec::with_capacity(block.len());
        for octet in block.iter() {
            if *octet == b'\n' && last != b'\r' {
                converted.push(b'\r');
            }
            converted.push(*octet);
            last = *octet;
        }
        Cow::Owned(converted)
    }))
}

fn pattern_blocks<'a>(mut offset: u64, size: u64) -> impl Iterator<Item = Cow<'a, [u8]>> {
    from_fn(move || {
        let left = usize::try_from(size - offset).unwrap_or(BLOCK).min(BLOCK);
        let part = pattern_part(offset, left);
        offset += part.len() as u64;
        (!part.is_empty()).then_some(Cow::Borrowed(part))
    })
}

fn kind(node: &Node) -> &'static str {
    match node {
        Node::Crowd(_) | Node::Directory => "dir",
        Node::File(_) => "file",
    }
}

fn long(node: &Node) -> String {
    match node {
        Node::Crowd(_) | Node::Directory => "drwxr-xr-x   2 ftp      ftp          4096".to_owned(),
        Node::File(content) => format!("-rw-r--r--   1 ftp      ftp      {:>8}", content.size()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn octets<'a>(blocks: impl Iterator<Item = Cow<'a, [u8]>>) -> String {
        String::from_utf8(blocks.flat_map(Cow::into_owned).collect()).unwrap()
    }

    #[test]
    fn names_are_resolved_as_a_directory_tree_has_them() {
        for (directory, name, path) in [
            ("/a", "b", "/a/b"),
            ("/a", "/b/", "/b"),
            ("/a/b", "../c", "/a/c"),
            ("/", "..", "/"),
            ("/a", "", "/a"),
            ("/a", "x//.//y", "/a/x/y"),
            ("/", "...", "/..."),
        ] {
            assert_eq!(
                resolved(directory.as_bytes(), name.as_bytes()),
                path.as_bytes(),
                "{directory} {name}"
            );
        }
    }

    #[test]
    fn listings_hold_what_is_directly_below() {
        let mut tree = Tree::new();
        tree.add(b"/a/b/c", Node::File(Content::Pattern(7)));
        tree.add(b"/a/x", Node::File(Content::Pattern(70)));
        tree.add(b"/ab", Node::Crowd(2));
        tree.set_modified(b"/a/x", "19941201123456");
        assert_eq!(octets(tree.listing(b"/", b"", Style::Names)), "a\r\nab\r\n");
        assert_eq!(octets(tree.listing(b"/a", b"a/", Style::Names)), "a/b\r\na/x\r\n");
        assert_eq!(octets(tree.listing(b"/a/x", b"x", Style::Names)), "x\r\n");
        let crowd = "entry-0000000.txt\r\nentry-0000001.txt\r\n";
        assert_eq!(octets(tree.listing(b"/ab", b"", Style::Names)), crowd);
        assert_eq!(
            octets(tree.listing(b"/a", b"", Style::Facts)),
            "type=cdir;modify=20240102030405; .\r\ntype=dir;modify=20240102030405; b\r\n\
             type=file;size=70;modify=19941201123456; x\r\n"
        );
        let long = octets(tree.listing(b"/a", b"", Style::Long));
        assert!(long.ends_with("-rw-r--r--   1 ftp      ftp            70 Dec 01  1994 x\r\n"), "{long}");
    }

    #[test]
    fn line_ends_are_converted_across_blocks() {
        let blocks = [&b"a\n\r"[..], b"\nb", b"\n"].map(Cow::Borrowed);
        assert_eq!(octets(in_ascii(blocks.into_iter())), "a\r\n\r\nb\r\n");
        let content = Content::Pattern(3_000_000);
        let sizes: u64 = content.blocks(7).map(|block| block.len() as u64).sum();
        assert_eq!(sizes, 2_999_993);
        assert_eq!(content.blocks(9_000_000).count(), 0);
    }
}
