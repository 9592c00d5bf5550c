//! Detects menus that are refusals: they contain an error item and no item that can be fetched. Items from the first
//! error on are buffered until the menu is known to be one or the other.

use std::collections::VecDeque;

use bytes::Bytes;

use super::{ItemType, MenuItem};

/// Maximum number of buffered items.
const MAX_BUFFERED_ITEMS: usize = 64;

/// The buffered first items of a menu.
#[derive(Debug, Default)]
pub(super) struct RefusalDetector {
    buffered: VecDeque<MenuItem>,
    error: Option<Bytes>,
    is_decided: bool,
}

impl RefusalDetector {
    /// Adds the next item.
    pub(super) fn push(&mut self, item: MenuItem) {
        match item.item_type() {
            _ if item.is_error() => {
                self.error.get_or_insert_with(|| item.name.clone());
            }
            // An invalid line is no evidence of a refusal or of a menu.
            ItemType::Info if item.fault.is_none() => {}
            _ => self.is_decided = true,
        }
        self.buffered.push_back(item);
        self.is_decided |= self.buffered.len() >= MAX_BUFFERED_ITEMS;
    }

    /// Returns the next item once the menu cannot be a refusal, or no error item was seen.
    pub(super) fn next_decided_item(&mut self) -> Option<MenuItem> {
        if self.is_decided || self.error.is_none() { self.buffered.pop_front() } else { None }
    }

    /// At the end of the menu: returns the error text if the menu is a refusal.
    pub(super) fn refusal(&mut self) -> Option<Bytes> {
        self.error.take().filter(|_| !self.is_decided)
    }

    /// Releases the buffered items at the end of the menu; returns `true` if there are any.
    pub(super) fn release_buffered(&mut self) -> bool {
        self.is_decided = true;
        !self.buffered.is_empty()
    }
}
