//! The connections that a driver opens for requests that follow.

use super::Request;

/// The number of connections that the next requests to the server need besides the one of this request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpareConnections(pub(crate) usize);

impl Request {
    /// Lets the driver open `count` more connections while it waits for the response. Only HTTP/1.1 does.
    #[must_use]
    pub(crate) fn with_spare_connections(self, count: usize) -> Self {
        self.with_extra(SpareConnections(count))
    }
}
