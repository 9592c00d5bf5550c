//! The servers that refused HEAD in a way that is transient for other requests: with an HTTP status such as 503, or by
//! closing the connection.

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
