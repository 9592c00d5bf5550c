//! The servers that refused HEAD with an HTTP status that is transient for other requests.

use std::cell::RefCell;
use std::collections::BTreeSet;

/// The servers, each as scheme, host and port.
#[derive(Default)]
pub(super) struct RefusedHeads(RefCell<BTreeSet<String>>);

impl RefusedHeads {
    pub(super) fn contains(&self, server: &str) -> bool {
        self.0.borrow().contains(server)
    }

    pub(super) fn insert(&self, server: String) {
        self.0.borrow_mut().insert(server);
    }
}
