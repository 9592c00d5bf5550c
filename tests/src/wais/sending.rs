//! The answer of a WAIS server on its way: header, APDU, and what the rules make of both.

use std::io::Result;
use std::time::Duration;

use crate::channel::Channel;
use crate::ftp::rule::Ending;
use crate::wais::answer::Answer;
use crate::wais::rule::WaisAct;

/// As much as a flood has in one write.
const BLOCK: usize = 64 * 1024;

/// All octets of an answer.
pub(crate) struct Sending<'a> {
    acts: &'a [WaisAct],
    octets: Vec<u8>,
    /// How it ends early.
    cut: Option<Ending>,
}

impl<'a> Sending<'a> {
    /// To a request with this header; none when the server hangs up.
    pub(crate) fn new(acts: &'a [WaisAct], header: &[u8; 25], answer: Answer, room: u64) -> Option<Self> {
        let message = message(acts, header, answer, room)?;
        let mut octets = Vec::new();
        for act in acts {
            if let WaisAct::First(first) = act {
                octets.extend_from_slice(first);
            }
        }
        octets.extend_from_slice(&message);
        for act in acts {
            match act {
                WaisAct::Twice => octets.extend_from_slice(&message),
                WaisAct::Last(last) => octets.extend_from_slice(last),
                _ => {}
            }
        }
        let mut cut = None;
        for act in acts {
            if let WaisAct::Cut(at, ending) = act {
                octets.truncate(at.left(octets.len()));
                cut = Some(*ending);
            }
        }
        Some(Self { acts, octets, cut })
    }

    /// Sends it, tells of octets before they go, and says how the connection ends, if it does.
    pub(crate) fn send(self, channel: &mut Channel, note: impl Fn(u64)) -> Result<Option<Ending>> {
        let drip = self.acts.iter().find_map(|act| match act {
            WaisAct::Drip(octets, pause) => Some((*octets, *pause)),
            _ => None,
        });
        note(self.octets.len() as u64);
        match drip {
            Some((piece, pause)) => channel.send_pieces(&self.octets, piece, pause)?,
            None => channel.send_pieces(&self.octets, usize::MAX, Duration::ZERO)?,
        }
        if self.cut.is_some() {
            return Ok(self.cut);
        }
        let mut ending = None;
        for act in self.acts {
            match act {
                WaisAct::Flood(octets, times) => flood(channel, octets, *times, &note)?,
                WaisAct::End(end) => ending = Some(*end),
                _ => {}
            }
        }
        Ok(ending)
    }
}

/// The header and the APDU.
fn message(acts: &[WaisAct], header: &[u8; 25], answer: Answer, room: u64) -> Option<Vec<u8>> {
    let given = acts.iter().find_map(|act| match act {
        WaisAct::Answer(octets) => Some((octets.clone(), true)),
        WaisAct::Message(octets) => Some((octets.clone(), false)),
        WaisAct::Nothing => Some((Vec::new(), false)),
        _ => None,
    });
    let apdu = match (given, answer) {
        (Some((octets, true)), _) => return Some(octets),
        (Some((octets, false)), _) => octets,
        (None, Answer::HangUp) => return None,
        (None, Answer::Nothing) => Vec::new(),
        (None, Answer::Apdu(apdu)) if apdu.octets(&[]).len() as u64 > room => Vec::new(),
        (None, Answer::Apdu(mut apdu)) => {
            acts.iter().for_each(|act| apdu.change(act));
            apdu.octets(acts)
        }
    };
    Some([headed(acts, header, apdu.len()).as_slice(), &apdu].concat())
}

/// The header: the length, and what the request had, but compression, encoding and checksum.
fn headed(acts: &[WaisAct], header: &[u8; 25], length: usize) -> Vec<u8> {
    let by = acts.iter().map(|act| if let WaisAct::Length(by) = act { *by } else { 0 }).sum();
    let digits = format!("{:010}", (length as u64).saturating_add_signed(by));
    let mut octets = [digits.as_bytes(), &header[10..22], b"  0"].concat();
    for act in acts {
        match act {
            WaisAct::Digits(digits) => drop(octets.splice(..10.min(octets.len()), digits.iter().copied())),
            WaisAct::Header(at, other) => {
                let end = (at + other.len()).min(octets.len());
                drop(octets.splice((*at).min(end)..end, other.iter().copied()));
            }
            _ => {}
        }
    }
    octets
}

fn flood(channel: &mut Channel, octets: &[u8], times: u64, note: &impl Fn(u64)) -> Result<()> {
    let at_once = (BLOCK / octets.len().max(1)).max(1) as u64;
    let block = octets.repeat(usize::try_from(at_once.min(times)).unwrap_or(1));
    let mut left = times;
    while left > 0 {
        let now = left.min(at_once);
        note(now * octets.len() as u64);
        channel.send(&block[..octets.len() * usize::try_from(now).unwrap_or(1)])?;
        left -= now;
    }
    Ok(())
}
