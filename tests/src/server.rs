//! The frame that all scripted servers share: listening, connections, rules, the request log and shutdown.

pub(crate) mod channel;
pub(crate) mod listener;
pub(crate) mod rule;
pub(crate) mod running_server;
pub(crate) mod text;
pub(crate) mod wire;
