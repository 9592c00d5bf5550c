//! The system's resolver.

use std::net::{SocketAddr, ToSocketAddrs as _};

use crate::{Code, Error, Phase, blocking_threads};

/// Returns the addresses of a host name in the resolver's order; at least one.
///
/// # Errors
/// `Code::ResolveFailed`, which is transient for EAI_AGAIN. `Code::SinkFailed` if no thread can be started.
pub(super) async fn resolve(name: &str, port: u16) -> Result<Vec<SocketAddr>, Error> {
    let failed = |error: std::io::Error| {
        let is_temporary = is_temporary_failure(&error.to_string());
        let error = Error::io(Code::ResolveFailed, Phase::Resolve, name, error);
        if is_temporary { error } else { error.as_permanent() }
    };
    let server = (name.to_owned(), port);
    // The system's resolver blocks, for longer than the deadline if its name servers do not reply.
    let lookup = blocking_threads::try_run(Phase::Resolve, move || server.to_socket_addrs())?;
    let addresses: Vec<_> = lookup.await?.map_err(failed)?.collect();
    if addresses.is_empty() {
        return Err(Error::new(Code::ResolveFailed, Phase::Resolve, format!("{name} has no address")));
    }
    Ok(addresses)
}

/// Returns `true` if the message is that of EAI_AGAIN: std returns the message of the resolver, but not its error code.
fn is_temporary_failure(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    message.contains("temporary failure") || message.contains("try again")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_temporary_resolver_failures_are_transient() {
        let is_temporary =
            |message: &str| is_temporary_failure(&format!("failed to lookup address information: {message}"));
        assert!(is_temporary("Temporary failure in name resolution") && is_temporary("Try again"));
        assert!(
            !is_temporary("Name or service not known")
                && !is_temporary("No address associated with hostname")
        );
    }
}
