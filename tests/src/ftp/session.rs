//! One control connection of the FTP server: reads command lines, sends replies and carries out the rules.

use std::convert::Infallible;
use std::io::{Error, Result as IoResult};
use std::net::IpAddr;
use std::time::Duration;

use crate::ftp::data::{DataConnection, DataMode};
use crate::ftp::login::Login;
use crate::ftp::rule::FtpAction;
use crate::ftp::server::{FtpService, Tls, TlsStart};
use crate::ftp::tree::resolve;
use crate::server::plain_or_tls_connection::{Ending, PlainOrTlsConnection};
use crate::server::running_server::Shared;
use crate::server::tcp_connection::TcpConnection;
use crate::server::text::{repeated, replace_all, take_line, without_crlf};

/// The pause between two bytes of a split reply, so that they arrive separately.
const BETWEEN_BYTES: Duration = Duration::from_micros(100);
/// How long a server that drops pipelined commands waits for them.
const PIPELINE_WAIT: Duration = Duration::from_millis(3);
/// Maximum length of a command line.
const MAX_LINE: usize = 64 * 1024;
/// Commands that are allowed before login.
const BEFORE_LOGIN: [&str; 12] =
    ["USER", "PASS", "ACCT", "AUTH", "PBSZ", "PROT", "FEAT", "QUIT", "NOOP", "OPTS", "SYST", "HELP"];
/// Commands that would change files. All are refused.
const WRITING: [&str; 9] = ["STOR", "STOU", "APPE", "DELE", "MKD", "RMD", "RNFR", "RNTO", "SITE"];

/// A control connection.
pub(crate) struct Session<'a> {
    pub(crate) shared: &'a Shared<FtpService>,
    number: usize,
    /// `None` only while TLS starts.
    control: Option<PlainOrTlsConnection>,
    pub(crate) peer: IpAddr,
    /// Bytes that were read, but not executed yet.
    received: Vec<u8>,
    /// The actions of the rules for the current command.
    pub(crate) actions: Vec<FtpAction>,
    pub(crate) login: Login,
    pub(crate) is_tls: bool,
    pub(crate) working_directory: Vec<u8>,
    pub(crate) data: DataState,
}

/// The parameters of the next transfer.
#[derive(Default)]
pub(crate) struct DataState {
    pub(crate) mode: DataMode,
    /// The passive address that was named last, for [`FtpAction::ReplaceReply`].
    pub(crate) passive_address: Option<(IpAddr, u16)>,
    /// TYPE I.
    pub(crate) is_image: bool,
    /// PROT P.
    pub(crate) is_private: bool,
    /// After EPSV ALL.
    pub(crate) is_extended_only: bool,
    pub(crate) offset: u64,
    /// The previous connection. The client may still read from it.
    pub(crate) previous: Option<DataConnection>,
}

/// The end of a session.
pub(crate) struct Stop(pub(crate) Ending);

impl From<Error> for Stop {
    fn from(_: Error) -> Self {
        Self(Ending::Fin)
    }
}

impl<'a> Session<'a> {
    pub(crate) fn new(shared: &'a Shared<FtpService>, number: usize, wire: TcpConnection) -> IoResult<Self> {
        Ok(Self {
            shared,
            number,
            peer: wire.peer_addr()?.ip(),
            control: Some(PlainOrTlsConnection::Plain(wire)),
            received: Vec::new(),
            actions: Vec::new(),
            login: Login::None,
            is_tls: false,
            working_directory: shared.config.login_directory.clone(),
            data: DataState::default(),
        })
    }

    pub(crate) fn run(mut self) {
        let Err(Stop(ending)) = self.serve();
        drop(self.data);
        if let Some(control) = self.control {
            control.end(ending);
        }
    }

    fn serve(&mut self) -> Result<Infallible, Stop> {
        self.actions = self.shared.actions(None);
        // Rules for the greeting of an implicit server apply before TLS, in plaintext.
        let is_greeted = self.take_actions_before()?;
        if self.shared.tls.as_ref().is_some_and(|tls| tls.start == TlsStart::Implicit) {
            self.start_tls()?;
        }
        if is_greeted {
            self.greet()?;
        }
        self.take_actions_after()?;
        loop {
            let line = self.next_line()?;
            self.actions = self.shared.actions(Some(&line));
            if self.shared.config.behaviour.drops_pipelined {
                self.drop_received()?;
            }
            if self.take_actions_before()? {
                self.execute(&line)?;
            }
            self.take_actions_after()?;
        }
    }

