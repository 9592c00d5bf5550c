//! The elements of an index page that have no end yet, which show whether the server sent the whole page.

/// The maximum number of nested elements. Entries of a page with more are never complete.
const MAX_DEPTH: usize = 256;

/// An element that may contain entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Container {
    /// Its end must not be omitted, and generators write one for all entries.
    List(List),
    /// Other elements are often left open by mistake. The end of the page ends them.
    Block(Block),
    /// `html` or `body`.
    Page,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum List {
    Dl,
    Ol,
    Pre,
    Table,
    Ul,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    Article,
    Div,
    Main,
    Section,
}

impl Container {
    const fn from_name(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"dl" => Self::List(List::Dl),
            b"ol" => Self::List(List::Ol),
            b"pre" => Self::List(List::Pre),
            b"table" => Self::List(List::Table),
            b"ul" => Self::List(List::Ul),
            b"article" => Self::Block(Block::Article),
            b"div" => Self::Block(Block::Div),
            b"main" => Self::Block(Block::Main),
            b"section" => Self::Block(Block::Section),
            b"html" | b"body" => Self::Page,
            _ => return None,
        })
    }

    const fn is_list(self) -> bool {
        matches!(self, Self::List(_))
    }
}

/// The elements without an end, from the outermost one, and whether they have entries.
#[derive(Default)]
pub(super) struct OpenElements {
    elements: Vec<(Container, bool)>,
    /// A list with entries was ended by the end of an element around it, or there were too many elements.
    is_broken: bool,
}

impl OpenElements {
    /// Handles a start tag.
    pub(super) fn start(&mut self, name: &[u8]) {
        match Container::from_name(name) {
            // `body` is in `html`; one of them is enough.
            Some(Container::Page) if self.elements.iter().any(|(open, _)| *open == Container::Page) => {}
            Some(_) if self.elements.len() >= MAX_DEPTH => self.is_broken = true,
            Some(container) => self.elements.push((container, false)),
            None => {}
        }
    }

    /// Records that the innermost element has an entry.
    pub(super) fn add_entry(&mut self) {
        if let Some((_, has_entries)) = self.elements.last_mut() {
            *has_entries = true;
        }
    }

    /// Handles an end tag. It also ends the elements within its own that have no end.
    pub(super) fn end(&mut self, name: &[u8]) {
        let Some(container) = Container::from_name(name) else { return };
        let open = self.elements.iter().rposition(|(open, _)| *open == container);
        let Some(start) = open else { return };
        // As in browsers, the end of a block in a list does not end a block around the list.
        let crosses_list = self.elements[start + 1..].iter().any(|(open, _)| open.is_list());
        if crosses_list && matches!(container, Container::Block(_)) {
            return;
        }
        let mut has_entries = false;
        for (element, own_entries) in self.elements.drain(start..).rev() {
            has_entries |= own_entries;
            self.is_broken |= has_entries && element.is_list() && element != container;
        }
        // They are entries of the element around it, in which more could have followed: another row, list or block.
        if has_entries && container != Container::Page {
            self.add_entry();
        }
    }

    /// Returns `true` if the innermost list is a `pre` element, in which each line is a row.
    pub(super) fn is_in_pre(&self) -> bool {
        self.innermost_list() == Some(List::Pre)
    }

    /// Returns `true` if `<br>` ends a row: in a `pre` element, and outside of lists. A cell may have several lines.
    pub(super) fn has_lines(&self) -> bool {
        matches!(self.innermost_list(), None | Some(List::Pre))
    }

    fn innermost_list(&self) -> Option<List> {
        self.elements.iter().rev().find_map(|(open, _)| match open {
            Container::List(list) => Some(*list),
            _ => None,
        })
    }

    /// Returns `true` if an element with entries has no end.
    pub(super) fn have_entries(&self) -> bool {
        self.is_broken || self.elements.iter().any(|(_, has_entries)| *has_entries)
    }
}
