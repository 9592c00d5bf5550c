//! Reads multi-line blocks: the lines after a reply, up to a line with one dot (RFC 3977 §3.1.1).

use bytes::Bytes;
use memchr::memchr;

use crate::nntp::capabilities::Capabilities;
use crate::nntp::{
    ArticlePart, GroupName, HeaderReader, ListForm, format_overview_line, parse_active_line,
    parse_overview_line, wildmat,
};
use crate::text::{DotBlockReader, LineReader, ReadLine};
use crate::{Details, Entry, EntryKind, Event, RecvBuffer, Step, WireError};

const MAX_LINE_BYTES: usize = 64 * 1024;
const LINE_QUANTITY: &str = "bytes in a line of a list";
const HEADER_QUANTITY: &str = "bytes in a header line";
/// Maximum number of capability lines.
const MAX_CAPABILITY_LINES: usize = 1000;

/// The multi-line block that follows a reply.
#[derive(Debug)]
pub(super) enum Block {
    Capabilities(CapabilityList),
    /// An article that is requested again.
    Discarded(DotBlockReader),
    Header(OverviewFromHeader),
    List(List),
    Raw(DotBlockReader, HeaderGuard),
}

impl Block {
    pub(super) fn article(part: ArticlePart) -> Self {
        let guard = HeaderGuard { is_over: part == ArticlePart::Body, length: 0 };
        Self::Raw(DotBlockReader::new("the article"), guard)
    }

    pub(super) const fn discarded_article() -> Self {
        Self::Discarded(DotBlockReader::new("the article"))
    }

    pub(super) fn capabilities() -> Self {
        let lines = Lines::new("the capabilities");
        Self::Capabilities(CapabilityList { lines, found: Capabilities::default(), count: 0 })
    }

    pub(super) fn groups(pattern: Option<GroupName>, form: ListForm) -> Self {
        Self::list(ListKind::Groups(pattern), form, "the list of groups")
    }

    pub(super) fn overview(form: ListForm) -> Self {
        Self::list(ListKind::Articles, form, "the list of articles")
    }

    fn list(of: ListKind, form: ListForm, what: &'static str) -> Self {
        Self::List(List { lines: Lines::new(what), of, form })
    }

    /// Returns the next data, the next entry, or the end of the block.
    pub(super) fn step(&mut self, buffer: &mut RecvBuffer) -> Result<Step, WireError> {
        match self {
            Self::Capabilities(list) => list.step(buffer),
            Self::Discarded(dots) => loop {
                match dots.step(buffer)? {
                    Step::Emit(_) => {}
                    step => return Ok(step),
                }
            },
            Self::Header(header) => header.step(buffer),
            Self::List(list) => list.step(buffer),
            Self::Raw(dots, guard) => {
                let step = dots.step(buffer)?;
                if let Step::Emit(Event::Body(bytes)) = &step {
                    guard.check(bytes)?;
                }
                Ok(step)
            }
        }
    }
}

/// A reader of the lines of a block, without dot-stuffing.
#[derive(Debug)]
struct Lines {
    dots: DotBlockReader,
    unstuffed: RecvBuffer,
    reader: LineReader,
}

impl Lines {
    fn new(what: &'static str) -> Self {
        let reader = LineReader::new("a line of a list", LINE_QUANTITY, MAX_LINE_BYTES);
        Self { dots: DotBlockReader::new(what), unstuffed: RecvBuffer::new(), reader }
    }

    /// Returns the next line, or the step `NeedMore` or `Done`.
    fn next(&mut self, buffer: &mut RecvBuffer) -> Result<Result<Bytes, Step>, WireError> {
        loop {
            if let ReadLine::Line(line) = self.reader.read_line(&mut self.unstuffed)? {
                return Ok(Ok(line));
            }
            match self.dots.step(buffer)? {
                Step::Emit(Event::Body(bytes)) => self.unstuffed.push(&bytes),
                step => return Ok(Err(step)),
            }
        }
    }
}

/// The capability list of the server.
#[derive(Debug)]
pub(super) struct CapabilityList {
    lines: Lines,
    found: Capabilities,
    count: usize,
}

