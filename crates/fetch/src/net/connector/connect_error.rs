//! The error of a TCP connection that could not be opened, and whether another attempt can help.

use std::io::{self, ErrorKind};

use nix::errno::Errno;

use crate::net::route::{AddressFamily, Interface, Routes};
use crate::{Code, Error, Phase};

/// Returns the error for `what`, the peer that could not be reached. An interface or a family that this machine does not
/// have is not retried.
pub(super) fn connect_error(phase: Phase, what: &str, error: io::Error, routes: &Routes) -> Error {
    if lacks_descriptors(&error) {
        return no_descriptors_error(phase, what, error);
    }
    let no_device = Some(Errno::ENODEV as i32);
    let local = match (&routes.interface, error.kind()) {
        (Some(Interface::Device(name)), _) if error.raw_os_error() == no_device => {
            Some((format!("this machine has no network device {name}"), None))
        }
        (Some(Interface::Address(address)), ErrorKind::AddrNotAvailable) => {
            Some((format!("this machine does not have the address {address}"), None))
        }
        (_, ErrorKind::HostUnreachable) if routes.family == Some(AddressFamily::V6) => Some((
            format!("{what}: {error}; this machine may have no IPv6"),
            Some("without -6, IPv4 is used too"),
        )),
        (_, ErrorKind::NetworkUnreachable | ErrorKind::AddrNotAvailable) => match routes.family {
            Some(AddressFamily::V6) => Some((
                format!("{what}: this machine has no route for IPv6"),
                Some("without -6, IPv4 is used too"),
            )),
            Some(AddressFamily::V4) => Some((
                format!("{what}: this machine has no route for IPv4"),
                Some("without -4, IPv6 is used too"),
            )),
            None => None,
        },
        _ => None,
    };
    let Some((detail, hint)) = local else { return Error::io(Code::ConnectFailed, phase, what, error) };
    let error = Error::new(Code::ConnectFailed, phase, detail).with_source(error).as_permanent();
    match hint {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}

/// Returns `true` if the process or the machine has no free file descriptor.
pub(in crate::net) fn lacks_descriptors(error: &io::Error) -> bool {
    matches!(error.raw_os_error().map(Errno::from_raw), Some(Errno::EMFILE | Errno::ENFILE))
}

/// Returns the error for a connection for which there is no file descriptor. The server is not the cause.
pub(in crate::net) fn no_descriptors_error(phase: Phase, what: &str, error: io::Error) -> Error {
    let error = Error::io(Code::SinkFailed, phase, what, error).as_permanent();
    error.with_hint("raise the limit of open files with `ulimit -n`")
}
