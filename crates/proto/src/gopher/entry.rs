//! Converts menu items, with or without Gopher+ attributes, into listing entries.

use super::item::{ItemType, MenuItem, ServerAddress, link_target};
use crate::gopher_plus::{Admin, Attributes};
use crate::{Details, Entry, EntryKind};

impl MenuItem {
    /// Converts the item into a listing entry. `tls_server` is the server of the menu if it was fetched
    /// over TLS: links to it become `gophers` URLs (see [`Self::url`]).
    pub fn into_entry(self, tls_server: Option<&ServerAddress>) -> Entry {
        let kind = match self.item_type() {
            ItemType::Menu => EntryKind::Directory,
            ItemType::Text | ItemType::Binary
                if link_target(self.primary_gtype, &self.selector).is_some() =>
            {
                EntryKind::Link
            }
            ItemType::Text | ItemType::Binary => EntryKind::File,
            _ => EntryKind::Other,
        };
        let url = self.url(tls_server);
        Entry {
            name: self.name.to_vec(),
            url,
            details: Details::MenuItem(Box::new(self), None),
            ..Entry::new(kind)
        }
    }
}

/// Returns the entry for the `+INFO` item, with the modification time from `+ADMIN`.
pub(super) fn attributes_entry(attributes: Attributes, tls_server: Option<&ServerAddress>) -> Entry {
    let mut entry = MenuItem::parse(&attributes.info).into_entry(tls_server);
    let admin = attributes.block("ADMIN").map(|block| Admin::parse(&block.lines));
    entry.modified = admin.and_then(|admin| admin.modified);
    if let Details::MenuItem(_, item_attributes) = &mut entry.details {
        *item_attributes = Some(Box::new(attributes));
    }
    entry
}
