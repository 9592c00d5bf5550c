//! A response of the WAIS server as it is sent: header and APDU, changed by the rules.

use std::io::Result;
use std::time::Duration;

use crate::server::plain_or_tls_connection::{Ending, PlainOrTlsConnection};
use crate::server::text::repeated;
use crate::wais::answer::Answer;
use crate::wais::rule::WaisAction;

/// All bytes of a response.
pub(crate) struct Response<'a> {
    actions: &'a [WaisAction],
    bytes: Vec<u8>,
    /// The ending, if the response is cut.
    cut: Option<Ending>,
}

impl<'a> Response<'a> {
    /// Makes the response to a request with this header. Returns `None` if the server hangs up.
    pub(crate) fn new(
        actions: &'a [WaisAction],
        header: &[u8; 25],
        answer: Answer,
        max_apdu: u64,
    ) -> Option<Self> {
        let message = message(actions, header, answer, max_apdu)?;
        let mut bytes = Vec::new();
        for action in actions {
            if let WaisAction::Before(before) = action {
                bytes.extend_from_slice(before);
            }
        }
        bytes.extend_from_slice(&message);
        for action in actions {
            match action {
                WaisAction::Duplicate => bytes.extend_from_slice(&message),
                WaisAction::After(after) => bytes.extend_from_slice(after),
                _ => {}
            }
        }
        let mut cut = None;
        for action in actions {
            if let WaisAction::Cut(at, ending) = action {
                bytes.truncate(at.kept(bytes.len()));
                cut = Some(*ending);
            }
        }
        Some(Self { actions, bytes, cut })
    }

    /// Sends the response, and logs bytes before they are sent. Returns an ending if the connection ends then.
    pub(crate) fn send(
        self,
        channel: &mut PlainOrTlsConnection,
        log: impl Fn(usize),
    ) -> Result<Option<Ending>> {
        let drip = self.actions.iter().find_map(|action| match action {
            WaisAction::Drip(bytes, pause) => Some((*bytes, *pause)),
            _ => None,
        });
        log(self.bytes.len());
        let (size, pause) = drip.unwrap_or((usize::MAX, Duration::ZERO));
        channel.send_pieces(&self.bytes, size, pause)?;
        if self.cut.is_some() {
            return Ok(self.cut);
        }
        let mut ending = None;
        for action in self.actions {
            match action {
                WaisAction::Flood(bytes, times) => {
                    for block in repeated(bytes, *times) {
                        log(block.len());
                        channel.send(&block)?;
                    }
                }
                WaisAction::End(end) => ending = Some(*end),
                _ => {}
            }
        }
        Ok(ending)
    }
}

/// Returns header and APDU.
fn message(actions: &[WaisAction], header: &[u8; 25], answer: Answer, max_apdu: u64) -> Option<Vec<u8>> {
    for action in actions {
        if let WaisAction::Answer(bytes) = action {
            return Some(bytes.clone());
        }
    }
    let fixed_apdu = actions.iter().find_map(|action| match action {
        WaisAction::Apdu(bytes) => Some(bytes.clone()),
        WaisAction::EmptyMessage => Some(Vec::new()),
        _ => None,
    });
    let apdu = match (fixed_apdu, answer) {
        (Some(bytes), _) => bytes,
        (None, Answer::HangUp) => return None,
        (None, Answer::Empty) => Vec::new(),
        (None, Answer::Apdu(apdu)) if apdu.encode(&[]).len() as u64 > max_apdu => Vec::new(),
        (None, Answer::Apdu(mut apdu)) => {
            actions.iter().for_each(|action| apdu.change(action));
            apdu.encode(actions)
        }
    };
    Some([encoded_header(actions, header, apdu.len()).as_slice(), &apdu].concat())
}

/// Returns the header: the length, and the fields of the request without compression, encoding and checksum.
fn encoded_header(actions: &[WaisAction], header: &[u8; 25], length: usize) -> Vec<u8> {
    let offset = |action: &WaisAction| if let WaisAction::LengthOffset(by) = action { *by } else { 0 };
    let offset = actions.iter().map(offset).sum();
    let digits = format!("{:010}", (length as u64).saturating_add_signed(offset));
    let mut bytes = [digits.as_bytes(), &header[10..22], b"  0"].concat();
    for action in actions {
        match action {
            WaisAction::LengthDigits(digits) => {
                drop(bytes.splice(..10.min(bytes.len()), digits.iter().copied()));
            }
            WaisAction::PatchHeader(at, other) => {
                let end = (at + other.len()).min(bytes.len());
                drop(bytes.splice((*at).min(end)..end, other.iter().copied()));
            }
            _ => {}
        }
    }
    bytes
}
