//! The lines that follow a reply, up to the line of one dot (RFC 3977 §3.1.1).

use bytes::Bytes;
use memchr::memchr;

use crate::nntp::capabilities::Capabilities;
use crate::nntp::{
    GroupName, HeaderReader, ListForm, Part, active_entry, overview_entry, overview_line, wildmat,
};
use crate::text::{DotBlock, Line, LineReader};
use crate::{Details, Entry, EntryKind, Event, Inbox, Step, WireError};

const LINE_OCTETS: usize = 64 * 1024;
const LINE_LIMIT: &str = "the length of a line of a list";
const HEADER_LIMIT: &str = "the length of a header line";
/// A server that can do more than this is telling stories.
const CAPABILITY_LINES: usize = 1000;

/// What follows a reply.
#[derive(Debug)]
pub(super) enum Block {
    Capabilities(CapabilityList),
    Header(HeaderOf),
    List(List),
    Octets(DotBlock, HeaderGuard),
}

impl Block {
    pub(super) fn article(part: Part) -> Self {
        let guard = HeaderGuard { is_over: part == Part::Body, length: 0 };
        Self::Octets(DotBlock::new("the article"), guard)
    }

    pub(super) fn capabilities() -> Self {
        let lines = Lines::new("the capabilities");
        Self::Capabilities(CapabilityList { lines, found: Capabilities::default(), count: 0 })
    }

    pub(super) fn groups(pattern: Option<GroupName>, form: ListForm) -> Self {
        Self::list(Of::Groups(pattern), form, "the list of groups")
    }

    pub(super) fn overview(form: ListForm) -> Self {
        Self::list(Of::Articles, form, "the list of articles")
    }

    fn list(of: Of, form: ListForm, what: &'static str) -> Self {
        Self::List(List { lines: Lines::new(what), of, form })
    }

    /// The next octets, the next entry, or the end.
    pub(super) fn step(&mut self, inbox: &mut Inbox) -> Result<Step, WireError> {
        match self {
            Self::Capabilities(list) => list.step(inbox),
            Self::Header(header) => header.step(inbox),
            Self::List(list) => list.step(inbox),
            Self::Octets(dots, guard) => {
                let step = dots.step(inbox)?;
                if let Step::Emit(Event::Body(octets)) = &step {
                    guard.check(octets)?;
                }
                Ok(step)
            }
        }
    }
}

/// Lines of a block.
#[derive(Debug)]
struct Lines {
    dots: DotBlock,
    unstuffed: Inbox,
    reader: LineReader,
}

impl Lines {
    fn new(what: &'static str) -> Self {
        let reader = LineReader::new("a line of a list", LINE_LIMIT, LINE_OCTETS);
        Self { dots: DotBlock::new(what), unstuffed: Inbox::new(), reader }
    }

    /// The next line; or that more is needed, or that there is none.
    fn next(&mut self, inbox: &mut Inbox) -> Result<Result<Bytes, Step>, WireError> {
        loop {
            if let Line::Whole(line) = self.reader.read(&mut self.unstuffed)? {
                return Ok(Ok(line));
            }
            match self.dots.step(inbox)? {
                Step::Emit(Event::Body(octets)) => self.unstuffed.push(&octets),
                step => return Ok(Err(step)),
            }
        }
    }
}

/// What the server says it can do.
#[derive(Debug)]
pub(super) struct CapabilityList {
    lines: Lines,
    found: Capabilities,
    count: usize,
}

impl CapabilityList {
    fn step(&mut self, inbox: &mut Inbox) -> Result<Step, WireError> {
        loop {
            match self.lines.next(inbox)? {
                Ok(_) if self.count == CAPABILITY_LINES => {
                    return Err(WireError::Limit {
                        limit: "the lines of capabilities",
                        most: CAPABILITY_LINES,
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
    of: Of,
    form: ListForm,
}

#[derive(Debug)]
enum Of {
    Articles,
    Groups(Option<GroupName>),
}

impl List {
    fn step(&mut self, inbox: &mut Inbox) -> Result<Step, WireError> {
        loop {
            let line = match self.lines.next(inbox)? {
                Ok(line) => line,
                Err(step) => return Ok(step),
            };
            let entry = match &self.of {
                Of::Articles => overview_entry(&line),
                Of::Groups(_) => active_entry(&line),
            };
            if let (Of::Groups(Some(pattern)), Some(entry)) = (&self.of, &entry)
                && !wildmat(pattern.octets(), &entry.name)
            {
                // There are servers that do not look at the pattern.
                continue;
            }
            match (self.form, entry) {
                (ListForm::Octets, _) => return Ok(Step::Emit(Event::Body(with_line_end(&line)))),
                (ListForm::Entries, Some(entry)) => return Ok(Step::Emit(Event::Entry(entry))),
                (ListForm::Entries, None) if line.is_empty() => {}
                (ListForm::Entries, None) => return Ok(Step::Emit(Event::Entry(not_understood(&line)))),
            }
        }
    }
}

/// A line that is none of the list stays in it, as it came.
fn not_understood(line: &Bytes) -> Entry {
    Entry { name: line.to_vec(), ..Entry::new(EntryKind::Other) }
}

fn with_line_end(line: &[u8]) -> Bytes {
    [line, b"\r\n"].concat().into()
}

/// The header of an article, as a line of a list.
#[derive(Debug)]
pub(super) struct HeaderOf {
    dots: DotBlock,
    guard: HeaderGuard,
    reader: HeaderReader,
    form: ListForm,
}

impl HeaderOf {
    pub(super) fn new(number: u64, form: ListForm) -> Self {
        let guard = HeaderGuard { is_over: false, length: 0 };
        Self { dots: DotBlock::new("a header"), guard, reader: HeaderReader::new(number), form }
    }

    fn step(&mut self, inbox: &mut Inbox) -> Result<Step, WireError> {
        loop {
            match self.dots.step(inbox)? {
                Step::Emit(Event::Body(octets)) => {
                    self.guard.check(&octets)?;
                    self.reader.push(&octets);
                }
                step => return Ok(step),
            }
        }
    }

    /// What the list has of it.
    pub(super) fn event(self) -> Event {
        let entry = self.reader.finish();
        match (self.form, &entry.details) {
            (ListForm::Octets, Details::Article(facts)) => Event::Body(with_line_end(&overview_line(facts))),
            _ => Event::Entry(entry),
        }
    }
}

/// Sees to it that no line of a header is longer than anybody could want.
#[derive(Debug)]
pub(super) struct HeaderGuard {
    is_over: bool,
    /// Of the line so far.
    length: usize,
}

impl HeaderGuard {
    fn check(&mut self, octets: &[u8]) -> Result<(), WireError> {
        let mut rest = octets;
        while !self.is_over {
            let end = memchr(b'\n', rest);
            let line = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            // A CR alone is an empty line, too, if it is all that there is before the LF.
            let is_blank = self.length == 0 && matches!(line, b"" | b"\r");
            self.length += line.len();
            if self.length > LINE_OCTETS {
                return Err(WireError::Limit { limit: HEADER_LIMIT, most: LINE_OCTETS });
            }
            let Some(end) = end else { return Ok(()) };
            self.is_over = is_blank;
            self.length = 0;
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        Ok(())
    }
}
