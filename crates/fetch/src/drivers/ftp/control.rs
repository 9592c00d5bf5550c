//! The control connection: suppaftp's, in the clear or in TLS. The only file that calls it.
//!
//! Lines go out as octets and in one piece, past suppaftp's own commands: those would decode names as
//! text, wait for each reply, and write passwords into its log.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use fetch_url_core::Host;
use fetch_url_proto::Inbox;
use fetch_url_proto::text::{Reply, ReplyReader};
use rustls::ClientConfig;
use suppaftp::FtpError;
use suppaftp::tokio::ImplAsyncFtpStream;
use suppaftp::types::Response;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::client::TlsStream;

use super::secure::{HandOver, Handshake, Outbox, SecureLine};
use crate::{Code, Ctx, Deadline, Error, Phase};

type Ftp = ImplAsyncFtpStream<SecureLine>;

/// A control connection.
pub(super) struct Control {
    wire: Wire,
    /// Where the server is.
    pub(super) peer: IpAddr,
    /// Where we are.
    pub(super) local: IpAddr,
    /// The greeting, when it was heard before the session began.
    greeting: Option<Reply>,
}

enum Wire {
    /// Not greeted yet.
    Fresh(TcpStream),
    /// Not greeted yet, in TLS.
    FreshTls(Box<TlsStream<TcpStream>>),
    Open(Box<Ftp>),
    Secure(Box<Ftp>, Outbox),
    Gone,
}

impl Control {
    /// A connection whose server has not greeted yet.
    pub(super) fn plain(stream: TcpStream) -> Self {
        let (peer, local) = ends(&stream);
        Self { wire: Wire::Fresh(stream), peer, local, greeting: None }
    }

    /// In TLS from the first octet (implicit).
    pub(super) fn tls(stream: TlsStream<TcpStream>) -> Self {
        let (peer, local) = ends(stream.get_ref().0);
        Self { wire: Wire::FreshTls(Box::new(stream)), peer, local, greeting: None }
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
            Wire::FreshTls(_) | Wire::Gone => Err(closed()),
        }
    }

    /// The next reply.
    pub(super) async fn hear(&mut self) -> Result<Reply, Error> {
        if let Some(greeting) = self.greeting.take() {
            return Ok(greeting);
        }
        match std::mem::replace(&mut self.wire, Wire::Gone) {
            Wire::Fresh(stream) => {
                let greeted = Ftp::connect_with_stream(stream).await;
                self.greeted(greeted, Wire::Open)
            }
            Wire::FreshTls(stream) => {
                let outbox = Outbox::default();
                let greeted = hand_over(SecureLine::new(*stream, outbox.clone())).await?;
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
            Err(FtpError::UnexpectedResponse(response)) => read(response.body),
            Err(error) => Err(failed(error)),
        }
    }

    /// A reply of several lines ends with its own code (RFC 959 §4.2); suppaftp ends it with any. What
    /// only looks like its end goes on, if it goes on at once: there are servers that end with another.
    async fn reply(&mut self) -> Result<Reply, Error> {
        let (Wire::Open(ftp) | Wire::Secure(ftp, _)) = &mut self.wire else { return Err(closed()) };
        let (mut reader, mut inbox) = (ReplyReader::new(), Inbox::new());
        inbox.push(&one(ftp).await.map_err(failed)?);
        loop {
            if let Some(reply) = reader.read(&mut inbox)? {
                return Ok(reply);
            }
            match Deadline::at_once(one(ftp)).await {
                Some(Ok(more)) => inbox.push(&more),
                // A line without a code, which suppaftp has dropped.
                Some(Err(FtpError::BadResponse)) => {}
                Some(Err(error)) => return Err(failed(error)),
                None => return reader.abandon().ok_or_else(closed),
            }
        }
    }

    /// Hears the greeting and goes on in TLS (RFC 4217 §4): AUTH TLS, PBSZ 0, PROT P, or nothing. What
    /// came in the clear behind the greeting is thrown away with suppaftp's buffer.
    pub(super) async fn start_tls(
        mut self,
        host: &Host<'static>,
        config: Arc<ClientConfig>,
        ctx: &Ctx,
    ) -> Result<Self, Error> {
        let greeting = ctx.deadline.bound(Phase::Reply, self.hear()).await?;
        let Wire::Open(ftp) = std::mem::replace(&mut self.wire, Wire::Gone) else {
            return Ok(Self { greeting: Some(greeting), ..self });
        };
        let (outbox, error) = (Outbox::default(), Arc::new(Mutex::new(None)));
        let handshake = Handshake {
            dial: ctx.dial.clone(),
            host: host.clone(),
            config,
            deadline: ctx.deadline.connecting(),
            outbox: outbox.clone(),
            error: error.clone(),
        };
        crate::engine::dialogue::said(&"AUTH TLS");
        let secured = async {
            ftp.into_secure(handshake, &host.to_string()).await.map_err(|refused| {
                let ours = error.lock().unwrap_or_else(PoisonError::into_inner).take();
                ours.unwrap_or_else(|| tls_refused(refused))
            })
        };
        let ftp = ctx.deadline.bound(Phase::Tls, secured).await?;
        self.wire = Wire::Secure(Box::new(ftp), outbox);
        Ok(Self { greeting: Some(greeting), ..self })
    }

    /// Whether the data connection is protected too.
    pub(super) const fn is_secure(&self) -> bool {
        matches!(self.wire, Wire::Secure(..) | Wire::FreshTls(_))
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

fn ends(stream: &TcpStream) -> (IpAddr, IpAddr) {
    let ip = |address: std::io::Result<SocketAddr>| {
        address.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |address| address.ip())
    };
    (ip(stream.peer_addr()), ip(stream.local_addr()))
}

fn failed(error: FtpError) -> Error {
    match error {
        FtpError::ConnectionError(error) if is_too_large(&error) => {
            Error::new(Code::LimitReached, Phase::Reply, "a reply without end")
        }
        FtpError::ConnectionError(error) => lost(error),
        FtpError::BadResponse => Error::new(Code::PeerMisbehaved, Phase::Reply, "what came is no FTP reply"),
        other => Error::new(Code::PeerMisbehaved, Phase::Reply, other.to_string()),
    }
}

fn is_too_large(error: &std::io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<suppaftp::ReplyTooLarge>())
}

/// The server does not do TLS, or not for data.
fn tls_refused(error: FtpError) -> Error {
    match error {
        FtpError::UnexpectedResponse(Response { body, .. }) => {
            let reply = body.trim_ascii().to_vec();
            Error::new(Code::TlsFailed, Phase::Tls, "the server refuses it").with_reply(&reply)
        }
        FtpError::ConnectionError(error) => Error::io(Code::TlsFailed, Phase::Tls, "the connection", error),
        other => Error::new(Code::TlsFailed, Phase::Tls, other.to_string()),
    }
}

fn closed() -> Error {
    Error::new(Code::EmptyReply, Phase::Reply, "the server closed the connection")
}

fn lost(error: std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::UnexpectedEof => closed(),
        _ => Error::io(Code::EmptyReply, Phase::Reply, "the control connection", error),
    }
}
