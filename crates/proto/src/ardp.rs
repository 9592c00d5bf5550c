//! ARDP version 0, the Asynchronous Reliable Delivery Protocol that carries Prospero over UDP. Requests and
//! responses consist of numbered packets, which are acknowledged and retransmitted. This module does no I/O and
//! reads no clock: datagrams are byte strings, and times are durations since an arbitrary start.

mod assembly;
mod exchange;
mod packet;

pub use exchange::{Action, Exchange};
