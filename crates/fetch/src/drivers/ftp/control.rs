//! The control connection: suppaftp's, in the clear or in TLS. The only file that calls it.
//!
//! Lines go out as octets and in one piece, past suppaftp's own commands: those would decode names as
//! text, wait for each reply, and write passwords into its log.

use std::future::Future as _;
use std::net::{IpAddr, Ipv4Addr};
use std::task::{Context, Poll};

use bytes::Bytes;
use fetch_url_proto::Inbox;
use fetch_url_proto::text::{Reply, ReplyReader};
use suppaftp::FtpError;
use suppaftp::tokio::ImplAsyncFtpStream;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::client::TlsStream;

use super::secure::{HandOver, Outbox, SecureLine};
use super::{clear, fault};
use crate::{Code, Deadline, Error, Phase};

/// The most lines of a reply.
const MOST_LINES: usize = 1000;

type Ftp = ImplAsyncFtpStream<SecureLine>;

/// A control connection.
pub(super) struct Control {
    wire: Wire,
    /// Where the server is.
    pub(super) peer: IpAddr,
    /// Where we are.
    pub(super) local: IpAddr,
    /// A reply that came earlier than it is asked for.
    early: Option<Reply>,
    /// What suppaftp took for one reply and is more.
    inbox: Inbox,
}

enum Wire {
    /// Not greeted yet.
    Fresh(TcpStream),
    /// Not greeted yet, in TLS.
    FreshTls(Box<TlsStream<TcpStream>>, Bytes),
    Open(Box<Ftp>),
    Secure(Box<Ftp>, Outbox),
    Gone,
}

impl Control {
    /// A connection whose server has not greeted yet.
    pub(super) fn plain(stream: TcpStream) -> Result<Self, Error> {
        let (peer, local) = ends(&stream)?;
        Ok(Self { wire: Wire::Fresh(stream), peer, local, early: None, inbox: Inbox::new() })
    }

    /// In TLS, from the first octet or since the server gave this greeting.
    pub(super) fn tls(stream: TlsStream<TcpStream>, greeting: Option<&Reply>) -> Result<Self, Error> {
        let (peer, local) = ends(stream.get_ref().0)?;
        let greeting = greeting.map(|reply| [&fault::words(reply)[..], b"\r\n"].concat()).unwrap_or_default();
        let wire = Wire::FreshTls(Box::new(stream), greeting.into());
        Ok(Self { wire, peer, local, early: None, inbox: Inbox::new() })
    }

    /// Lines go out.
    pub(super) async fn say(&mut self, lines: &[u8]) -> Result<(), Error> {
        match &mut self.wire {
            Wire::Fresh(stream) => stream.write_all(lines).await.map_err(lost),
            Wire::Open(ftp) => write_all(ftp, lines).await.map_err(lost),
            // They go out before the next reply is read.
            Wire::Secure(_, outbox) => {
                outbox.put(lines);
                Ok(())
            }
            Wire::FreshTls(..) | Wire::Gone => Err(closed()),
        }
    }

    /// The next reply.
    pub(super) async fn hear(&mut self) -> Result<Reply, Error> {
        if let Some(early) = self.early.take() {
            return Ok(early);
        }
        match std::mem::replace(&mut self.wire, Wire::Gone) {
            Wire::Fresh(mut stream) => {
                clear::until_ready(&mut stream).await?;
                let greeted = Ftp::connect_with_stream(stream).await;
                self.greeted(greeted, Wire::Open)
            }
            Wire::FreshTls(stream, greeting) => {
                let outbox = Outbox::default();
                let greeted = hand_over(SecureLine::new(*stream, outbox.clone(), greeting)).await?;
                self.greeted(greeted, |ftp| Wire::Secure(ftp, outbox))
            }
            wire => {
                self.wire = wire;
                self.reply().await
            }
        }
    }

