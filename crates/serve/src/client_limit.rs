//! Counts what each client address uses, and refuses more than a maximum.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// The maximum number of permits of one client address.
#[derive(Debug)]
pub(crate) struct ClientLimit {
    max: usize,
    used: Mutex<HashMap<IpAddr, usize>>,
}

/// A permit of a client address, until it is dropped.
#[derive(Debug)]
pub(crate) struct ClientPermit {
    limit: Arc<ClientLimit>,
    client: IpAddr,
}

impl ClientLimit {
    pub(crate) fn new(max: usize) -> Arc<Self> {
        Arc::new(Self { max, used: Mutex::default() })
    }

    /// Returns a permit for `client`, or `None` if it has the maximum.
    pub(crate) fn permit(self: &Arc<Self>, client: IpAddr) -> Option<ClientPermit> {
        let client = client.to_canonical();
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let count = used.get(&client).copied().unwrap_or(0);
        if count >= self.max {
            return None;
        }
        used.insert(client, count + 1);
        Some(ClientPermit { limit: self.clone(), client })
    }
}

impl Drop for ClientPermit {
    fn drop(&mut self) {
        let mut used = self.limit.used.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = used.get_mut(&self.client) {
            *count -= 1;
            if *count == 0 {
                used.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_has_permits_until_the_maximum() {
        let address = |text: &str| text.parse::<IpAddr>().expect("an address");
        let (limit, own, other) = (ClientLimit::new(2), address("192.0.2.1"), address("192.0.2.2"));
        let first = limit.permit(own).expect("the first permit");
        let second = limit.permit(address("::ffff:192.0.2.1")).expect("the second permit");
        assert!(limit.permit(own).is_none() && limit.permit(other).is_some());
        drop(first);
        assert!(limit.permit(own).is_some());
        drop(second);
        assert!(
            limit.used.lock().expect("no panic").is_empty(),
            "an address without permits needs no memory"
        );
    }
}
