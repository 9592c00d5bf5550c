//! Conversions between [`Error`] and [`std::io::Error`].

use std::io::{self, ErrorKind};

use super::{Code, Error, Phase};

impl From<Error> for io::Error {
    /// Keeps the error as the inner error; the kind is derived from the code, or from the I/O error that
    /// caused it.
    fn from(error: Error) -> Self {
        let kind = error.io_kind().unwrap_or_else(|| kind_of(error.code()));
        Self::new(kind, error)
    }
}

impl From<io::Error> for Error {
    /// Converts a read or write error of a connection, for drivers. An [`Error`] inside `error` is returned unchanged.
    fn from(error: io::Error) -> Self {
        if error.get_ref().is_some_and(|inner| inner.is::<Self>()) {
            let inner = error.into_inner().and_then(|inner| inner.downcast::<Self>().ok());
            return inner.map_or_else(|| Self::new(Code::Internal, Phase::Request, ""), |inner| *inner);
        }
        let (code, phase) = match error.kind() {
            ErrorKind::ConnectionRefused
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
            | ErrorKind::NotConnected => (Code::ConnectFailed, Phase::Connect),
            ErrorKind::NotFound => (Code::NotFound, Phase::Request),
            ErrorKind::PermissionDenied => (Code::Denied, Phase::Request),
            ErrorKind::StorageFull | ErrorKind::WriteZero | ErrorKind::ReadOnlyFilesystem => {
                (Code::SinkFailed, Phase::Deliver)
            }
            ErrorKind::TimedOut => (Code::TimedOut, Phase::Body),
            ErrorKind::BrokenPipe
            | ErrorKind::ConnectionAborted
            | ErrorKind::ConnectionReset
            | ErrorKind::UnexpectedEof => (Code::Truncated, Phase::Body),
            _ => (Code::Internal, Phase::Request),
        };
        Self::new(code, phase, error.to_string()).with_source(error)
    }
}

/// Returns the I/O error kind that corresponds best to `code`.
const fn kind_of(code: Code) -> ErrorKind {
    match code {
        Code::AuthNeeded | Code::Denied | Code::Policy => ErrorKind::PermissionDenied,
        Code::BadUrl | Code::ForbiddenByte | Code::Usage => ErrorKind::InvalidInput,
        Code::Busy => ErrorKind::ResourceBusy,
        Code::ChecksumMismatch | Code::PeerMisbehaved => ErrorKind::InvalidData,
        Code::ConnectFailed => ErrorKind::NotConnected,
        Code::EmptyReply | Code::Truncated => ErrorKind::UnexpectedEof,
        Code::LimitReached => ErrorKind::FileTooLarge,
        Code::NotFound => ErrorKind::NotFound,
        Code::TimedOut => ErrorKind::TimedOut,
        Code::Unsupported => ErrorKind::Unsupported,
        _ => ErrorKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn io_error_keeps_the_error_and_gets_a_kind() {
        let error = Error::new(Code::NotFound, Phase::Request, "x");
        let io = io::Error::from(error);
        assert_eq!(io.kind(), ErrorKind::NotFound);
        assert_eq!(Error::from(io).code(), Code::NotFound);
    }

    #[test]
    fn io_error_of_a_system_call_keeps_its_own_kind() {
        let source = io::Error::from(ErrorKind::ConnectionReset);
        let error = Error::io(Code::Truncated, Phase::Body, "reading", source);
        assert_eq!(io::Error::from(error).kind(), ErrorKind::ConnectionReset);
    }

    #[test]
    fn driver_error_from_io_gets_a_code() {
        for (kind, code) in [
            (ErrorKind::ConnectionRefused, Code::ConnectFailed),
            (ErrorKind::UnexpectedEof, Code::Truncated),
            (ErrorKind::TimedOut, Code::TimedOut),
            (ErrorKind::StorageFull, Code::SinkFailed),
        ] {
            assert_eq!(Error::from(io::Error::from(kind)).code(), code, "{kind:?}");
        }
    }
}
