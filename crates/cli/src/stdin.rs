//! Standard input as the data of an option. Only one option can read it: the next one would find it empty.

use std::io::{self, Stdin};
use std::sync::{Mutex, PoisonError};

use fetch_url::Error;

use crate::error::usage_error;

/// The option that reads standard input.
static READER: Mutex<Option<String>> = Mutex::new(None);

/// Returns standard input for `option`.
///
/// # Errors
/// `Code::Usage` if an option reads it already.
pub(crate) fn stdin_for(option: &str) -> Result<Stdin, Error> {
    let mut reader = READER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(first) = &*reader {
        return Err(usage_error(format!("{option}: standard input is read by {first} already")));
    }
    *reader = Some(option.to_owned());
    Ok(io::stdin())
}
