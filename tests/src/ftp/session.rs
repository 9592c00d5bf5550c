//! One control connection of the FTP server: command lines in, replies out, and what the rules put between.

use std::convert::Infallible;
use std::io::{Error, Result as IoResult};
use std::net::{IpAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use crate::channel::{Channel, End};
use crate::ftp::data::{DataConnection, IDLE, Plan, reset_on_close};
use crate::ftp::login::Login;
use crate::ftp::rule::{Act, Ending};
use crate::ftp::server::{Begins, Shared, Tls};
use crate::ftp::tree::resolved;
use crate::wire::Wire;

/// Between two octets of a reply that is split, so that they arrive as two.
const BETWEEN_OCTETS: Duration = Duration::from_micros(100);
/// How long a server that forgets what came early listens for it.
const EARLY: Duration = Duration::from_millis(3);
/// The longest command line.
const LONGEST_LINE: usize = 64 * 1024;
/// As much of a flood as goes into one write.
const BLOCK: usize = 64 * 1024;
/// What may be asked before the login.
const BEFORE_LOGIN: [&str; 12] =
    ["USER", "PASS", "ACCT", "AUTH", "PBSZ", "PROT", "FEAT", "QUIT", "NOOP", "OPTS", "SYST", "HELP"];
/// Commands that change things, all refused.
const CHANGING: [&str; 9] = ["STOR", "STOU", "APPE", "DELE", "MKD", "RMD", "RNFR", "RNTO", "SITE"];

/// One control connection.
pub(crate) struct Session<'a> {
    pub(crate) shared: &'a Shared,
    number: usize,
    /// Absent only while TLS begins.
    control: Option<Channel>,
    socket: TcpStream,
    pub(crate) peer: IpAddr,
    inbox: Vec<u8>,
    /// What the rules say of the command at hand.
    pub(crate) acts: Vec<Act>,
    pub(crate) login: Login,
    pub(crate) is_secure: bool,
    pub(crate) cwd: Vec<u8>,
    pub(crate) data: DataState,
}

/// What the next transfer will be like.
#[derive(Default)]
pub(crate) struct DataState {
    pub(crate) plan: Plan,
    /// The port that was named last, for [`Act::Reword`].
    pub(crate) named: Option<(IpAddr, u16)>,
    pub(crate) is_image: bool,
    pub(crate) is_private: bool,
    pub(crate) extended_only: bool,
    pub(crate) offset: u64,
    /// The connection before, whose client may still read.
    pub(crate) last: Option<DataConnection>,
}

/// The end of a session.
pub(crate) struct Stop(pub(crate) Ending);

impl From<Error> for Stop {
    fn from(_: Error) -> Self {
        Self(Ending::Fin)
    }
}

impl<'a> Session<'a> {
    pub(crate) fn new(shared: &'a Shared, number: usize, stream: TcpStream) -> IoResult<Self> {
        let (socket, peer) = (stream.try_clone()?, stream.peer_addr()?.ip());
        let wire = Wire::new(stream, Arc::clone(&shared.stop), IDLE)?;
        Ok(Self {
            shared,
            number,
            control: Some(Channel::Plain(wire)),
            socket,
            peer,
            inbox: Vec::new(),
            acts: Vec::new(),
            login: Login::Out,
            is_secure: false,
            cwd: shared.site.home.clone(),
            data: DataState::default(),
        })
    }

    pub(crate) fn run(mut self) {
        let Err(Stop(ending)) = self.talk();
        let end = match ending {
            Ending::Close => End::Close,
            Ending::Fin => End::Fin,
            Ending::Stall(length) => match self.pause(length) {
                Ok(()) => End::Close,
                Err(_) => End::Fin,
            },
            Ending::Reset => {
                let _ = self.pause(Duration::from_millis(15));
                let _ = reset_on_close(&self.socket);
                return;
            }
        };
        drop(self.data);
        if let Some(control) = self.control {
            control.end(end);
        }
    }

    fn talk(&mut self) -> Result<Infallible, Stop> {
        self.acts = self.shared.acts(None);
        // A rule for the greeting of an implicit server speaks in clear: no TLS begins.
        let greets = self.begin()?;
        if self.shared.tls.as_ref().is_some_and(|tls| tls.begins == Begins::AtOnce) {
            self.begin_tls()?;
        }
        if greets {
            self.reply(&self.shared.site.greeting)?;
        }
        self.finish()?;
        loop {
            let line = self.next_line()?;
            self.acts = self.shared.acts(Some(&line));
            if self.shared.site.manners.one_at_a_time {
                self.forget_what_came()?;
            }
            if self.begin()? {
                self.handle(&line)?;
            }
            self.finish()?;
        }
    }

