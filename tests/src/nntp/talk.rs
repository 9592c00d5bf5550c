//! One connection of the news server: command lines in, answers out, and what the rules put between.

use std::convert::Infallible;
use std::io::{Error, Result as IoResult};
use std::mem::take;
use std::net::TcpStream;
use std::time::Duration;

use crate::ftp::rule::Ending;
use crate::nntp::desk::Desk;
use crate::nntp::line::Line;
use crate::nntp::reply::{Next, Reply, Stuffing};
use crate::nntp::rule::{Moment, NntpAct};
use crate::nntp::server::Shared;

/// Between two octets of an answer that is split, so that they arrive as two.
const BETWEEN_OCTETS: Duration = Duration::from_micros(100);
/// How long answers are held back for a command that may not come.
const HELD: Duration = Duration::from_millis(300);
/// The longest command line that is read at all.
const LONGEST_LINE: usize = 64 * 1024;
/// As much as goes into one write.
const BLOCK: usize = 64 * 1024;

/// One connection.
pub(crate) struct Talk<'a> {
    shared: &'a Shared,
    number: usize,
    line: Line,
    inbox: Vec<u8>,
    desk: Desk<'a>,
    /// What the rules say of the command at hand.
    acts: Vec<NntpAct>,
    /// What is said and not sent yet.
    outbox: Vec<u8>,
    /// How much may still be said before the end, and what that is like.
    cut: Option<(u64, Ending)>,
    held: Option<Held>,
}

/// Answers that wait for one another.
struct Held {
    wanted: usize,
    answers: Vec<Vec<u8>>,
}

/// The end of a connection.
struct Stop(Ending);

impl From<Error> for Stop {
    fn from(_: Error) -> Self {
        Self(Ending::Fin)
    }
}

impl<'a> Talk<'a> {
    pub(crate) fn new(shared: &'a Shared, number: usize, stream: TcpStream) -> IoResult<Self> {
        Ok(Self {
            shared,
            number,
            line: Line::new(stream, &shared.stop)?,
            inbox: Vec::new(),
            desk: Desk::new(&shared.site),
            acts: Vec::new(),
            outbox: Vec::new(),
            cut: None,
            held: None,
        })
    }

    pub(crate) fn run(mut self) {
        let Err(Stop(ending)) = self.talk();
        let _ = self.release(false);
        self.line.end(ending);
    }

    fn talk(&mut self) -> Result<Infallible, Stop> {
        self.acts = self.shared.acts(Moment::Accept);
        self.begin(b"")?;
        self.finish()?;
        if let Some(config) = &self.shared.tls {
            self.line.secure(config)?;
            self.desk.secured();
        }
        self.acts = self.shared.acts(Moment::Greeting);
        if self.begin(b"")?.is_some() {
            self.answer(self.desk.greeting())?;
        }
        self.finish()?;
        loop {
            let line = self.next_line()?;
            self.acts = self.shared.acts(Moment::Line(&line));
            let mut next = Next::Command;
            if let Some(line) = self.begin(&line)? {
                let reply = self.desk.answer(&line);
                next = reply.next;
                self.answer(reply)?;
            }
            self.finish()?;
            self.go_on(next)?;
        }
    }

    /// What the rules want before the command is carried out; gives what is to be carried out.
    fn begin(&mut self, line: &[u8]) -> Result<Option<Vec<u8>>, Stop> {
        let mut line = Some(line.to_vec());
        for act in self.acts.clone() {
            match act {
                NntpAct::Answer(octets) => {
                    line = None;
                    self.say(&octets)?;
                }
                NntpAct::As(other) => line = line.map(|_| other),
                NntpAct::Before(octets) => self.say(&octets)?,
                NntpAct::Flood(octets, times) => self.flood(&octets, times)?,
                NntpAct::Pause(length) => {
                    self.flush()?;
                    self.line.pause(length)?;
                }
                NntpAct::End(ending) => return Err(Stop(ending)),
                NntpAct::Cut(octets, ending) => self.cut = Some((octets, ending)),
                NntpAct::Reversed(wanted) if self.held.is_none() => {
                    self.held = Some(Held { wanted, answers: Vec::new() });
                }
                _ => {}
            }
        }
        Ok(line)
    }

    /// The answer to the command, as the rules want it.
    fn answer(&mut self, reply: Reply<'_>) -> Result<(), Stop> {
        let acts = self.acts.clone();
        let status =
            acts.iter().find_map(|act| if let NntpAct::Status(line) = act { Some(line) } else { None });
        self.say(status.unwrap_or(&reply.status))?;
        let Some(pieces) = reply.block else { return Ok(()) };
        for act in &acts {
            if let NntpAct::CutBlock(octets, ending) = act {
                self.cut = Some((*octets, *ending));
            }
        }
        let has_dot = !acts.iter().any(|act| matches!(act, NntpAct::NoDot));
        let mut stuffing = Stuffing::new();
        if let Some(octets) =
            acts.iter().find_map(|act| if let NntpAct::Block(octets) = act { Some(octets) } else { None })
        {
            self.say(octets)?;
        } else {
            for piece in pieces {
                self.say(&stuffing.stuffed(&piece))?;
            }
        }
        self.say(stuffing.end(has_dot))
    }

