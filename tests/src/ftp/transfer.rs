//! The transfers of the FTP server: where the data connection is made, what goes over it, and the two replies
//! around it.

use std::borrow::Cow;
use std::io::Result as IoResult;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use crate::ftp::data::{DataConnection, Plan};
use crate::ftp::rule::{Act, Ending};
use crate::ftp::session::{Session, Stop};
use crate::ftp::tree::{Style, in_ascii};

/// No server connects to a port below this on command (RFC 2577 §3).
const LOWEST_PORT: u16 = 1024;
const NO_DATA: &str = "425 No data connection.\r\n";
const ABORTED: &str = "426 Connection closed; transfer aborted.\r\n";
const COMPLETE: &str = "226 Transfer complete.\r\n";
const REUSE: &str = "522 SSL connection failed: session reuse required\r\n";

/// How far the data went.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Sent {
    Cut,
    Whole,
}

/// Where the next data connection goes.
impl Session<'_> {
    pub(crate) fn restart(&mut self, offset: &[u8]) -> Result<(), Stop> {
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

    pub(crate) fn passive(&mut self) -> Result<(), Stop> {
        if self.data.extended_only || !self.shared.site.manners.ip.is_ipv4() {
            return self.reply("550 Use EPSV.\r\n");
        }
        self.listen()?;
        let reply = self.data.named.map(|(ip, port)| {
            let host = ip.to_string().replace('.', ",");
            format!("227 Entering Passive Mode ({host},{},{}).\r\n", port >> 8, port & 0xff)
        });
        self.reply(reply.unwrap_or_default())
    }

    pub(crate) fn extended_passive(&mut self, argument: &[u8]) -> Result<(), Stop> {
        let own: &[u8] = if self.shared.site.manners.ip.is_ipv4() { b"1" } else { b"2" };
        if argument.eq_ignore_ascii_case(b"ALL") {
            self.data.extended_only = true;
            return self.reply("200 EPSV ALL ok.\r\n");
        }
        if !argument.is_empty() && argument != own {
            return self.reply("522 Network protocol not supported.\r\n");
        }
        self.listen()?;
        let port = self.data.named.map_or(0, |(_, port)| port);
        self.reply(format!("229 Entering Extended Passive Mode (|||{port}|)\r\n"))
    }

    fn listen(&mut self) -> Result<(), Stop> {
        let manners = &self.shared.site.manners;
        let ip = manners.data_ip.unwrap_or(manners.ip);
        let (plan, addr) = match self.acts.iter().any(|act| matches!(act, Act::DeadPort)) {
            true => Plan::dead(ip)?,
            false => Plan::passive(ip)?,
        };
        self.data.plan = plan;
        self.data.named = Some((ip, addr.port()));
        Ok(())
    }

    pub(crate) fn port(&mut self, argument: &[u8]) -> Result<(), Stop> {
        let numbers: Option<Vec<u8>> = std::str::from_utf8(argument)
            .ok()
            .and_then(|text| text.split(',').map(|number| number.parse().ok()).collect());
        let addr = match numbers.as_deref() {
            Some(&[a, b, c, d, high, low]) => {
                Some(SocketAddr::from(([a, b, c, d], u16::from_be_bytes([high, low]))))
            }
            _ => None,
        };
        self.active(addr)
    }

    /// `|1|127.0.0.1|6275|`, RFC 2428 §2.
    pub(crate) fn extended_port(&mut self, argument: &[u8]) -> Result<(), Stop> {
        let parts: Vec<&str> = match (argument.first(), std::str::from_utf8(argument)) {
            (Some(mark), Ok(text)) => text.split(char::from(*mark)).collect(),
            _ => Vec::new(),
        };
        let addr = match parts.as_slice() {
            ["", "1" | "2", ip, port, ""] => {
                ip.parse::<IpAddr>().ok().zip(port.parse().ok()).map(SocketAddr::from)
            }
            _ => None,
        };
        self.active(addr)
    }

    /// Only to the client itself (RFC 2577 §3).
    fn active(&mut self, addr: Option<SocketAddr>) -> Result<(), Stop> {
        match addr {
            None => self.reply("501 Not an address.\r\n"),
            Some(_) if self.data.extended_only => self.reply("550 Use EPSV.\r\n"),
            Some(addr) if addr.ip() != self.peer || addr.port() < LOWEST_PORT => {
                self.reply("500 Illegal address.\r\n")
            }
            Some(addr) => {
                self.data.plan = Plan::Active(addr);
                self.reply("200 Will connect there.\r\n")
            }
        }
    }
}