    fn greeted(
        &mut self,
        greeted: Result<Ftp, FtpError>,
        wire: impl FnOnce(Box<Ftp>) -> Wire,
    ) -> Result<Reply, Error> {
        match greeted {
            Ok(ftp) => {
                let text = ftp.get_welcome_msg().unwrap_or("220 ").as_bytes().to_vec();
                self.wire = wire(Box::new(ftp));
                read(text)
            }
            // suppaftp has given the connection up: what is not a refusal cannot be followed.
            Err(FtpError::UnexpectedResponse(response)) => {
                let reply = read(response.body)?;
                let is_lost = reply.code == 220;
                if is_lost { Err(failed(FtpError::BadResponse)) } else { Ok(reply) }
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// A reply of several lines ends with its own code (RFC 959 §4.2); suppaftp ends it with any. What
    /// only looks like its end goes on, if it goes on at once: there are servers that end with another.
    async fn reply(&mut self) -> Result<Reply, Error> {
        let (Wire::Open(ftp) | Wire::Secure(ftp, _)) = &mut self.wire else { return Err(closed()) };
        let mut reader = ReplyReader::new();
        if self.inbox.octets().is_empty() {
            self.inbox.push(&one(ftp).await.map_err(failed)?);
        }
        for _ in 0..MOST_LINES {
            if let Some(reply) = reader.read(&mut self.inbox)? {
                return Ok(reply);
            }
            match Deadline::at_once(one(ftp)).await {
                Some(Ok(more)) => self.inbox.push(&more),
                // A line without a code, which suppaftp has dropped.
                Some(Err(FtpError::BadResponse)) => {}
                Some(Err(error)) => return Err(failed(error)),
                None => return reader.abandon().ok_or_else(closed),
            }
        }
        Err(endless())
    }

    /// The reply that is here already, without waiting; it is heard once more when it is asked for.
    pub(super) async fn early(&mut self) -> Result<Option<&Reply>, Error> {
        let mut hearing = Box::pin(self.hear());
        let heard = std::future::poll_fn(|cx| Poll::Ready(hearing.as_mut().poll(cx))).await;
        drop(hearing);
        if let Poll::Ready(reply) = heard {
            self.early = Some(reply?);
        }
        Ok(self.early.as_ref())
    }

    /// Whether a server that has begun a transfer promises it once more: it will never send it. Looks
    /// while there are no octets.
    pub(super) fn poll_promises(&mut self, cx: &mut Context<'_>) -> Option<Reply> {
        if self.early.is_none() {
            let mut hearing = Box::pin(self.hear());
            let heard = hearing.as_mut().poll(cx);
            drop(hearing);
            if let Poll::Ready(Ok(reply)) = heard {
                self.early = Some(reply);
            }
        }
        self.early.clone().filter(|reply| reply.code < 200)
    }

    /// It was heard.
    pub(super) fn forget_early(&mut self) {
        self.early = None;
    }
}

/// One reply, as suppaftp counts them.
async fn one(ftp: &mut Ftp) -> Result<Vec<u8>, FtpError> {
    match ftp.read_response_in(&[]).await {
        Ok(response) | Err(FtpError::UnexpectedResponse(response)) => Ok(response.body),
        Err(error) => Err(error),
    }
}

async fn write_all(ftp: &Ftp, mut lines: &[u8]) -> std::io::Result<()> {
    let stream = ftp.get_ref().await;
    while !lines.is_empty() {
        match stream.try_write(lines) {
            Ok(written) => lines = &lines[written..],
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => stream.writable().await?,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// See [`HandOver`].
async fn hand_over(line: SecureLine) -> Result<Result<Ftp, FtpError>, Error> {
    let nowhere = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(lost)?;
    let address = nowhere.local_addr().map_err(lost)?;
    Ok(Ftp::connect_secure_implicit(address, HandOver::new(line), "").await)
}

fn read(octets: Vec<u8>) -> Result<Reply, Error> {
    let (mut reader, mut inbox) = (ReplyReader::new(), Inbox::new());
    inbox.push(&octets);
    if !octets.ends_with(b"\n") {
        inbox.push(b"\r\n");
    }
    reader.read(&mut inbox)?.or_else(|| reader.abandon()).ok_or_else(closed)
}

fn ends(stream: &TcpStream) -> Result<(IpAddr, IpAddr), Error> {
    Ok((stream.peer_addr().map_err(lost)?.ip(), stream.local_addr().map_err(lost)?.ip()))
}

fn failed(error: FtpError) -> Error {
    match error {
        FtpError::ConnectionError(error) if is_too_large(&error) => endless(),
        FtpError::ConnectionError(error) => lost(error),
        FtpError::BadResponse => Error::new(Code::PeerMisbehaved, Phase::Reply, "what came is no FTP reply"),
        other => Error::new(Code::PeerMisbehaved, Phase::Reply, other.to_string()),
    }
}

fn endless() -> Error {
    Error::new(Code::LimitReached, Phase::Reply, "a reply without end")
}

fn is_too_large(error: &std::io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<suppaftp::ReplyTooLarge>())
}

pub(super) fn closed() -> Error {
    Error::new(Code::EmptyReply, Phase::Reply, "the server closed the connection")
}

pub(super) fn lost(error: std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::UnexpectedEof => closed(),
        _ => Error::io(Code::EmptyReply, Phase::Reply, "the control connection", error),
    }
}
