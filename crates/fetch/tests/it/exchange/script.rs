//! The input of a target as a script: what the server does on each connection.
//!
//! The first byte selects the request. Then follow steps: a byte whose last three bits are the kind, and for the kinds that
//! send, the number of bytes in another byte, and the bytes; for a pause, its length in another byte. `{port}`, `{pasv}` and `{main}` in them are replaced by the
//! port of the second listener, its address as PASV reports it, and the port of the first listener.

use std::time::Duration;

/// One step of a connection.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// Wait for bytes of the client, then send.
    SendAfterBytes(Vec<u8>),
    /// Wait for a line of the client, then send.
    SendAfterLine(Vec<u8>),
    Send(Vec<u8>),
    /// Do nothing for this time. The client may close the connection meanwhile.
    Pause(Duration),
    /// Close both directions; FIN.
    Close,
    /// RST.
    Reset,
}

/// The actions of the server: the steps of each connection to the first listener, and to the second one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Script {
    pub(super) choice: u8,
    pub(super) first: Vec<Vec<Step>>,
    pub(super) second: Vec<Vec<Step>>,
}

impl Script {
    /// Reads a script. Every input is one.
    pub(super) fn from_bytes(data: &[u8]) -> Self {
        let (mut script, mut is_second) = (Self::default(), false);
        let Some((&choice, mut rest)) = data.split_first() else { return script };
        script.choice = choice;
        script.first.push(Vec::new());
        while let Some((&kind, after)) = rest.split_first() {
            rest = after;
            let connections = if is_second { &mut script.second } else { &mut script.first };
            let Some(steps) = connections.last_mut() else { return script };
            match kind & 7 {
                0 => steps.push(Step::SendAfterBytes(take_bytes(&mut rest))),
                2 => steps.push(Step::Pause(take_time(&mut rest))),
                1 => steps.push(Step::SendAfterLine(take_bytes(&mut rest))),
                3 => steps.push(Step::Send(take_bytes(&mut rest))),
                4 => steps.push(Step::Close),
                5 => steps.push(Step::Reset),
                kind => {
                    is_second = kind == 7;
                    let connections = if is_second { &mut script.second } else { &mut script.first };
                    connections.push(Vec::new());
                }
            }
        }
        script
    }
}

/// Takes a time in units of 100 ms.
fn take_time(rest: &mut &[u8]) -> Duration {
    let Some((&tenths, after)) = rest.split_first() else { return Duration::ZERO };
    *rest = after;
    Duration::from_millis(100) * u32::from(tenths)
}

/// Takes a length and as many bytes, or all if there are fewer.
fn take_bytes(rest: &mut &[u8]) -> Vec<u8> {
    let Some((&length, after)) = rest.split_first() else { return Vec::new() };
    let (bytes, after) = after.split_at(usize::from(length).min(after.len()));
    *rest = after;
    bytes.to_vec()
}
