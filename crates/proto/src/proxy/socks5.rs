//! SOCKS 5 (RFC 1928) with the login of RFC 1929.

use bytes::Bytes;
use fetch_url_core::Host;

use super::destination::{InvalidDestination, MAX_TEXT, name_bytes};
use super::{ProxyLogin, Refusal, take_exactly};
use crate::{Machine, RecvBuffer, Step, WireError};

const VERSION: u8 = 5;
/// The version number of the login (RFC 1929 §2).
const LOGIN_VERSION: u8 = 1;
/// Methods (RFC 1928 §3).
const NO_LOGIN: u8 = 0;
const USER_AND_PASSWORD: u8 = 2;
const NO_ACCEPTABLE_METHOD: u8 = 0xff;
/// The command CONNECT (RFC 1928 §4).
const CONNECT: u8 = 1;
/// Address types (RFC 1928 §5).
const IPV4: u8 = 1;
const NAME: u8 = 3;
const IPV6: u8 = 4;
const SUCCEEDED: u8 = 0;

/// The exchange with a SOCKS 5 proxy, a [`Machine`] without I/O.
#[derive(Debug)]
pub struct Socks5 {
    /// The message of the login, if the caller has one.
    login: Option<Secret>,
    request: Bytes,
    state: State,
    refusal: Option<Refusal>,
}

/// A message with a password. `Debug` does not show it.
struct Secret(Bytes);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

#[derive(Clone, Copy, Debug)]
enum State {
    Start,
    /// Waits for the selected method.
    Method,
    /// Waits for the reply to the login.
    Login,
    /// Waits for the first bytes of the reply to the request: version, code, reserved, address type.
    Reply,
    /// Waits for the length of the bound name.
    NameLength,
    /// Waits for this number of bytes: the bound address and port.
    BoundAddress(usize),
    Done,
}

impl Socks5 {
    /// Creates a request for a tunnel to `port` at `host`. The proxy resolves a host name. The login is sent only if
    /// the proxy selects it.
    ///
    /// # Errors
    /// [`InvalidDestination`] if SOCKS 5 cannot send the host or the login.
    pub fn new(host: &Host<'_>, port: u16, login: Option<&ProxyLogin>) -> Result<Self, InvalidDestination> {
        let mut request = vec![VERSION, CONNECT, 0];
        match (name_bytes(host)?, host) {
            (Some(name), _) => {
                request.push(NAME);
                push_counted(&mut request, name).ok_or(InvalidDestination::Name)?;
            }
            (None, Host::V4(address)) => {
                request.push(IPV4);
                request.extend_from_slice(&address.octets());
            }
            (None, Host::V6(address)) => {
                request.push(IPV6);
                request.extend_from_slice(&address.octets());
            }
            (None, Host::Name(_) | Host::V6Zone(..)) => return Err(InvalidDestination::Zone),
        }
        request.extend_from_slice(&port.to_be_bytes());
        let login = login.map(login_message).transpose()?;
        Ok(Self { login, request: request.into(), state: State::Start, refusal: None })
    }

    /// Returns the refusal of the proxy; `None` if the tunnel is open.
    pub const fn refusal(&self) -> Option<&Refusal> {
        self.refusal.as_ref()
    }

