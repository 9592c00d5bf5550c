//! The observer of a request.

use std::fmt;
use std::sync::Arc;

use crate::Observer;

/// An observer that is not shown by `Debug`.
#[derive(Clone)]
pub(super) struct SharedObserver(pub(super) Arc<dyn Observer>);

impl fmt::Debug for SharedObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}