    /// Sends the greeting. It is 230 if no login is needed, unless TLS will start with AUTH.
    fn greet(&mut self) -> Result<(), Stop> {
        let greeting = &self.shared.config.greeting;
        let awaits_auth = self.shared.tls.as_ref().is_some_and(|tls| tls.start != TlsStart::Implicit);
        if greeting.starts_with(b"230") && !awaits_auth {
            self.login = Login::Done;
        }
        self.reply(greeting)
    }

    /// Performs the actions before the command. Returns `true` if the command is executed.
    fn take_actions_before(&mut self) -> Result<bool, Stop> {
        let mut is_executed = true;
        for action in self.actions.clone() {
            match action {
                FtpAction::Answer(bytes) => {
                    is_executed = false;
                    self.send(&bytes)?;
                }
                FtpAction::Before(bytes) => self.send(&bytes)?,
                FtpAction::Flood(bytes, times) => {
                    for block in repeated(&bytes, times) {
                        self.send(&block)?;
                    }
                }
                FtpAction::Pause(length) => self.pause(length)?,
                FtpAction::End(ending) => return Err(Stop(ending)),
                _ => {}
            }
        }
        Ok(is_executed)
    }

    /// Performs the actions after the command, unless a reply has included them.
    fn take_actions_after(&mut self) -> Result<(), Stop> {
        let rest = self.take_bytes_after();
        self.send(&rest)
    }

    fn take_bytes_after(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        self.actions.retain(|action| match action {
            FtpAction::After(bytes) => {
                rest.extend_from_slice(bytes);
                false
            }
            _ => true,
        });
        rest
    }

    /// Sends the reply to a command, unless a rule replaces it.
    pub(crate) fn reply(&mut self, reply: impl AsRef<[u8]>) -> Result<(), Stop> {
        let template = self.actions.iter().find_map(|action| match action {
            FtpAction::ReplaceReply(bytes) => Some(bytes.clone()),
            _ => None,
        });
        let mut reply = match template {
            Some(template) => self.data.with_passive_address(&template),
            None => reply.as_ref().to_vec(),
        };
        reply.extend(self.take_bytes_after());
        self.send(&reply)
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        if bytes.is_empty() {
            return Ok(());
        }
        let behaviour = &self.shared.config.behaviour;
        self.pause(behaviour.delay)?;
        let split = behaviour.splits_replies.then_some((1, BETWEEN_BYTES));
        Ok(self.control()?.send_dripped(bytes, split)?)
    }

    pub(crate) fn pause(&mut self, length: Duration) -> Result<(), Stop> {
        Ok(self.control()?.pause(length)?)
    }

    /// Returns `true` if the client has sent something that was not executed.
    pub(crate) fn has_pending_command(&mut self) -> Result<bool, Stop> {
        Ok(!self.received.is_empty() || self.control()?.wire().has_pending())
    }

    pub(crate) fn control(&mut self) -> Result<&mut PlainOrTlsConnection, Stop> {
        self.control.as_mut().ok_or(Stop(Ending::Fin))
    }

    /// Starts TLS with the next byte. Data received in plaintext is discarded.
    pub(crate) fn start_tls(&mut self) -> Result<(), Stop> {
        let shared = self.shared;
        let Some(Tls { control: config, .. }) = &shared.tls else { return Err(Stop(Ending::Fin)) };
        let plain = self.control.take().ok_or(Stop(Ending::Fin))?;
        self.control = Some(plain.start_tls(config)?);
        self.received.clear();
        self.is_tls = true;
        Ok(())
    }

    /// Reads and logs the next command line.
    fn next_line(&mut self) -> Result<Vec<u8>, Stop> {
        loop {
            if let Some(line) = take_line(&mut self.received).map(without_crlf) {
                self.shared.record_request(self.number, line.clone());
                return Ok(line);
            }
            let bytes = self.control()?.receive()?;
            if bytes.is_empty() || self.received.len() > MAX_LINE {
                return Err(Stop(Ending::Close));
            }
            self.received.extend_from_slice(&bytes);
        }
    }

