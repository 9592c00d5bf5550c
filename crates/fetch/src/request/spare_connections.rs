//! Connections that a driver opens before they are needed.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Request;

/// Connections for the requests that share this value. The driver opens them while the first request waits for its
/// response; the later requests use them.
#[derive(Debug)]
pub(crate) struct SpareConnections {
    /// How many connections the requests need besides that of the first one.
    pub(crate) count: usize,
    /// The connections that are being opened, in a type of the driver.
    connections: Mutex<Vec<Box<dyn Any + Send>>>,
}

impl SpareConnections {
    pub(crate) fn new(count: usize) -> Arc<Self> {
        Arc::new(Self { count, connections: Mutex::default() })
    }

    pub(crate) fn add(&self, connection: impl Any + Send) {
        self.lock().push(Box::new(connection));
    }

    /// Removes and returns the connection with the lowest rank. Connections without a rank cannot be used.
    pub(crate) fn take<C: Any + Send>(&self, rank: impl Fn(&C) -> Option<usize>) -> Option<C> {
        let mut connections = self.lock();
        let ranks = connections.iter().map(|connection| rank(connection.downcast_ref()?));
        let (index, _) =
            ranks.enumerate().filter(|(_, rank)| rank.is_some()).min_by_key(|(_, rank)| *rank)?;
        connections.remove(index).downcast().ok().map(|connection| *connection)
    }

    /// Closes the connections that no request has taken.
    pub(crate) fn close(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Box<dyn Any + Send>>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Request {
    /// Lets the driver open `spares` while a request for metadata waits for its response, and use them for later
    /// requests. Only the HTTP driver does so, over HTTP/1.1.
    #[must_use]
    pub(crate) fn with_spare_connections(self, spares: Arc<SpareConnections>) -> Self {
        self.with_extra(spares)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connection_of_the_lowest_rank_and_the_right_type_is_taken_once() {
        let spares = SpareConnections::new(3);
        spares.add("of another driver");
        for number in [7_usize, 5, 6] {
            spares.add(number);
        }
        let take = || spares.take(|&number: &usize| (number < 7).then_some(number));
        assert_eq!([take(), take(), take()], [Some(5), Some(6), None]);
        spares.close();
        assert_eq!(spares.take(|_: &usize| Some(0)), None);
    }
}
