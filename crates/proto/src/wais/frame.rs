//! Reads and writes messages with their header of 25 bytes.

use bytes::Bytes;

use crate::{RecvBuffer, WireError};

const HEADER_BYTES: usize = 25;
/// Length of the message length field, in digits.
const LENGTH_DIGITS: usize = 10;

/// Returns the message with its header.
pub(super) fn framed(message: &[u8]) -> Bytes {
    let header = format!("{:010}z2wais        0", message.len());
    [header.as_bytes(), message].concat().into()
}

/// Returns the next message, or `None` if it is incomplete.
///
/// # Errors
/// [`WireError`] if the header is invalid, the message is compressed or longer than `max_length` bytes, or the input
/// ended.
pub(super) fn read(buffer: &mut RecvBuffer, max_length: usize) -> Result<Option<Bytes>, WireError> {
    let Some(header) = buffer.bytes().get(..HEADER_BYTES) else { return wait(buffer) };
    let length = length(header, max_length)?;
    if buffer.bytes().len() < HEADER_BYTES + length {
        return wait(buffer);
    }
    buffer.skip(HEADER_BYTES);
    Ok(Some(buffer.take(length)))
}

/// Returns the length of the next message as soon as its header has arrived, or `None` before.
///
/// # Errors
/// As for [`read`].
pub(super) fn announced_length(buffer: &RecvBuffer, max_length: usize) -> Result<Option<usize>, WireError> {
    buffer.bytes().get(..HEADER_BYTES).map(|header| length(header, max_length)).transpose()
}

/// Checks that nothing was received before a request was sent.
///
/// # Errors
/// [`WireError::Unexpected`] if there is input.
pub(super) fn check_no_input(buffer: &RecvBuffer) -> Result<(), WireError> {
    if buffer.bytes().is_empty() {
        return Ok(());
    }
    let got = buffer.bytes().get(..buffer.bytes().len().min(HEADER_BYTES)).unwrap_or_default();
    Err(WireError::Unexpected { what: "the requested response", got: Bytes::copy_from_slice(got) })
}

fn wait(buffer: &RecvBuffer) -> Result<Option<Bytes>, WireError> {
    if buffer.is_ended() { Err(WireError::UnexpectedEnd { what: "the response" }) } else { Ok(None) }
}

fn length(header: &[u8], max_length: usize) -> Result<usize, WireError> {
    let unexpected = || WireError::Unexpected {
        what: "the header of a WAIS response",
        got: Bytes::copy_from_slice(header),
    };
    let (digits, rest) = header.split_at_checked(LENGTH_DIGITS).ok_or_else(unexpected)?;
    if !digits.iter().all(u8::is_ascii_digit) || !matches!(rest.first(), Some(b'z' | b'Z')) {
        return Err(unexpected());
    }
    // The server name is ignored; the field after it shows whether the message is compressed.
    if rest.get(12..14) != Some(b"  ") {
        return Err(unexpected());
    }
    let length = digits.iter().fold(0_u64, |length, digit| length * 10 + u64::from(digit - b'0'));
    let Some(length) = usize::try_from(length).ok().filter(|length| *length <= max_length) else {
        return Err(WireError::LimitExceeded { quantity: "bytes in a response", max: max_length });
    };
    Ok(length)
}
