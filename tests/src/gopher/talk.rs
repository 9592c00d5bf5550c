//! One connection of the gopher server: the request in, the answer out, and what the rules make of it.

use std::borrow::Cow;
use std::io::{ErrorKind, Result};
use std::net::SocketAddr;
use std::time::Duration;

use crate::channel::{Channel, End};
use crate::ftp::rule::Ending;
use crate::gopher::answer::{Answer, Desk, Dot};
use crate::gopher::content::Content;
use crate::gopher::request::{Block, Request};
use crate::gopher::rule::GopherAct;
use crate::gopher::server::Shared;
use crate::wire::Wire;

/// The longest request, data block included.
const LONGEST_REQUEST: usize = 1 << 20;

/// Serves a connection to its end.
pub(crate) fn serve(shared: &Shared, number: usize, wire: Wire) {
    let Ok(addr) = wire.local_addr() else { return };
    let mut channel = Channel::Plain(wire);
    let ending = match accepted(&mut channel, &shared.acts(None)) {
        Ok(Some(ending)) => ending,
        Err(_) => Ending::Fin,
        Ok(None) => {
            if let Some(tls) = &shared.tls {
                let Ok(secured) = channel.secured(tls) else { return };
                channel = secured;
            }
            let inbox = Vec::new();
            let mut talk = Talk { shared, addr, number, channel: &mut channel, inbox, is_end: false };
            talk.run().unwrap_or(Ending::Fin)
        }
    };
    let end = match ending {
        Ending::Close => End::Close,
        Ending::Fin => End::Fin,
        Ending::Reset => End::Reset,
        Ending::Stall(length) => channel.pause(length).map_or(End::Fin, |()| End::Close),
    };
    let late = channel.end(end);
    shared.note(|record| record.requests[number].extend_from_slice(&late));
}

/// What the rules want before anything is read; an ending is all there is.
fn accepted(channel: &mut Channel, acts: &[GopherAct]) -> Result<Option<Ending>> {
    for act in acts {
        match act {
            GopherAct::Answer(octets) | GopherAct::First(octets) => channel.send(octets)?,
            GopherAct::Pause(length) => channel.pause(*length)?,
            GopherAct::End(ending) => return Ok(Some(*ending)),
            _ => {}
        }
    }
    Ok(None)
}

/// One connection.
struct Talk<'a> {
    shared: &'a Shared,
    addr: SocketAddr,
    number: usize,
    channel: &'a mut Channel,
    inbox: Vec<u8>,
    /// Whether the client said its end.
    is_end: bool,
}

impl Talk<'_> {
    fn run(&mut self) -> Result<Ending> {
        let line = self.line()?;
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let acts = self.shared.acts(Some(text));
        let site = &self.shared.site;
        let searches = |selector: &[u8]| site.find(selector).is_some_and(|item| item.kind == b'7');
        let request = Request::parse(text, site.plus.is_known, searches);
        let data = if request.has_data { Some(self.data(&request)?) } else { None };
        for act in &acts {
            if let GopherAct::Pause(length) = act {
                self.channel.pause(*length)?;
            }
        }
        let answer = Desk { site, addr: self.addr }.answer(&request, data.as_ref());
        let mut sending = Sending::new(self.shared, self.addr, self.channel, &acts);
        sending.all(&acts, &answer)?;
        Ok(sending.ending(&acts))
    }

    /// The request line with its end, if it has one.
    fn line(&mut self) -> Result<Vec<u8>> {
        loop {
            if let Some(at) = self.inbox.iter().position(|octet| *octet == b'\n') {
                return Ok(self.inbox.drain(..=at).collect());
            }
            if self.is_end || self.inbox.len() > LONGEST_REQUEST {
                return Ok(std::mem::take(&mut self.inbox));
            }
            self.hear()?;
        }
    }

    /// The answers in a data block, or why they do not fit the form of the item.
    fn data(&mut self, request: &Request<'_>) -> Result<std::result::Result<Vec<Vec<u8>>, String>> {
        let content = loop {
            match Block::parse(&self.inbox, self.is_end) {
                Block::Broken(why) => return Ok(Err(why)),
                Block::More if self.is_end || self.inbox.len() > LONGEST_REQUEST => {
                    return Ok(Err("the data are not whole".to_owned()));
                }
                Block::More => self.hear()?,
                Block::Whole(content, taken) => {
                    self.inbox.drain(..taken);
                    break content;
                }
            }
        };
        let form = self.shared.site.find(request.selector).and_then(|item| item.form.as_ref());
        let answers = form.map_or(Err("there is no form".to_owned()), |form| form.answers(&content));
        if let Ok(answers) = &answers {
            self.shared.note(|record| record.answers.push(answers.clone()));
        }
        Ok(answers)
    }

    fn hear(&mut self) -> Result<()> {
        let octets = match self.channel.receive() {
            // A client that closes without close_notify has closed as well.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Vec::new(),
            other => other?,
        };
        self.is_end = octets.is_empty();
        self.shared.note(|record| record.requests[self.number].extend_from_slice(&octets));
        self.inbox.extend_from_slice(&octets);
        Ok(())
    }
}