    fn drop_received(&mut self) -> Result<(), Stop> {
        self.pause(PIPELINE_WAIT)?;
        while !self.is_tls && self.control()?.wire().has_pending() {
            if self.control()?.receive()?.is_empty() {
                break;
            }
        }
        self.received.clear();
        Ok(())
    }

    fn execute(&mut self, line: &[u8]) -> Result<(), Stop> {
        let line = self.telnet_decoded(line);
        let (verb, argument) = match line.iter().position(|byte| *byte == b' ') {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line.as_slice(), &b""[..]),
        };
        let verb = String::from_utf8_lossy(verb).to_ascii_uppercase();
        if self.shared.config.unknown_commands.contains(&verb) {
            return self.reply("500 Unknown command.\r\n");
        }
        if !self.login.is_done() && !BEFORE_LOGIN.contains(&verb.as_str()) {
            return self.reply("530 Please login with USER and PASS.\r\n");
        }
        self.dispatch(&verb, argument)
    }

    /// Removes Telnet signals from the start of a line and, if configured, reads 0xFF 0xFF as one 0xFF.
    fn telnet_decoded(&self, line: &[u8]) -> Vec<u8> {
        let mut line = line;
        while let [0xff, 0xf0..=0xfe, rest @ ..] = line {
            line = rest;
        }
        let mut decoded = Vec::with_capacity(line.len());
        let mut bytes = line.iter().copied().peekable();
        while let Some(byte) = bytes.next() {
            decoded.push(byte);
            if self.shared.config.behaviour.unescapes_telnet && byte == 0xff {
                bytes.next_if_eq(&0xff);
            }
        }
        decoded
    }

    fn dispatch(&mut self, verb: &str, argument: &[u8]) -> Result<(), Stop> {
        match verb {
            "USER" => self.user(argument),
            "PASS" => self.pass(argument),
            "ACCT" => self.acct(argument),
            "AUTH" => self.auth(argument),
            "PBSZ" => self.pbsz(),
            "PROT" => self.prot(argument),
            "CWD" => self.cwd(argument),
            "CDUP" => self.cwd(b".."),
            "PWD" | "XPWD" => self.pwd(),
            "TYPE" => self.set_type(argument),
            "MODE" | "STRU" => self.set_mode_or_structure(verb, argument),
            "REST" => self.rest(argument),
            "SIZE" => self.size(argument),
            "MDTM" => self.mdtm(argument),
            "PASV" => self.pasv(),
            "EPSV" => self.epsv(argument),
            "PORT" => self.port(argument),
            "EPRT" => self.eprt(argument),
            "RETR" => self.retr(argument),
            "NLST" | "LIST" | "MLSD" => self.list(verb, argument),
            "MLST" => self.mlst(argument),
            "STAT" => self.stat(argument),
            "FEAT" => self.feat(),
            "OPTS" => self.opts(argument),
            "ABOR" => self.reply("226 Nothing to abort.\r\n"),
            "NOOP" => self.reply("200 NOOP ok.\r\n"),
            "SYST" => self.reply("215 UNIX Type: L8\r\n"),
            "HELP" => self.reply("214 RFC 959, 2428, 3659, 4217.\r\n"),
            "ALLO" => self.reply("202 ALLO is not needed.\r\n"),
            "QUIT" => self.reply("221 Goodbye.\r\n").and(Err(Stop(Ending::Close))),
            verb if WRITING.contains(&verb) => self.reply("550 Permission denied.\r\n"),
            _ => self.reply("500 Unknown command.\r\n"),
        }
    }

    /// Resolves a path of the client against the working directory.
    pub(crate) fn path(&self, name: &[u8]) -> Vec<u8> {
        resolve(&self.working_directory, name)
    }
}

impl DataState {
    /// Replaces the placeholders of a reply by the passive address.
    fn with_passive_address(&self, template: &[u8]) -> Vec<u8> {
        let Some((ip, port)) = self.passive_address else { return template.to_vec() };
        let values = [
            (&b"{port}"[..], port.to_string()),
            (b"{high}", (port >> 8).to_string()),
            (b"{low}", (port & 0xff).to_string()),
            (b"{host}", ip.to_string().replace('.', ",")),
        ];
        values
            .iter()
            .fold(template.to_vec(), |text, (name, value)| replace_all(&text, name, value.as_bytes()))
    }
}
