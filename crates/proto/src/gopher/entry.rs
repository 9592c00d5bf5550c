//! Converts menu items, with or without Gopher+ attributes, into listing entries.

use super::item::{ItemType, MenuItem, ServerAddress, link};
use crate::gopher_plus::{Admin, Attributes};
use crate::{Details, Entry, EntryKind};

impl MenuItem {
    /// Converts the item into a listing entry. `here` is the server contacted over TLS, if any: see
    /// [`Self::url`].
    pub fn into_entry(self, here: Option<&ServerAddress>) -> Entry {
        let kind = match self.item_type() {
            ItemType::Menu => EntryKind::Directory,
            ItemType::Text | ItemType::Binary if link(self.base, &self.selector).is_some() => EntryKind::Link,
            ItemType::Text | ItemType::Binary => EntryKind::File,
            _ => EntryKind::Other,
        };
        let url = self.url(here);
        Entry {
            name: self.name.to_vec(),
            url,
            details: Details::MenuItem(Box::new(self), None),
            ..Entry::new(kind)
        }
    }
}

/// Returns the entry for the `+INFO` item, with the modification time from `+ADMIN`.
pub(super) fn attributes_entry(attributes: Attributes, here: Option<&ServerAddress>) -> Entry {
    let mut entry = MenuItem::parse(&attributes.info).into_entry(here);
    let admin = attributes.block("ADMIN").map(|block| Admin::parse(&block.lines));
    entry.modified = admin.and_then(|admin| admin.modified);
    if let Details::MenuItem(_, told) = &mut entry.details {
        *told = Some(Box::new(attributes));
    }
    entry
}
