//! Options of the file driver.

/// Allows the file driver to read FIFOs and devices: an extra of [`Request`](crate::Request), added by
/// [`Request::special_files`](crate::Request::special_files).
///
/// Without it they are refused with [`Code::Policy`](crate::Code::Policy), because a read may block forever or change
/// the state of a device.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct SpecialFiles {}