    fn send_methods(&mut self) -> Step {
        self.state = State::Method;
        let methods: &'static [u8] = match self.login {
            Some(_) => &[VERSION, 2, NO_LOGIN, USER_AND_PASSWORD],
            None => &[VERSION, 1, NO_LOGIN],
        };
        Step::Send(Bytes::from_static(methods))
    }

    fn read_method(&mut self, method: u8) -> Result<Step, WireError> {
        match (method, &self.login) {
            (NO_LOGIN, _) => Ok(self.send_request()),
            (USER_AND_PASSWORD, Some(login)) => {
                self.state = State::Login;
                Ok(Step::Send(login.0.clone()))
            }
            (NO_ACCEPTABLE_METHOD, Some(_)) => Ok(self.refuse(Refusal::LoginRejected)),
            (NO_ACCEPTABLE_METHOD, None) => Ok(self.refuse(Refusal::LoginRequired)),
            _ => Err(unexpected("a SOCKS 5 method that was offered", &[VERSION, method])),
        }
    }

    fn send_request(&mut self) -> Step {
        self.state = State::Reply;
        Step::Send(self.request.clone())
    }

    fn refuse(&mut self, refusal: Refusal) -> Step {
        self.refusal = Some(refusal);
        self.state = State::Done;
        Step::Done
    }

    fn read_reply(&mut self, reply: &[u8]) -> Result<Step, WireError> {
        self.state = match reply {
            [_, SUCCEEDED, _, IPV4] => State::BoundAddress(4 + 2),
            [_, SUCCEEDED, _, IPV6] => State::BoundAddress(16 + 2),
            [_, SUCCEEDED, _, NAME] => State::NameLength,
            [_, SUCCEEDED, ..] => return Err(unexpected("a SOCKS 5 address type", reply)),
            // The address is not read: some proxies close without it.
            [_, code, ..] => return Ok(self.refuse(Refusal::Socks5(*code))),
            _ => return Err(unexpected("a SOCKS 5 reply", reply)),
        };
        Ok(Step::NeedMore)
    }

    /// Returns the number of bytes of the next message, and its name for errors.
    const fn expected(&self) -> (usize, &'static str) {
        match self.state {
            State::Start | State::Done => (0, "the SOCKS 5 exchange"),
            State::Method => (2, "the selection of a SOCKS 5 method"),
            State::Login => (2, "the SOCKS 5 reply to the login"),
            State::Reply => (4, "the SOCKS 5 reply"),
            State::NameLength => (1, "the SOCKS 5 reply"),
            State::BoundAddress(length) => (length, "the SOCKS 5 reply"),
        }
    }

    /// Checks the version number, the first byte of most messages, before the rest has arrived.
    fn check_version(&self, received: &[u8]) -> Result<(), WireError> {
        let (_, what) = self.expected();
        let is_valid = match (self.state, received.first()) {
            (State::Method | State::Reply, Some(&version)) => version == VERSION,
            // Some proxies send the version of SOCKS instead of that of the login.
            (State::Login, Some(&version)) => matches!(version, LOGIN_VERSION | VERSION),
            _ => true,
        };
        if is_valid { Ok(()) } else { Err(unexpected(what, received)) }
    }
}

impl Machine for Socks5 {
    fn step(&mut self, buffer: &mut RecvBuffer) -> Result<Step, WireError> {
        loop {
            self.check_version(buffer.bytes())?;
            let (length, what) = self.expected();
            let Some(message) = take_exactly(buffer, length, what)? else { return Ok(Step::NeedMore) };
            let step = match (self.state, &message[..]) {
                (State::Start, _) => self.send_methods(),
                (State::Method, [_, method]) => self.read_method(*method)?,
                (State::Login, [_, SUCCEEDED]) => self.send_request(),
                (State::Login, _) => self.refuse(Refusal::LoginRejected),
                (State::Reply, reply) => self.read_reply(reply)?,
                (State::NameLength, [length]) => {
                    self.state = State::BoundAddress(usize::from(*length) + 2);
                    Step::NeedMore
                }
                (State::BoundAddress(_) | State::Done, _) => {
                    self.state = State::Done;
                    Step::Done
                }
                (_, other) => return Err(unexpected(what, other)),
            };
            if step != Step::NeedMore {
                return Ok(step);
            }
        }
    }

    fn may_echo_secrets(&self) -> bool {
        true
    }
}

/// Returns the message of the login (RFC 1929 §2).
fn login_message(login: &ProxyLogin) -> Result<Secret, InvalidDestination> {
    let mut message = vec![LOGIN_VERSION];
    let pushed =
        push_counted(&mut message, &login.user).and_then(|()| push_counted(&mut message, &login.password));
    pushed.ok_or(InvalidDestination::Login)?;
    Ok(Secret(message.into()))
}

/// Appends a text after its length; `None` if it is longer than 255 bytes.
fn push_counted(message: &mut Vec<u8>, text: &[u8]) -> Option<()> {
    debug_assert!(MAX_TEXT == usize::from(u8::MAX));
    message.push(u8::try_from(text.len()).ok()?);
    message.extend_from_slice(text);
    Some(())
}

fn unexpected(what: &'static str, got: &[u8]) -> WireError {
    WireError::Unexpected { what, got: Bytes::copy_from_slice(&got[..got.len().min(MAX_TEXT)]) }
}
