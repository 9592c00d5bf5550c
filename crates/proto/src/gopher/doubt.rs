//! A menu with an error, and with nothing that can be fetched, is a refusal: from the error on it is not known
//! which it is.

use std::collections::VecDeque;

use bytes::Bytes;

use super::{ItemType, MenuItem};

/// So many lines are held back.
const MOST_HELD: usize = 64;

/// The first items of a menu.
#[derive(Debug, Default)]
pub(super) struct Doubt {
    held: VecDeque<MenuItem>,
    error: Option<Bytes>,
    is_over: bool,
}

impl Doubt {
    /// The next item.
    pub(super) fn take(&mut self, item: MenuItem) {
        match item.item_type() {
            ItemType::Error if self.error.is_none() => self.error = Some(item.name.clone()),
            ItemType::Error => {}
            // A line that is none shows nothing.
            ItemType::Info if item.fault.is_none() => {}
            _ => self.is_over = true,
        }
        self.held.push_back(item);
        self.is_over |= self.held.len() >= MOST_HELD;
    }

    /// The next item that stands in a menu without doubt.
    pub(super) fn settled(&mut self) -> Option<MenuItem> {
        if self.is_over || self.error.is_none() { self.held.pop_front() } else { None }
    }

    /// At the end: the words of the refusal that the menu is.
    pub(super) fn refusal(&mut self) -> Option<Bytes> {
        self.error.take().filter(|_| !self.is_over)
    }

    /// The end is here, and what is held is no refusal: whether something is held.
    pub(super) fn ends(&mut self) -> bool {
        self.is_over = true;
        !self.held.is_empty()
    }
}
