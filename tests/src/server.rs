//! The frame that all scripted servers share: listening, connections, rules, the request log and shutdown.

pub(crate) mod listener;
pub(crate) mod plain_or_tls_connection;
pub(crate) mod rule;
pub(crate) mod running_server;
pub(crate) mod tcp_connection;
pub(crate) mod text;
