//! The ids of the requests that are sent from one UDP socket.

use std::hash::{BuildHasher as _, RandomState};
use std::num::NonZeroU16;

/// The ids of the requests that are sent from one socket, one after the other. They differ, because a server keeps its
/// response for a while: it would send it again for another request with the same id.
#[derive(Debug, Default)]
pub(super) struct ExchangeIds {
    last: Option<NonZeroU16>,
}

impl ExchangeIds {
    /// Returns the id of the next request. The first one is random.
    pub(super) fn next_id(&mut self) -> NonZeroU16 {
        let id = match self.last {
            Some(last) => last.checked_add(1).unwrap_or(NonZeroU16::MIN),
            None => random_id(),
        };
        self.last = Some(id);
        id
    }
}

/// Returns a random id, which an attacker who does not see the datagrams cannot guess.
fn random_id() -> NonZeroU16 {
    let bits = RandomState::new().hash_one(0).to_be_bytes();
    let mut ids = bits.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
    ids.find_map(NonZeroU16::new).unwrap_or(NonZeroU16::MIN)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_of_one_socket_differ_until_all_were_used() {
        let mut ids = ExchangeIds::default();
        let used: HashSet<_> = (0..u16::MAX).map(|_| ids.next_id()).collect();
        assert_eq!(used.len(), usize::from(u16::MAX));
    }

    #[test]
    fn first_ids_of_several_sockets_are_random() {
        let first: HashSet<_> = (0..100).map(|_| ExchangeIds::default().next_id()).collect();
        assert!(first.len() > 90, "{} different ids", first.len());
    }
}
