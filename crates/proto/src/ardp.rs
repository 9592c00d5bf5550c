//! ARDP, the Asynchronous Reliable Delivery Protocol that Prospero runs over UDP, version 0: a request in packets,
//! its answer in packets, each with a number, acknowledged and repeated. No socket and no clock: datagrams come in
//! and go out as octets, and time as what has passed since any beginning.

mod assembly;
mod exchange;
mod packet;

pub use exchange::{Exchange, Move};
