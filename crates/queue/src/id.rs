//! The identity of a queue.

use fetch_url::{Code, Error, Phase};

#[cfg(feature = "aws-lc-rs")]
use aws_lc_rs::rand as provider;
#[cfg(not(feature = "aws-lc-rs"))]
use ring::rand as provider;

use provider::{SecureRandom as _, SystemRandom};

/// Returns a random identity of 12 letters and digits. It is short because it is a part of each subject, which the server
/// keeps in memory.
pub(crate) fn new_id() -> Result<String, Error> {
    let mut bytes = [0; 6];
    SystemRandom::new().fill(&mut bytes).map_err(|_| {
        Error::new(
            Code::Internal,
            Phase::Plan,
            "the system has no random numbers for the identity of the queue",
        )
    })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
