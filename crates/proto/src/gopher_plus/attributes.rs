//! What a server tells of an item, block by block: the answer to `!` ("Gopher+" §2.5) and, for all
//! items of a menu, to `$` (§2.7).

use bytes::Bytes;

use super::head::Head;
use crate::text::LineReader;
use crate::{Inbox, WireError};

const LINE_OCTETS: usize = 64 * 1024;
const LINE_LIMIT: &str = "the length of a line of attributes";
const ITEM_OCTETS: usize = 1024 * 1024;
const ITEM_BLOCKS: usize = 1000;
/// So that lines of nothing take no more memory than lines of something.
const ITEM_LINES: usize = 64 * 1024;

/// One block: `+NAME:`, and the lines below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Block {
    /// Its name as it came, without `+` and `:`; empty for lines below no head.
    pub name: Bytes,
    /// What stands behind `+NAME:` on the same line, without one leading blank.
    pub inline: Bytes,
    /// The lines below it, each without one leading blank and its line end.
    pub lines: Vec<Bytes>,
}

/// What a server tells of one item. It shares its memory with what came around it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attributes {
    /// What stands behind `+INFO: `: a menu line. Empty if there was none.
    pub info: Bytes,
    /// The other blocks, as they came.
    pub blocks: Vec<Block>,
}

impl Attributes {
    /// The first block with this name, ASCII case apart.
    pub fn block(&self, name: &str) -> Option<&Block> {
        self.blocks.iter().find(|block| block.name.eq_ignore_ascii_case(name.as_bytes()))
    }

    /// Drops every block that is not named, ASCII case apart; `info` stays.
    pub fn keep(&mut self, names: &[impl AsRef<[u8]>]) {
        let is = |block: &Block, name: &[u8]| block.name.eq_ignore_ascii_case(name);
        self.blocks.retain(|block| names.iter().any(|name| is(block, name.as_ref())));
    }
}

/// Reads attributes while they arrive, one item at a time: `+INFO:` begins the next.
///
/// What comes before the first `+INFO:` is an item of its own, with nothing in `info`. A line of
/// one dot is dropped where it is the last.
#[derive(Debug)]
pub struct AttributesReader {
    lines: LineReader,
    open: Option<Attributes>,
    /// A line of one dot, of which it is not known yet whether it is the last.
    dot: Option<Bytes>,
    /// Of the open item.
    octets: usize,
    count: usize,
}

impl Default for AttributesReader {
    fn default() -> Self {
        Self { lines: lines(), open: None, dot: None, octets: 0, count: 0 }
    }
}

impl AttributesReader {
    /// A reader at the start of the body.
    pub fn new() -> Self {
        Self::default()
    }

    /// The next item; none when more octets are needed, or none is left.
    ///
    /// A last line needs no line end. Whether the body is whole, its framing tells.
    ///
    /// # Errors
    /// A line is longer than 64 KiB; or an item is longer than 1 MiB, or has more than 1000 blocks
    /// or 65536 lines.
    pub fn read(&mut self, inbox: &mut Inbox) -> Result<Option<Attributes>, WireError> {
        while let Some(line) = self.lines.read_any(inbox)? {
            if let Some(item) = self.take(line)? {
                return Ok(Some(item));
            }
        }
        Ok(self.open.take_if(|_| inbox.is_ended()))
    }

    /// The open item, if this line begins the next.
    fn take(&mut self, line: Bytes) -> Result<Option<Attributes>, WireError> {
        if let Some(dot) = self.dot.take() {
            self.push_line(dot)?;
        }
        if line == "." {
            self.dot = Some(line);
            return Ok(None);
        }
        match Head::of(&line) {
            Some(head) if head.is_info() => {
                (self.octets, self.count) = (line.len(), 1);
                Ok(self.open.replace(Attributes { info: head.inline, blocks: Vec::new() }))
            }
            Some(head) => self.push_block(line.len(), head).map(|()| None),
            None => self.push_line(line).map(|()| None),
        }
    }

    fn push_block(&mut self, octets: usize, head: Head) -> Result<(), WireError> {
        let item = self.grow(octets)?;
        item.blocks.push(Block { name: head.name, inline: head.inline, lines: Vec::new() });
        within(item.blocks.len(), ITEM_BLOCKS, "the blocks of an item")
    }

    fn push_line(&mut self, line: Bytes) -> Result<(), WireError> {
        let is_below_a_head = self.open.as_ref().is_some_and(|item| !item.blocks.is_empty());
        if line.is_empty() && !is_below_a_head {
            self.count += 1;
            return within(self.count, ITEM_LINES, "the lines of an item");
        }
        let item = self.grow(line.len())?;
        if !is_below_a_head {
            item.blocks.push(Block::default());
        }
        if let Some(block) = item.blocks.last_mut() {
            block.lines.push(if line.starts_with(b" ") { line.slice(1..) } else { line });
        }
        Ok(())
    }

    /// The open item, which a line of so many octets will be part of.
    fn grow(&mut self, octets: usize) -> Result<&mut Attributes, WireError> {
        self.octets += octets;
        self.count += 1;
        within(self.octets, ITEM_OCTETS, "the octets of an item")?;
        within(self.count, ITEM_LINES, "the lines of an item")?;
        Ok(self.open.get_or_insert_default())
    }
}

const fn lines() -> LineReader {
    LineReader::new("a line of attributes", LINE_LIMIT, LINE_OCTETS)
}

const fn within(count: usize, most: usize, limit: &'static str) -> Result<(), WireError> {
    if count > most { Err(WireError::Limit { limit, most }) } else { Ok(()) }
}
