//! One connection of the WAIS server: one request in, one answer out, again and again.

use std::io::Result;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use crate::channel::{Channel, End};
use crate::ftp::rule::Ending;
use crate::wais::desk::Desk;
use crate::wais::request::{Asked, Message, Taken, WaisRequest};
use crate::wais::rule::WaisAct;
use crate::wais::sending::Sending;
use crate::wais::server::Shared;
use crate::wire::Wire;

/// The longest wait for a client.
const PATIENCE: Duration = Duration::from_secs(10);

/// One connection.
pub(crate) struct Talk<'a> {
    shared: &'a Shared,
    desk: Desk<'a>,
    channel: Channel,
    /// The same connection, to look for what waits.
    socket: TcpStream,
    inbox: Vec<u8>,
}

impl<'a> Talk<'a> {
    pub(crate) fn new(shared: &'a Shared, stream: TcpStream) -> Result<Self> {
        let socket = stream.try_clone()?;
        let channel = Channel::Plain(Wire::new(stream, Arc::clone(&shared.stop), PATIENCE)?);
        Ok(Self { shared, desk: Desk::new(&shared.site), channel, socket, inbox: Vec::new() })
    }

    /// Serves the connection to its end.
    pub(crate) fn run(mut self) {
        let end = match self.talk().unwrap_or(Ending::Fin) {
            Ending::Close => End::Close,
            Ending::Fin => End::Fin,
            Ending::Reset => End::Reset,
            Ending::Stall(length) => self.channel.pause(length).map_or(End::Fin, |()| End::Close),
        };
        self.channel.end(end);
    }

    fn talk(&mut self) -> Result<Ending> {
        if let Some(ending) = self.accepted()? {
            return Ok(ending);
        }
        loop {
            let message = match Message::take(&mut self.inbox) {
                Taken::Whole(message) => message,
                Taken::Broken => {
                    self.shared.note(|record| record.requests.push(WaisRequest::Other(0)));
                    return Ok(Ending::Close);
                }
                Taken::More => {
                    let octets = self.channel.receive()?;
                    if octets.is_empty() {
                        return Ok(Ending::Close);
                    }
                    self.inbox.extend_from_slice(&octets);
                    continue;
                }
            };
            if let Some(ending) = self.served(&message)? {
                return Ok(ending);
            }
        }
    }

    /// What the rules want before anything is read; an ending is all there is.
    fn accepted(&mut self) -> Result<Option<Ending>> {
        for act in self.shared.acts(None) {
            match act {
                WaisAct::Answer(octets) | WaisAct::First(octets) => self.channel.send(&octets)?,
                WaisAct::Pause(length) => self.channel.pause(length)?,
                WaisAct::End(ending) => return Ok(Some(ending)),
                _ => {}
            }
        }
        Ok(None)
    }

    /// Answers a request, and says how the connection ends, if it does.
    fn served(&mut self, message: &Message) -> Result<Option<Ending>> {
        let asked = Asked::parse(&message.apdu);
        let request = asked.request(&message.apdu);
        let acts = self.shared.acts(Some(&request));
        self.shared.note(|record| record.requests.push(request));
        let endless =
            acts.iter().find_map(|act| if let WaisAct::Endless(octet) = act { Some(*octet) } else { None });
        let answer = match (&asked, endless) {
            (Asked::Retrieval(retrieval), Some(octet)) => Desk::endless(retrieval, octet),
            _ => self.desk.answer(&asked),
        };
        for act in &acts {
            if let WaisAct::Pause(length) = act {
                self.channel.pause(*length)?;
            }
        }
        self.drop_waiting()?;
        let Some(sending) = Sending::new(&acts, &message.header, answer, self.desk.room()) else {
            return Ok(Some(Ending::Close));
        };
        let shared = self.shared;
        sending.send(&mut self.channel, |octets| shared.note(|record| record.octets_sent += octets))
    }

    /// Forgets what came together with the request, as real servers do, and notes how much that was.
    fn drop_waiting(&mut self) -> Result<()> {
        while self.has_more() {
            let octets = self.channel.receive()?;
            self.inbox.extend_from_slice(&octets);
        }
        let mut waiting = 1;
        while let Taken::Whole(_) = Message::take(&mut self.inbox) {
            waiting += 1;
        }
        waiting += usize::from(!self.inbox.is_empty());
        self.inbox.clear();
        self.shared.note(|record| record.most_waiting = record.most_waiting.max(waiting));
        Ok(())
    }

    /// Whether octets wait beside the one that [`Wire`] always holds back.
    fn has_more(&self) -> bool {
        let waiting = self.socket.set_nonblocking(true).and_then(|()| self.socket.peek(&mut [0; 2]));
        self.socket.set_nonblocking(false).is_ok() && waiting.is_ok_and(|octets| octets > 1)
    }
}
