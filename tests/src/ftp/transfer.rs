//! The transfers of the FTP server: how the data connection is opened, the data, and the two replies.

use std::borrow::Cow;
use std::io::{Error, Result as IoResult};
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use crate::ftp::data::{DataConnection, DataMode};
use crate::ftp::rule::FtpAction;
use crate::ftp::session::{Session, Stop};
use crate::ftp::tree::{ListFormat, in_ascii};
use crate::server::plain_or_tls_connection::Ending;

/// The lowest port that the server connects to (RFC 2577 §3).
const LOWEST_PORT: u16 = 1024;
/// How long a transfer waits for the command that aborts it.
const COMMAND_WAIT: Duration = Duration::from_millis(30);
const NO_DATA: &str = "425 No data connection.\r\n";
const ABORTED: &str = "426 Connection closed; transfer aborted.\r\n";
const COMPLETE: &str = "226 Transfer complete.\r\n";
const REUSE_REQUIRED: &str = "522 SSL connection failed: session reuse required\r\n";

/// The part of the data that was sent.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Sent {
    Part,
    All,
}

/// Commands that set up the next data connection.
impl Session<'_> {
    pub(crate) fn rest(&mut self, offset: &[u8]) -> Result<(), Stop> {
        let offset = std::str::from_utf8(offset).ok().and_then(|text| text.parse().ok());
        match offset {
            Some(_) if !self.data.is_image => self.reply("501 REST needs TYPE I.\r\n"),
            Some(offset) => {
                self.data.offset = offset;
                self.reply(format!("350 Restart position accepted ({offset}).\r\n"))
            }
            None => self.reply("501 Not a position.\r\n"),
        }
    }

    pub(crate) fn pasv(&mut self) -> Result<(), Stop> {
        if self.data.is_extended_only || !self.shared.config.behaviour.ip.is_ipv4() {
            return self.reply("550 Use EPSV.\r\n");
        }
        self.listen()?;
        let reply = self.data.passive_address.map(|(ip, port)| {
            let host = ip.to_string().replace('.', ",");
            format!("227 Entering Passive Mode ({host},{},{}).\r\n", port >> 8, port & 0xff)
        });
        self.reply(reply.unwrap_or_default())
    }

    pub(crate) fn epsv(&mut self, argument: &[u8]) -> Result<(), Stop> {
        let own: &[u8] = if self.shared.config.behaviour.ip.is_ipv4() { b"1" } else { b"2" };
        if argument.eq_ignore_ascii_case(b"ALL") {
            self.data.is_extended_only = true;
            return self.reply("200 EPSV ALL ok.\r\n");
        }
        if !argument.is_empty() && argument != own {
            return self.reply("522 Network protocol not supported.\r\n");
        }
        self.listen()?;
        let port = self.data.passive_address.map_or(0, |(_, port)| port);
        self.reply(format!("229 Entering Extended Passive Mode (|||{port}|)\r\n"))
    }

    fn listen(&mut self) -> Result<(), Stop> {
        let behaviour = &self.shared.config.behaviour;
        let ip = behaviour.data_ip.unwrap_or(behaviour.ip);
        let (mode, addr) = match self.actions.iter().any(|it| matches!(it, FtpAction::ClosedPort)) {
            true => DataMode::closed(ip)?,
            false => DataMode::passive(ip)?,
        };
        self.data.mode = mode;
        self.data.passive_address = Some((ip, addr.port()));
        Ok(())
    }

    /// Handles PORT. The argument has the form `127,0,0,1,24,131`.
    pub(crate) fn port(&mut self, argument: &[u8]) -> Result<(), Stop> {
        let text = std::str::from_utf8(argument).unwrap_or_default();
        let numbers: Option<Vec<u8>> = text.split(',').map(|number| number.parse().ok()).collect();
        let addr = match numbers.as_deref() {
            Some(&[a, b, c, d, high, low]) => {
                Some(SocketAddr::from(([a, b, c, d], u16::from_be_bytes([high, low]))))
            }
            _ => None,
        };
        self.set_active(addr)
    }

    /// Handles EPRT. The argument has the form `|1|127.0.0.1|6275|` (RFC 2428 §2).
    pub(crate) fn eprt(&mut self, argument: &[u8]) -> Result<(), Stop> {
        let parts: Vec<&str> = match (argument.first(), std::str::from_utf8(argument)) {
            (Some(delimiter), Ok(text)) => text.split(char::from(*delimiter)).collect(),
            _ => Vec::new(),
        };
        let addr = match parts.as_slice() {
            ["", "1" | "2", ip, port, ""] => {
                ip.parse::<IpAddr>().ok().zip(port.parse().ok()).map(SocketAddr::from)
            }
            _ => None,
        };
        self.set_active(addr)
    }

    /// Sets the address for active mode. Only addresses of the client are accepted (RFC 2577 §3).
    fn set_active(&mut self, addr: Option<SocketAddr>) -> Result<(), Stop> {
        match addr {
            None => self.reply("501 Not an address.\r\n"),
            Some(_) if self.data.is_extended_only => self.reply("550 Use EPSV.\r\n"),
            Some(addr) if addr.ip() != self.peer || addr.port() < LOWEST_PORT => {
                self.reply("500 Illegal address.\r\n")
            }
            Some(addr) => {
                self.data.mode = DataMode::Active(addr);
                self.reply("200 Will connect there.\r\n")
            }
        }
    }
}