/// What is transferred.
impl Session<'_> {
    pub(crate) fn retrieve(&mut self, name: &[u8]) -> Result<(), Stop> {
        let offset = std::mem::take(&mut self.data.offset);
        let path = self.path(name);
        let shared = self.shared;
        let Some(content) = shared.site.tree.file(&path) else {
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
        // Options of `ls` are no name.
        let name = if verb == "LIST" && argument.starts_with(b"-") { b"" } else { argument };
        let path = self.path(name);
        let shared = self.shared;
        let style = match verb {
            "NLST" => Style::Names,
            "LIST" => Style::Long,
            _ => Style::Facts,
        };
        let is_directory = shared.site.tree.is_directory(&path);
        if shared.site.tree.node(&path).is_none() || (style == Style::Facts && !is_directory) {
            return self.reply("550 No such directory.\r\n");
        }
        let prefix = match (style, is_directory) {
            (Style::Names, true) if !name.is_empty() => [name.trim_ascii_end(), b"/"].concat(),
            (_, false) => name.to_vec(),
            _ => Vec::new(),
        };
        self.transfer(shared.site.tree.listing(&path, &prefix, style), "150 Here comes the listing.\r\n")
    }

    fn transfer<'b>(
        &mut self,
        blocks: impl Iterator<Item = Cow<'b, [u8]>> + 'b,
        mark: &str,
    ) -> Result<(), Stop> {
        self.data.last = None;
        let Ok(connection) = self.connection() else { return self.reply(NO_DATA) };
        self.shared.note(|record| record.data_connections += 1);
        self.mark(mark)?;
        let is_early = self.acts.iter().any(|act| matches!(act, Act::FinalFirst));
        if is_early {
            self.reply(COMPLETE)?;
        }
        let Some(mut connection) = self.secured(connection)? else { return Ok(()) };
        let sent = if self.data.is_image {
            self.send(&mut connection, blocks)
        } else {
            self.send(&mut connection, in_ascii(blocks))
        };
        let sent = sent?;
        if self.shared.site.manners.final_waits && sent == Sent::Whole {
            connection.await_end();
        }
        // What was reset has to be closed to be so.
        self.data.last = (sent == Sent::Whole).then_some(connection);
        if is_early { Ok(()) } else { self.conclude(sent) }
    }

    fn connection(&mut self) -> IoResult<DataConnection> {
        let plan = std::mem::take(&mut self.data.plan);
        let (peer, stop) = (self.peer, &self.shared.stop);
        plan.connection(peer, stop, |length| self.pause(length).map_err(|_| std::io::Error::other("stopped")))
    }

    fn mark(&mut self, mark: &str) -> Result<(), Stop> {
        let other = self.acts.iter().find_map(|act| match act {
            Act::Mark(octets) => Some(octets.clone()),
            _ => None,
        });
        self.say(other.as_deref().unwrap_or(mark.as_bytes()))
    }

    /// The connection under TLS where the client asked for it; none if that failed and was said.
    fn secured(&mut self, connection: DataConnection) -> Result<Option<DataConnection>, Stop> {
        let Some(tls) = self.shared.tls.as_ref().filter(|_| self.data.is_private) else {
            return Ok(Some(connection));
        };
        for act in self.acts.clone() {
            if let Act::NoDataHandshake(length) = act {
                self.pause(length)?;
                return Err(Stop(Ending::Close));
            }
        }
        let Ok((mut connection, resumed)) = connection.secured(&tls.data) else {
            self.reply("425 TLS failed on the data connection.\r\n")?;
            return Ok(None);
        };
        self.shared.note(|record| record.resumed.push(resumed));
        if resumed || !self.shared.site.manners.session_reuse {
            return Ok(Some(connection));
        }
        connection.end(Ending::Close)?;
        self.data.last = Some(connection);
        self.reply(REUSE).and(Err(Stop(Ending::Close)))
    }

    fn send<'b>(
        &mut self,
        connection: &mut DataConnection,
        blocks: impl Iterator<Item = Cow<'b, [u8]>>,
    ) -> Result<Sent, Stop> {
        let acts = self.acts.clone();
        let cut = acts.iter().find_map(|act| match act {
            Act::CutData(octets, ending) => Some((*octets, *ending)),
            _ => None,
        });
        let mut left = cut.map_or(u64::MAX, |(octets, _)| octets);
        let gone =
            match acts.iter().find_map(|act| if let Act::Data(octets) = act { Some(octets) } else { None }) {
                Some(other) => {
                    self.send_blocks(connection, std::iter::once(Cow::Borrowed(other.as_slice())), &mut left)
                }
                None => self.send_blocks(connection, blocks, &mut left),
            };
        let more = acts.iter().filter_map(|act| match act {
            Act::MoreData(octets) => Some(Cow::Borrowed(octets.as_slice())),
            _ => None,
        });
        // A client that leaves early has cut the transfer as well.
        let gone = gone.and_then(|()| self.send_blocks(connection, more, &mut left));
        if gone.is_err() {
            return Ok(Sent::Cut);
        }
        let (_, ending) = cut.unwrap_or((0, Ending::Close));
        connection.end(ending)?;
        match ending {
            Ending::Stall(_) => Err(Stop(Ending::Close)),
            _ => Ok(if cut.is_some() { Sent::Cut } else { Sent::Whole }),
        }
    }

    fn send_blocks<'b>(
        &mut self,
        connection: &mut DataConnection,
        blocks: impl Iterator<Item = Cow<'b, [u8]>>,
        left: &mut u64,
    ) -> IoResult<()> {
        let drip = self.acts.iter().find_map(|act| match act {
            Act::Drip(octets, pause) => Some((*octets, *pause)),
            _ => None,
        });
        for block in blocks {
            let allowed = usize::try_from(*left).unwrap_or(usize::MAX).min(block.len());
            let (piece, pause) = drip.unwrap_or((usize::MAX, Duration::ZERO));
            for part in block[..allowed].chunks(piece) {
                connection.send(part)?;
                self.shared.note(|record| record.octets_sent += part.len() as u64);
                self.pause(pause).map_err(|_| std::io::Error::other("stopped"))?;
            }
            *left -= allowed as u64;
            if *left == 0 {
                break;
            }
        }
        Ok(())
    }

    fn conclude(&mut self, sent: Sent) -> Result<(), Stop> {
        for act in self.acts.clone() {
            if let Act::EndAtFinal(ending) = act {
                return Err(Stop(ending));
            }
        }
        self.reply(if sent == Sent::Whole { COMPLETE } else { ABORTED })
    }
}
