//! What went wrong at an FTP server, in everybody's words.

use fetch_url_proto::ftp::{Command, Fault, Verb};
use fetch_url_proto::text::Reply;

use super::line::Trouble;
use crate::{Code, Error, Phase};

/// The error that a trouble is, when nothing else can be done about it.
pub(super) fn error(trouble: Trouble) -> Error {
    match trouble {
        Trouble::Lost(error) | Trouble::NoData(error) => error,
        Trouble::Silent => Error::new(Code::TimedOut, Phase::Reply, "no reply to several commands"),
        Trouble::Fault(fault) => of_fault(fault),
    }
}

fn of_fault(fault: Fault) -> Error {
    let error =
        |code, phase, detail: &str, reply: &Reply| Error::new(code, phase, detail).with_reply(&words(reply));
    match fault {
        Fault::AccountNeeded(reply) => {
            let error = error(Code::AuthNeeded, Phase::Request, "the server wants an account", &reply);
            error.with_hint("--ftp-account ACCOUNT names it")
        }
        Fault::Broken(reply) => error(Code::Truncated, Phase::Body, "the server broke off", &reply),
        Fault::Closing(reply) => error(Code::Busy, Phase::Request, "", &reply),
        Fault::Forbidden(octet) => octet.into(),
        Fault::OutOfReach => {
            Error::new(Code::Internal, Phase::Plan, "a connection that cannot reach the directory was taken")
        }
        Fault::OutOfStep { asked, reply } => {
            let detail = match asked {
                Some(verb) => format!("no reply to {}", verb.word()),
                None => "no greeting".to_owned(),
            };
            error(Code::PeerMisbehaved, Phase::Reply, &detail, &reply)
        }
        Fault::Refused { asked, reply, .. } => refused(asked.as_ref(), &reply),
    }
}

/// A server that does not greet.
pub(super) fn of_greeting(reply: Reply) -> Error {
    match reply.code {
        400..=599 => refused(None, &reply),
        _ => of_fault(Fault::OutOfStep { asked: None, reply }),
    }
}

fn refused(command: Option<&Command>, reply: &Reply) -> Error {
    let asked = command.map(Command::verb);
    let is_null_cwd = asked == Some(Verb::Cwd) && command.and_then(Command::argument) == Some(b"");
    let code = code(asked, reply.code);
    let phase = if code == Code::TlsFailed { Phase::Tls } else { Phase::Request };
    let error = Error::new(code, phase, detail(asked)).with_reply(&words(reply));
    let error = if reply.code / 100 == 4 || reply.code == 120 { error.passing() } else { error };
    match (asked, code) {
        _ if is_null_cwd => error.with_hint(
            "an empty path segment is a CWD without an argument (RFC 1738 §3.2.2); /%2F is the root directory",
        ),
        (Some(Verb::User | Verb::Pass), Code::AuthNeeded) => error.lasting(),
        _ => error,
    }
}

/// RFC 959 §4.2.2, RFC 4217 §12, RFC 2228 §6.
fn code(asked: Option<Verb>, reply: u16) -> Code {
    match (asked, reply) {
        (None, 120 | 400..=499) => Code::Busy,
        (Some(Verb::Pbsz | Verb::Prot), _) | (_, 431 | 522 | 533..=535) => Code::TlsFailed,
        (Some(Verb::User | Verb::Pass | Verb::Acct), 430 | 500..=599) | (_, 532) => Code::AuthNeeded,
        (Some(Verb::Type), 500..=599) => Code::Unsupported,
        (_, 425) => Code::ConnectFailed,
        (_, 426) => Code::Truncated,
        (_, 400..=499) => Code::Busy,
        (_, 550) => Code::NotFound,
        _ => Code::Denied,
    }
}

fn detail(asked: Option<Verb>) -> String {
    match asked {
        Some(verb) => verb.word().to_owned(),
        None => String::new(),
    }
}

/// The code and the last line: the ones before it may be a poem.
pub(super) fn words(reply: &Reply) -> Vec<u8> {
    let text = reply.lines.last().map(|line| line.to_vec()).unwrap_or_default();
    [format!("{} ", reply.code).as_bytes(), &text].concat()
}