    /// What the rules want said last, and what they make of the whole answer.
    fn finish(&mut self) -> Result<(), Stop> {
        self.cut = None;
        for act in take(&mut self.acts) {
            match act {
                NntpAct::After(octets) => self.outbox.extend_from_slice(&octets),
                NntpAct::EndAfter(ending) => return Err(Stop(ending)),
                // For the flush.
                NntpAct::Drip(..) => self.acts.push(act),
                _ => {}
            }
        }
        match &mut self.held {
            Some(held) => {
                held.answers.push(take(&mut self.outbox));
                if held.answers.len() >= held.wanted { self.release(true) } else { Ok(()) }
            }
            None => self.flush(),
        }
    }

    fn go_on(&mut self, next: Next) -> Result<(), Stop> {
        match next {
            Next::Close => return Err(Stop(Ending::Close)),
            Next::Command => {}
            Next::Deflate => self.line.compress(),
            Next::Tls => {
                let config = self.shared.starttls.as_ref().ok_or(Stop(Ending::Fin))?;
                self.line.secure(config)?;
                // What came in clear is forgotten (RFC 4642 §2.2.2), and who it was.
                self.inbox.clear();
                self.desk = Desk::new(&self.shared.site);
                self.desk.secured();
            }
        }
        Ok(())
    }

    /// As much of it as the cut allows.
    fn say(&mut self, octets: &[u8]) -> Result<(), Stop> {
        let allowed = self.cut.map_or(octets.len(), |(left, _)| usize::try_from(left).unwrap_or(usize::MAX));
        let octets = &octets[..octets.len().min(allowed)];
        self.outbox.extend_from_slice(octets);
        if self.outbox.len() >= BLOCK {
            self.flush()?;
        }
        if let Some((left, ending)) = &mut self.cut {
            *left -= octets.len() as u64;
            if *left == 0 {
                return Err(Stop(*ending));
            }
        }
        Ok(())
    }

    fn flood(&mut self, octets: &[u8], times: u64) -> Result<(), Stop> {
        let per_block = (BLOCK / octets.len().max(1)).max(1) as u64;
        let block = octets.repeat(per_block.min(times) as usize);
        for _ in 0..times / per_block {
            self.say(&block)?;
        }
        self.say(&octets.repeat((times % per_block) as usize))
    }

    /// Sends what was said, unless answers are held back.
    fn flush(&mut self) -> Result<(), Stop> {
        if self.outbox.is_empty() || self.held.is_some() {
            return Ok(());
        }
        let octets = take(&mut self.outbox);
        self.line.pause(self.shared.site.manners.delay)?;
        let drip = self.acts.iter().find_map(|act| match act {
            NntpAct::Drip(piece, pause) => Some((*piece, *pause)),
            _ => None,
        });
        let split = self.shared.site.manners.splits.then_some((1, BETWEEN_OCTETS));
        self.shared.note(|record| record.octets_sent += octets.len() as u64);
        Ok(self.line.send(&octets, drip.or(split))?)
    }

    /// Sends the answers that were held back.
    fn release(&mut self, is_reversed: bool) -> Result<(), Stop> {
        if let Some(mut held) = self.held.take() {
            if is_reversed {
                held.answers.reverse();
            }
            held.answers.push(take(&mut self.outbox));
            self.outbox = held.answers.concat();
        }
        self.flush()
    }

    /// The next command line, noted, without CR LF; one that ends in LF alone keeps it.
    fn next_line(&mut self) -> Result<Vec<u8>, Stop> {
        loop {
            if let Some(at) = self.inbox.iter().position(|octet| *octet == b'\n') {
                let waiting = self.inbox.iter().filter(|octet| **octet == b'\n').count();
                let mut line: Vec<u8> = self.inbox.drain(..=at).collect();
                if line.ends_with(b"\r\n") {
                    line.truncate(line.len() - 2);
                }
                self.note(&line, waiting);
                return Ok(line);
            }
            if self.held.is_some() && !self.line.hears_something(HELD)? {
                self.release(false)?;
            }
            let octets = self.line.receive()?;
            if octets.is_empty() || self.inbox.len() > LONGEST_LINE {
                return Err(Stop(Ending::Close));
            }
            self.inbox.extend_from_slice(&octets);
        }
    }

    fn note(&self, line: &[u8], waiting: usize) {
        let is_secure = self.line.is_secure();
        self.shared.note(|record| {
            record.commands[self.number].push(line.to_vec());
            record.most_waiting = record.most_waiting.max(waiting);
            if !is_secure {
                record.in_clear.push(line.to_vec());
            }
        });
    }
}
