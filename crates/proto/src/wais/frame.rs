//! The 25 octets in front of every message, and the message.

use bytes::Bytes;

use crate::{Inbox, WireError};

const HEADER_OCTETS: usize = 25;
/// How many of them are the length.
const LENGTH_DIGITS: usize = 10;
/// Real servers send at most 100,000 octets.
const MESSAGE_OCTETS: usize = 1024 * 1024;

/// A message with its header.
pub(super) fn framed(message: &[u8]) -> Bytes {
    let header = format!("{:010}z2wais        0", message.len());
    [header.as_bytes(), message].concat().into()
}

/// The next message, once it is whole.
///
/// # Errors
/// It is none, too long, compressed in a way that nobody uses, or the input ended.
pub(super) fn read(inbox: &mut Inbox) -> Result<Option<Bytes>, WireError> {
    let Some(header) = inbox.octets().get(..HEADER_OCTETS) else { return wait(inbox) };
    let length = length(header)?;
    if inbox.octets().len() < HEADER_OCTETS + length {
        return wait(inbox);
    }
    inbox.skip(HEADER_OCTETS);
    Ok(Some(inbox.take(length)))
}

/// Before something is asked for, there is no answer.
///
/// # Errors
/// Something came.
pub(super) fn check_silence(inbox: &Inbox) -> Result<(), WireError> {
    if inbox.octets().is_empty() {
        return Ok(());
    }
    let got = inbox.octets().get(..inbox.octets().len().min(HEADER_OCTETS)).unwrap_or_default();
    Err(WireError::Unexpected { what: "an answer that was asked for", got: Bytes::copy_from_slice(got) })
}

fn wait(inbox: &Inbox) -> Result<Option<Bytes>, WireError> {
    if inbox.is_ended() { Err(WireError::Cut { what: "the answer" }) } else { Ok(None) }
}

fn length(header: &[u8]) -> Result<usize, WireError> {
    let unexpected = || WireError::Unexpected {
        what: "the header of an answer of WAIS",
        got: Bytes::copy_from_slice(header),
    };
    let (digits, rest) = header.split_at_checked(LENGTH_DIGITS).ok_or_else(unexpected)?;
    if !digits.iter().all(u8::is_ascii_digit) || !matches!(rest.first(), Some(b'z' | b'Z')) {
        return Err(unexpected());
    }
    // The name of the server does not matter; what stands behind it says whether the message is as it should be.
    if rest.get(12..14) != Some(b"  ") {
        return Err(unexpected());
    }
    let length = digits.iter().fold(0_u64, |length, digit| length * 10 + u64::from(digit - b'0'));
    let Some(length) = usize::try_from(length).ok().filter(|length| *length <= MESSAGE_OCTETS) else {
        return Err(WireError::Limit { limit: "the length of an answer", most: MESSAGE_OCTETS });
    };
    Ok(length)
}