impl CapabilityList {
    fn step(&mut self, buffer: &mut RecvBuffer) -> Result<Step, WireError> {
        loop {
            match self.lines.next(buffer)? {
                Ok(_) if self.count == MAX_CAPABILITY_LINES => {
                    return Err(WireError::LimitExceeded {
                        quantity: "the lines of capabilities",
                        max: MAX_CAPABILITY_LINES,
                    });
                }
                Ok(line) => self.found.read(&line),
                Err(step) => return Ok(step),
            }
            self.count += 1;
        }
    }

    pub(super) const fn capabilities(&self) -> Capabilities {
        self.found
    }
}

/// A list of groups or articles.
#[derive(Debug)]
pub(super) struct List {
    lines: Lines,
    of: ListKind,
    form: ListForm,
}

#[derive(Debug)]
enum ListKind {
    Articles,
    Groups(Option<GroupName>),
}

impl List {
    fn step(&mut self, buffer: &mut RecvBuffer) -> Result<Step, WireError> {
        loop {
            let line = match self.lines.next(buffer)? {
                Ok(line) => line,
                Err(step) => return Ok(step),
            };
            let entry = match &self.of {
                ListKind::Articles => parse_overview_line(&line),
                ListKind::Groups(_) => parse_active_line(&line),
            };
            if let (ListKind::Groups(Some(pattern)), Some(entry)) = (&self.of, &entry)
                && !wildmat(pattern.as_bytes(), &entry.name)
            {
                // Some servers ignore the pattern.
                continue;
            }
            match (self.form, entry) {
                (ListForm::Raw, _) => return Ok(Step::Emit(Event::Body(with_line_end(&line)))),
                (ListForm::Entries, Some(entry)) => return Ok(Step::Emit(Event::Entry(entry))),
                (ListForm::Entries, None) if line.is_empty() => {}
                (ListForm::Entries, None) => return Ok(Step::Emit(Event::Entry(not_understood(&line)))),
            }
        }
    }
}

/// Returns an entry with the unparsed line as its name, so that the list stays complete.
fn not_understood(line: &Bytes) -> Entry {
    Entry { name: line.to_vec(), ..Entry::new(EntryKind::Other) }
}

fn with_line_end(line: &[u8]) -> Bytes {
    [line, b"\r\n"].concat().into()
}

/// Reads the header of an article and converts it to an entry or a line of an overview.
#[derive(Debug)]
pub(super) struct OverviewFromHeader {
    dots: DotBlockReader,
    guard: HeaderGuard,
    reader: HeaderReader,
    form: ListForm,
}

impl OverviewFromHeader {
    pub(super) fn new(number: u64, form: ListForm) -> Self {
        let guard = HeaderGuard { is_over: false, length: 0 };
        Self { dots: DotBlockReader::new("a header"), guard, reader: HeaderReader::new(number), form }
    }

    fn step(&mut self, buffer: &mut RecvBuffer) -> Result<Step, WireError> {
        loop {
            match self.dots.step(buffer)? {
                Step::Emit(Event::Body(bytes)) => {
                    self.guard.check(&bytes)?;
                    self.reader.push(&bytes);
                }
                step => return Ok(step),
            }
        }
    }

    /// Returns the list entry for the header.
    pub(super) fn event(self) -> Event {
        let entry = self.reader.finish();
        match (self.form, &entry.details) {
            (ListForm::Raw, Details::Article(details)) => {
                Event::Body(with_line_end(&format_overview_line(details)))
            }
            _ => Event::Entry(entry),
        }
    }
}

/// Limits the length of header lines to 64 KiB.
#[derive(Debug)]
pub(super) struct HeaderGuard {
    is_over: bool,
    /// The length of the current line in bytes.
    length: usize,
}

impl HeaderGuard {
    fn check(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        let mut rest = bytes;
        while !self.is_over {
            let end = memchr(b'\n', rest);
            let line = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            // A line with only a CR before the LF counts as empty.
            let is_blank = self.length == 0 && matches!(line, b"" | b"\r");
            self.length += line.len();
            if self.length > MAX_LINE_BYTES {
                return Err(WireError::LimitExceeded { quantity: HEADER_QUANTITY, max: MAX_LINE_BYTES });
            }
            let Some(end) = end else { return Ok(()) };
            self.is_over = is_blank;
            self.length = 0;
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        Ok(())
    }
}
