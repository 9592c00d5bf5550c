//! FTP (RFC 959, RFC 1738 §3.2) without a connection: commands, requests, and the state of a session.
//!
//! An [`FtpRequest`] states where an object is and what to do with it. A [`Session`] returns the commands to send and
//! interprets the replies. The body of a listing is parsed by [`crate::ftp_list`].

mod command;
mod file_metadata;
mod port;
mod request;
mod session;

pub use command::{Command, IacEscaping, Verb};
pub use file_metadata::{FileMetadata, ModifiedTime};
pub use port::port_argument;
pub use request::{CwdMethod, FtpRequest, ListVerb, Operation, RequestOptions, TransferType};
pub use session::{DataMode, Login, Pipelining, Session, SessionError, SessionStep};
