//! The system's resolver.

use std::net::SocketAddr;

use crate::{Code, Error, Phase};

/// The addresses of a name, in the resolver's order; at least one.
pub(super) async fn look_up(name: &str, port: u16) -> Result<Vec<SocketAddr>, Error> {
    let failed = |error: std::io::Error| {
        let may_pass = says_it_may_pass(&error.to_string());
        let error = Error::io(Code::ResolveFailed, Phase::Resolve, name, error);
        if may_pass { error } else { error.lasting() }
    };
    let addresses: Vec<_> = tokio::net::lookup_host((name, port)).await.map_err(failed)?.collect();
    if addresses.is_empty() {
        return Err(Error::new(Code::ResolveFailed, Phase::Resolve, format!("{name} has no address")));
    }
    Ok(addresses)
}

/// Whether the resolver says EAI_AGAIN: std hands on its words, not its number.
fn says_it_may_pass(words: &str) -> bool {
    let words = words.to_ascii_lowercase();
    words.contains("temporary failure") || words.contains("try again")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_not_there_is_not_there_a_second_later() {
        let said = |words: &str| says_it_may_pass(&format!("failed to lookup address information: {words}"));
        assert!(said("Temporary failure in name resolution") && said("Try again"));
        assert!(!said("Name or service not known") && !said("No address associated with hostname"));
    }
}