/// Commands that send files and listings.
impl Session<'_> {
    pub(crate) fn retr(&mut self, name: &[u8]) -> Result<(), Stop> {
        let offset = std::mem::take(&mut self.data.offset);
        let path = self.path(name);
        let shared = self.shared;
        let Some(content) = shared.config.tree.file(&path) else {
            return self.reply("550 Failed to open file.\r\n");
        };
        if offset > content.size() {
            return self.reply("554 Restart position beyond the end.\r\n");
        }
        let size = content.size();
        self.transfer(content.blocks(offset), &format!("150 Opening data connection ({size} bytes).\r\n"))
    }

    pub(crate) fn list(&mut self, verb: &str, argument: &[u8]) -> Result<(), Stop> {
        self.data.offset = 0;
        // `LIST -a` has an option of `ls` and no path.
        let name = if verb == "LIST" && argument.starts_with(b"-") { b"" } else { argument };
        let path = self.path(name);
        let tree = &self.shared.config.tree;
        let format = match verb {
            "NLST" => ListFormat::Names,
            "LIST" => ListFormat::Long,
            _ => ListFormat::Facts,
        };
        let is_directory = tree.is_directory(&path);
        if tree.node(&path).is_none() || (format == ListFormat::Facts && !is_directory) {
            return self.reply("550 No such directory.\r\n");
        }
        let prefix = match (format, is_directory) {
            (ListFormat::Names, true) if !name.is_empty() => [name.trim_ascii_end(), b"/"].concat(),
            (_, false) => name.to_vec(),
            _ => Vec::new(),
        };
        self.transfer(tree.listing(&path, &prefix, format), "150 Here comes the listing.\r\n")
    }

    fn transfer<'b>(
        &mut self,
        blocks: impl Iterator<Item = Cow<'b, [u8]>> + 'b,
        preliminary: &str,
    ) -> Result<(), Stop> {
        self.data.previous = None;
        let mode = std::mem::take(&mut self.data.mode);
        let Ok(connection) = mode.open(self.control()?.wire()) else { return self.reply(NO_DATA) };
        self.shared.record(|log| log.counters.data_connections += 1);
        self.send_preliminary(preliminary)?;
        let is_final_first = self.actions.iter().any(|it| matches!(it, FtpAction::FinalReplyFirst));
        if is_final_first {
            self.reply(COMPLETE)?;
        }
        if self.aborts_on_command()? {
            return Ok(());
        }
        let Some(mut connection) = self.start_data_tls(connection)? else { return Ok(()) };
        let sent = if self.data.is_image {
            self.send_data(&mut connection, blocks)
        } else {
            self.send_data(&mut connection, in_ascii(blocks))
        };
        let sent = sent?;
        if self.shared.config.behaviour.final_reply_waits && sent == Sent::All {
            connection.wait_for_client();
        }
        // A reset is sent when the connection is dropped.
        self.data.previous = (sent == Sent::All).then_some(connection);
        if is_final_first { Ok(()) } else { self.send_final(sent) }
    }

    /// Returns `true` if a rule aborts the transfer when another command arrives, and one arrives within
    /// [`COMMAND_WAIT`].
    fn aborts_on_command(&mut self) -> Result<bool, Stop> {
        if !self.actions.iter().any(|action| matches!(action, FtpAction::AbortOnCommand)) {
            return Ok(false);
        }
        let end = Instant::now() + COMMAND_WAIT;
        while Instant::now() < end {
            if self.has_pending_command()? {
                return Ok(true);
            }
            self.pause(Duration::from_millis(1))?;
        }
        Ok(false)
    }

    fn send_preliminary(&mut self, reply: &str) -> Result<(), Stop> {
        let replaced = self.actions.iter().find_map(|action| match action {
            FtpAction::PreliminaryReply(bytes) => Some(bytes.clone()),
            _ => None,
        });
        self.send(replaced.as_deref().unwrap_or(reply.as_bytes()))
    }

    /// Starts TLS if the client requested it. Returns `None` if the handshake failed; the error reply was then sent.
    fn start_data_tls(&mut self, connection: DataConnection) -> Result<Option<DataConnection>, Stop> {
        let Some(tls) = self.shared.tls.as_ref().filter(|_| self.data.is_private) else {
            return Ok(Some(connection));
        };
        for action in self.actions.clone() {
            if let FtpAction::StallDataHandshake(length) = action {
                self.pause(length)?;
                return Err(Stop(Ending::Close));
            }
        }
        let Ok((mut connection, resumed)) = connection.start_tls(&tls.data) else {
            self.reply("425 TLS failed on the data connection.\r\n")?;
            return Ok(None);
        };
        self.shared.record(|log| log.counters.resumed_sessions.push(resumed));
        if resumed || !self.shared.config.behaviour.requires_session_reuse {
            return Ok(Some(connection));
        }
        connection.end(Ending::Close)?;
        self.data.previous = Some(connection);
        self.reply(REUSE_REQUIRED).and(Err(Stop(Ending::Close)))
    }

    fn send_data<'b>(
        &mut self,
        connection: &mut DataConnection,
        blocks: impl Iterator<Item = Cow<'b, [u8]>>,
    ) -> Result<Sent, Stop> {
        let actions = self.actions.clone();
        let cut = actions.iter().find_map(|action| match action {
            FtpAction::CutData(bytes, ending) => Some((*bytes, *ending)),
            _ => None,
        });
        let replaced = actions.iter().find_map(|action| match action {
            FtpAction::Data(bytes) => Some(Cow::Borrowed(bytes.as_slice())),
            _ => None,
        });
        let appended = actions.iter().filter_map(|action| match action {
            FtpAction::AppendData(bytes) => Some(Cow::Borrowed(bytes.as_slice())),
            _ => None,
        });
        let mut left = cut.map_or(u64::MAX, |(bytes, _)| bytes);
        let sent = match replaced {
            Some(bytes) => self.send_blocks(connection, std::iter::once(bytes), &mut left),
            None => self.send_blocks(connection, blocks, &mut left),
        };
        // A client that closes the data connection early has aborted the transfer, too.
        if sent.and_then(|()| self.send_blocks(connection, appended, &mut left)).is_err() {
            return Ok(Sent::Part);
        }
        let (_, ending) = cut.unwrap_or((0, Ending::Close));
        connection.end(ending)?;
        match ending {
            Ending::Stall(_) => Err(Stop(Ending::Close)),
            _ => Ok(if cut.is_some() { Sent::Part } else { Sent::All }),
        }
    }

    /// Sends blocks until `left` bytes are sent.
    fn send_blocks<'b>(
        &mut self,
        connection: &mut DataConnection,
        blocks: impl Iterator<Item = Cow<'b, [u8]>>,
        left: &mut u64,
    ) -> IoResult<()> {
        let drip = self.actions.iter().find_map(|action| match action {
            FtpAction::Drip(bytes, pause) => Some((*bytes, *pause)),
            _ => None,
        });
        for block in blocks {
            let allowed = usize::try_from(*left).unwrap_or(usize::MAX).min(block.len());
            let (size, pause) = drip.unwrap_or((usize::MAX, Duration::ZERO));
            for piece in block[..allowed].chunks(size) {
                connection.send(piece)?;
                self.shared.record_sent(piece.len());
                self.pause(pause).map_err(|_| Error::other("the server was stopped"))?;
            }
            *left -= allowed as u64;
            if *left == 0 {
                break;
            }
        }
        Ok(())
    }

    fn send_final(&mut self, sent: Sent) -> Result<(), Stop> {
        for action in self.actions.clone() {
            if let FtpAction::EndBeforeFinalReply(ending) = action {
                return Err(Stop(ending));
            }
        }
        self.reply(if sent == Sent::All { COMPLETE } else { ABORTED })
    }
}