/// An answer on its way.
struct Sending<'a> {
    shared: &'a Shared,
    addr: SocketAddr,
    channel: &'a mut Channel,
    /// What may still be sent before the cut, and how that ends.
    left: u64,
    cut: Option<Ending>,
    drip: Option<(usize, Duration)>,
    /// The octet that was sent last.
    last: u8,
}

impl<'a> Sending<'a> {
    fn new(shared: &'a Shared, addr: SocketAddr, channel: &'a mut Channel, acts: &[GopherAct]) -> Self {
        let mut sending = Self { shared, addr, channel, left: u64::MAX, cut: None, drip: None, last: b'\n' };
        for act in acts {
            match act {
                GopherAct::Cut(octets, ending) => (sending.left, sending.cut) = (*octets, Some(*ending)),
                GopherAct::Drip(octets, pause) => sending.drip = Some((*octets, *pause)),
                _ => {}
            }
        }
        sending
    }

    /// First octets, status line, body, final dot, last octets.
    fn all(&mut self, acts: &[GopherAct], answer: &Answer) -> Result<()> {
        let found = |wanted: fn(&GopherAct) -> Option<&Vec<u8>>| acts.iter().find_map(wanted);
        let given = found(|act| if let GopherAct::Answer(octets) = act { Some(octets) } else { None });
        if let Some(octets) = given {
            self.send(&located(octets, self.addr.port()))?;
        } else {
            for act in acts {
                if let GopherAct::First(octets) = act {
                    self.send(octets)?;
                }
            }
            let status = found(|act| if let GopherAct::Status(line) = act { Some(line) } else { None });
            self.send(status.unwrap_or(&answer.status))?;
            let other = found(|act| if let GopherAct::Body(octets) = act { Some(octets) } else { None });
            let other = other.map(|octets| Content::octets(octets.as_slice()));
            self.body(answer, other.as_ref())?;
            self.dot(answer.dot, acts)?;
        }
        for act in acts {
            match act {
                GopherAct::Last(octets) => self.send(octets)?,
                GopherAct::Flood(octets, times) => {
                    let flood = Content::Repeated(Vec::new().into(), octets.as_slice().into(), *times);
                    self.blocks(flood.blocks())?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn body(&mut self, answer: &Answer, other: Option<&Content>) -> Result<()> {
        self.last = b'\n';
        self.blocks(answer.blocks(other.unwrap_or(&answer.body)))
    }

    fn dot(&mut self, dot: Dot, acts: &[GopherAct]) -> Result<()> {
        if dot == Dot::None || acts.iter().any(|act| matches!(act, GopherAct::NoDot)) {
            return Ok(());
        }
        if dot == Dot::Stuffed && self.last != b'\n' {
            self.send(b"\r\n")?;
        }
        self.send(b".\r\n")
    }

    fn blocks<'b>(&mut self, blocks: impl Iterator<Item = Cow<'b, [u8]>>) -> Result<()> {
        for block in blocks {
            self.send(&block)?;
            if self.left == 0 {
                break;
            }
        }
        Ok(())
    }

    /// As much of it as the cut allows.
    fn send(&mut self, octets: &[u8]) -> Result<()> {
        let allowed = usize::try_from(self.left).unwrap_or(usize::MAX).min(octets.len());
        let octets = &octets[..allowed];
        match self.drip {
            Some((piece, pause)) => self.channel.send_pieces(octets, piece, pause)?,
            None if octets.is_empty() => {}
            None => self.channel.send(octets)?,
        }
        self.left -= octets.len() as u64;
        self.last = octets.last().copied().unwrap_or(self.last);
        self.shared.note(|record| record.octets_sent += octets.len() as u64);
        Ok(())
    }

    fn ending(&self, acts: &[GopherAct]) -> Ending {
        let after = acts.iter().find_map(|act| match act {
            GopherAct::End(ending) => Some(*ending),
            _ => None,
        });
        self.cut.or(after).unwrap_or(Ending::Close)
    }
}

/// The server's own port for `{port}`.
fn located(octets: &[u8], port: u16) -> Vec<u8> {
    const MARK: &[u8] = b"{port}";
    let mut result = Vec::with_capacity(octets.len());
    for part in octets.split_inclusive(|octet| *octet == b'}') {
        match part.strip_suffix(MARK) {
            Some(before) => result.extend([before, port.to_string().as_bytes()].concat()),
            None => result.extend_from_slice(part),
        }
    }
    result
}
