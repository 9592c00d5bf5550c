//! ARDP, the datagram protocol below Prospero (RFC 1738 §3.11).

mod exchange;
mod lossy_link;
mod packets;
mod virtual_time;