    /// What the rules want before the command is carried out; says whether it is.
    fn begin(&mut self) -> Result<bool, Stop> {
        let mut goes_on = true;
        for act in self.acts.clone() {
            match act {
                Act::Answer(octets) => {
                    goes_on = false;
                    self.say(&octets)?;
                }
                Act::Before(octets) => self.say(&octets)?,
                Act::Flood(octets, times) => self.flood(&octets, times)?,
                Act::Pause(length) => self.pause(length)?,
                Act::End(ending) => return Err(Stop(ending)),
                _ => {}
            }
        }
        Ok(goes_on)
    }

    /// What the rules want said last and no reply took along.
    fn finish(&mut self) -> Result<(), Stop> {
        let rest = self.afterwards();
        if rest.is_empty() { Ok(()) } else { self.say(&rest) }
    }

    fn afterwards(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        self.acts.retain(|act| match act {
            Act::After(octets) => {
                rest.extend_from_slice(octets);
                false
            }
            _ => true,
        });
        rest
    }

    fn flood(&mut self, octets: &[u8], times: u64) -> Result<(), Stop> {
        let per_block = (BLOCK / octets.len().max(1)).max(1) as u64;
        let block = octets.repeat(per_block.min(times) as usize);
        for _ in 0..times / per_block {
            self.say(&block)?;
        }
        self.say(&octets.repeat((times % per_block) as usize))
    }

    /// The reply to the command, unless the rules want another.
    pub(crate) fn reply(&mut self, reply: impl AsRef<[u8]>) -> Result<(), Stop> {
        let reworded = self.acts.iter().find_map(|act| match act {
            Act::Reword(octets) => Some(octets.clone()),
            _ => None,
        });
        let mut reply = match reworded {
            Some(template) => self.data.filled(&template),
            None => reply.as_ref().to_vec(),
        };
        reply.extend(self.afterwards());
        self.say(&reply)
    }

    pub(crate) fn say(&mut self, octets: &[u8]) -> Result<(), Stop> {
        if octets.is_empty() {
            return Ok(());
        }
        let manners = &self.shared.site.manners;
        self.pause(manners.delay)?;
        let control = self.control.as_mut().ok_or(Stop(Ending::Fin))?;
        match manners.splits {
            true => control.send_pieces(octets, 1, BETWEEN_OCTETS)?,
            false => control.send(octets)?,
        }
        Ok(())
    }

    pub(crate) fn pause(&mut self, length: Duration) -> Result<(), Stop> {
        if !length.is_zero() {
            self.control.as_ref().ok_or(Stop(Ending::Fin))?.pause(length)?;
        }
        Ok(())
    }

    /// TLS from the next octet on. What came in clear is forgotten.
    pub(crate) fn begin_tls(&mut self) -> Result<(), Stop> {
        let shared = self.shared;
        let Some(Tls { control: config, .. }) = &shared.tls else { return Err(Stop(Ending::Fin)) };
        let plain = self.control.take().ok_or(Stop(Ending::Fin))?;
        self.control = Some(plain.secured(config)?);
        self.inbox.clear();
        self.is_secure = true;
        Ok(())
    }

    /// The next command line, noted, without CR LF; one that ends in LF alone keeps it.
    fn next_line(&mut self) -> Result<Vec<u8>, Stop> {
        loop {
            if let Some(at) = self.inbox.iter().position(|octet| *octet == b'\n') {
                let mut line: Vec<u8> = self.inbox.drain(..=at).collect();
                if line.ends_with(b"\r\n") {
                    line.truncate(line.len() - 2);
                }
                let noted = line.clone();
                self.shared.note(|record| record.commands[self.number].push(noted));
                return Ok(line);
            }
            let octets = self.control.as_mut().ok_or(Stop(Ending::Fin))?.receive()?;
            if octets.is_empty() || self.inbox.len() > LONGEST_LINE {
                return Err(Stop(Ending::Close));
            }
            self.inbox.extend_from_slice(&octets);
        }
    }

