//! What a session asks of whoever drives it, and what it is told.

use crate::ForbiddenOctet;
use crate::ftp::{Command, Verb};
use crate::text::Reply;

/// How many commands may be under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "these are all the paces")]
pub enum Pace {
    /// Each waits for the reply to the one before it, as RFC 959 §5.4 has it.
    OneByOne,
    /// Once the login is done, all that do not depend on a reply.
    #[default]
    Together,
    /// The login too, before the server has even greeted: where the way is long. A password that is a
    /// secret still waits until it is asked for.
    Ahead,
}

/// How the data connection is made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "these are all the ways")]
pub enum DataRoad {
    /// By the server, to an address of ours: the arguments of EPRT and PORT.
    Active {
        /// EPRT's, unless it is not to be used.
        extended: Option<String>,
        /// PORT's, where the address is one of IPv4.
        plain: Option<String>,
    },
    /// It is being made already.
    Begun,
    /// By us: EPSV, then PASV.
    Passive,
    /// By us: PASV alone.
    PassiveV4,
}

/// What to do next.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
#[allow(clippy::exhaustive_enums, reason = "whoever drives a session must know every step")]
pub enum Step {
    /// A password: [`super::Session::password`] takes it.
    AskPassword,
    /// The errand is done, and the server has said so.
    Done,
    /// Wait for the next reply and hand it in.
    Hear,
    /// Everything before the transfer is known: [`super::Session::transfer`] or another errand comes next.
    Ready,
    /// The server sends on the data connection; its end goes to [`super::Session::next`] as no reply.
    Receive,
    /// These go out, in one piece.
    Say(Vec<Command>),
}

/// Why a session cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "whoever drives a session must know every fault")]
pub enum Fault {
    /// The server wants an account, and none is known.
    AccountNeeded(Reply),
    /// The transfer ended, and the server says that it is not whole.
    Broken(Reply),
    /// The server is about to close the connection (421).
    Closing(Reply),
    /// A decoded octet would have changed what is said.
    Forbidden(ForbiddenOctet),
    /// The directory cannot be reached from where the session is: nothing was said.
    OutOfReach,
    /// No reply that the protocol allows here.
    OutOfStep {
        /// What it would have been the reply to; the greeting has no command.
        asked: Option<Verb>,
        /// What came.
        reply: Reply,
    },
    /// Refused.
    Refused {
        /// What; the greeting has no command.
        asked: Option<Command>,
        /// It was the way back to where the login led: elsewhere there may be another.
        is_way_home: bool,
        /// Why.
        reply: Reply,
    },
}

impl From<ForbiddenOctet> for Fault {
    fn from(forbidden: ForbiddenOctet) -> Self {
        Self::Forbidden(forbidden)
    }
}
