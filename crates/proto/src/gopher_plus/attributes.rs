//! Parses item attributes: the response to `!` ("Gopher+" §2.5) and, for all items of a menu, to `$` (§2.7).

use bytes::Bytes;

use super::head::BlockHeader;
use crate::text::LineReader;
use crate::{RecvBuffer, WireError};

const MAX_LINE_BYTES: usize = 64 * 1024;
const LINE_QUANTITY: &str = "bytes in a line of attributes";
const MAX_ITEM_BYTES: usize = 1024 * 1024;
const MAX_ITEM_BLOCKS: usize = 1000;
/// Maximum number of lines of an item; it limits the memory of empty lines.
const MAX_ITEM_LINES: usize = 64 * 1024;

/// One attribute block: `+NAME:` and the lines below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Block {
    /// The name as sent by the server, without `+` and `:`; empty for lines before the first block.
    pub name: Bytes,
    /// The text after `+NAME:` on the same line, without one leading blank.
    pub inline: Bytes,
    /// The lines of the block, each without one leading blank and its line end.
    pub lines: Vec<Bytes>,
}

/// The attributes of one item. The data shares memory with the receive buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attributes {
    /// The menu line after `+INFO: `; empty if there was none.
    pub info: Bytes,
    /// The other blocks, unparsed.
    pub blocks: Vec<Block>,
}

impl Attributes {
    /// Returns the first block with this name; ASCII case is ignored.
    pub fn block(&self, name: &str) -> Option<&Block> {
        self.blocks.iter().find(|block| block.name.eq_ignore_ascii_case(name.as_bytes()))
    }

    /// Keeps only the blocks with these names; ASCII case is ignored, and `info` stays.
    pub fn retain_blocks(&mut self, names: &[impl AsRef<[u8]>]) {
        let is = |block: &Block, name: &[u8]| block.name.eq_ignore_ascii_case(name);
        self.blocks.retain(|block| names.iter().any(|name| is(block, name.as_ref())));
    }
}

/// An incremental attribute parser. It returns one item at a time; `+INFO:` starts the next item.
///
/// Lines before the first `+INFO:` form an item with an empty `info`. A final line of one dot is dropped.
#[derive(Debug)]
pub struct AttributesReader {
    lines: LineReader,
    open: Option<Attributes>,
    /// A line of one dot that may be the last one.
    dot: Option<Bytes>,
    /// The size of the open item in bytes.
    bytes: usize,
    count: usize,
}

impl Default for AttributesReader {
    fn default() -> Self {
        Self { lines: lines(), open: None, dot: None, bytes: 0, count: 0 }
    }
}

impl AttributesReader {
    /// Creates a parser at the start of the body.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the next item, or `None` if more data is needed or no item is left.
    ///
    /// The last line needs no line end. This parser does not detect truncation; the framing does.
    ///
    /// # Errors
    /// [`WireError`] if a line is longer than 64 KiB, or an item is longer than 1 MiB or has more than 1000
    /// blocks or 65536 lines.
    pub fn read(&mut self, buffer: &mut RecvBuffer) -> Result<Option<Attributes>, WireError> {
        while let Some(line) = self.lines.read_line_or_rest(buffer)? {
            if let Some(item) = self.add_line(line)? {
                return Ok(Some(item));
            }
        }
        Ok(self.open.take_if(|_| buffer.is_ended()))
    }

    /// Adds a line. Returns the open item if the line starts the next one.
    fn add_line(&mut self, line: Bytes) -> Result<Option<Attributes>, WireError> {
        if let Some(dot) = self.dot.take() {
            self.push_line(dot)?;
        }
        if line == "." {
            self.dot = Some(line);
            return Ok(None);
        }
        match BlockHeader::parse(&line) {
            Some(head) if head.is_info() => {
                (self.bytes, self.count) = (line.len(), 1);
                Ok(self.open.replace(Attributes { info: head.inline, blocks: Vec::new() }))
            }
            Some(head) => self.push_block(line.len(), head).map(|()| None),
            None => self.push_line(line).map(|()| None),
        }
    }

    fn push_block(&mut self, bytes: usize, head: BlockHeader) -> Result<(), WireError> {
        let item = self.count_line(bytes)?;
        item.blocks.push(Block { name: head.name, inline: head.inline, lines: Vec::new() });
        within(item.blocks.len(), MAX_ITEM_BLOCKS, "blocks in an item")
    }

    fn push_line(&mut self, line: Bytes) -> Result<(), WireError> {
        let is_below_a_head = self.open.as_ref().is_some_and(|item| !item.blocks.is_empty());
        if line.is_empty() && !is_below_a_head {
            self.count += 1;
            return within(self.count, MAX_ITEM_LINES, "lines in an item");
        }
        let item = self.count_line(line.len())?;
        if !is_below_a_head {
            item.blocks.push(Block::default());
        }
        if let Some(block) = item.blocks.last_mut() {
            block.lines.push(if line.starts_with(b" ") { line.slice(1..) } else { line });
        }
        Ok(())
    }

    /// Returns the open item after counting a line of this length.
    fn count_line(&mut self, bytes: usize) -> Result<&mut Attributes, WireError> {
        self.bytes += bytes;
        self.count += 1;
        within(self.bytes, MAX_ITEM_BYTES, "bytes in an item")?;
        within(self.count, MAX_ITEM_LINES, "lines in an item")?;
        Ok(self.open.get_or_insert_default())
    }
}

const fn lines() -> LineReader {
    LineReader::new("a line of attributes", LINE_QUANTITY, MAX_LINE_BYTES)
}

const fn within(count: usize, most: usize, limit: &'static str) -> Result<(), WireError> {
    if count > most { Err(WireError::LimitExceeded { quantity: limit, max: most }) } else { Ok(()) }
}