    fn forget_what_came(&mut self) -> Result<(), Stop> {
        self.pause(EARLY)?;
        while !self.is_secure && self.has_more() {
            self.control.as_mut().ok_or(Stop(Ending::Fin))?.receive()?;
        }
        self.inbox.clear();
        Ok(())
    }

    /// Whether octets wait beside the one that [`Wire`] always holds back.
    fn has_more(&self) -> bool {
        let waiting = self.socket.set_nonblocking(true).and_then(|()| self.socket.peek(&mut [0; 2]));
        self.socket.set_nonblocking(false).is_ok() && waiting.is_ok_and(|octets| octets > 1)
    }

    fn handle(&mut self, line: &[u8]) -> Result<(), Stop> {
        let line = self.decoded(line);
        let (verb, argument) = match line.iter().position(|octet| *octet == b' ') {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line.as_slice(), &b""[..]),
        };
        let verb = String::from_utf8_lossy(verb).to_ascii_uppercase();
        if self.shared.site.refused.contains(&verb) {
            return self.reply("500 Unknown command.\r\n");
        }
        if !self.login.is_done() && !BEFORE_LOGIN.contains(&verb.as_str()) {
            return self.reply("530 Please login with USER and PASS.\r\n");
        }
        self.dispatch(&verb, argument)
    }

    /// The line as Telnet means it: without its signals and, if the site does so, with 0xFF once for twice.
    fn decoded(&self, line: &[u8]) -> Vec<u8> {
        let mut line = line;
        while let [0xff, 0xf0..=0xfe, rest @ ..] = line {
            line = rest;
        }
        let mut decoded = Vec::with_capacity(line.len());
        let mut octets = line.iter().copied().peekable();
        while let Some(octet) = octets.next() {
            decoded.push(octet);
            if self.shared.site.manners.telnet && octet == 0xff {
                octets.next_if_eq(&0xff);
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
            "CWD" => self.change(argument),
            "CDUP" => self.change(b".."),
            "PWD" | "XPWD" => self.print_directory(),
            "TYPE" => self.set_type(argument),
            "MODE" | "STRU" => self.set_shape(verb, argument),
            "REST" => self.restart(argument),
            "SIZE" => self.size(argument),
            "MDTM" => self.modified(argument),
            "PASV" => self.passive(),
            "EPSV" => self.extended_passive(argument),
            "PORT" => self.port(argument),
            "EPRT" => self.extended_port(argument),
            "RETR" => self.retrieve(argument),
            "NLST" | "LIST" | "MLSD" => self.list(verb, argument),
            "MLST" => self.facts(argument),
            "STAT" => self.status(argument),
            "FEAT" => self.features(),
            "OPTS" => self.options(argument),
            "ABOR" => self.reply("226 Nothing to abort.\r\n"),
            "NOOP" => self.reply("200 NOOP ok.\r\n"),
            "SYST" => self.reply("215 UNIX Type: L8\r\n"),
            "HELP" => self.reply("214 RFC 959, 2428, 3659, 4217.\r\n"),
            "ALLO" => self.reply("202 ALLO is not needed.\r\n"),
            "QUIT" => self.reply("221 Goodbye.\r\n").and(Err(Stop(Ending::Close))),
            verb if CHANGING.contains(&verb) => self.reply("550 Permission denied.\r\n"),
            _ => self.reply("500 Unknown command.\r\n"),
        }
    }

    /// The whole path that a name given by the client means.
    pub(crate) fn path(&self, name: &[u8]) -> Vec<u8> {
        resolved(&self.cwd, name)
    }
}

impl DataState {
    /// A reply with the passive port put in.
    fn filled(&self, template: &[u8]) -> Vec<u8> {
        let Some((ip, port)) = self.named else { return template.to_vec() };
        let values = [
            (&b"{port}"[..], port.to_string()),
            (b"{high}", (port >> 8).to_string()),
            (b"{low}", (port & 0xff).to_string()),
            (b"{host}", ip.to_string().replace('.', ",")),
        ];
        values.iter().fold(template.to_vec(), |text, (name, value)| replaced(&text, name, value.as_bytes()))
    }
}

fn replaced(octets: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut result = octets.to_vec();
    while let Some(at) = result.windows(from.len()).position(|window| window == from) {
        result.splice(at..at + from.len(), to.iter().copied());
    }
    result
}
