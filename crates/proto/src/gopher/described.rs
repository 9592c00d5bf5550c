//! An item with its Gopher+ attributes, as a line of a listing.

use super::MenuItem;
use super::item::Here;
use crate::gopher_plus::{Admin, Attributes};
use crate::{Details, Entry};

/// The item that `+INFO` names, and when `+ADMIN` says it was changed.
pub(super) fn entry(attributes: Attributes, here: Option<&Here>) -> Entry {
    let mut entry = MenuItem::parse(&attributes.info).into_entry(here);
    let admin = attributes.block("ADMIN").map(|block| Admin::parse(&block.lines));
    entry.modified = admin.and_then(|admin| admin.modified);
    if let Details::MenuItem(_, told) = &mut entry.details {
        *told = Some(Box::new(attributes));
    }
    entry
}
