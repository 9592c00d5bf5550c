//! Options of the telnet driver.

/// Opens the interactive session instead of returning advice: an extra of [`Request`](crate::Request), added by
/// [`Request::open_session`](crate::Request::open_session).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Connect {}
