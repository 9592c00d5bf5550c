//! The first words of a control connection, in the clear and before suppaftp has it: a greeting that
//! is put off, and AUTH TLS (RFC 4217 §4).

use fetch_url_proto::Inbox;
use fetch_url_proto::text::{Reply, ReplyReader};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::control::{closed, lost};
use super::fault;
use crate::engine::dialogue;
use crate::{Code, Error, Phase};

/// How often a server may put its greeting off.
const MOST_DELAYS: u32 = 8;
/// Read at once.
const PIECE: usize = 4096;

/// Waits until a server is ready to greet: 120 only says that it will be (RFC 959 §4.2.2). suppaftp takes
/// nothing but the greeting itself.
pub(super) async fn until_ready(stream: &mut TcpStream) -> Result<(), Error> {
    for _ in 0..MOST_DELAYS {
        let mut start = [0; 4];
        let count = stream.peek(&mut start).await.map_err(lost)?;
        match start[..count] {
            [b'1', ..] => delayed(stream).await?,
            [_, _, _, mark] if mark != b' ' && mark != b'-' => {
                return Err(Error::new(Code::PeerMisbehaved, Phase::Reply, "what came is no FTP reply"));
            }
            _ => return Ok(()),
        }
    }
    Err(Error::new(Code::LimitReached, Phase::Reply, "a greeting that is put off again and again"))
}

/// Takes one reply and not an octet more.
async fn delayed(stream: &mut TcpStream) -> Result<(), Error> {
    let (mut reader, mut inbox) = (ReplyReader::new(), Inbox::new());
    loop {
        inbox.push(&[stream.read_u8().await.map_err(lost)?]);
        if let Some(reply) = reader.read(&mut inbox)? {
            tell(&reply);
            return Ok(());
        }
    }
}

/// Hears the greeting and asks for TLS. The greeting, for whoever takes the connection on.
pub(super) async fn auth_tls(stream: &mut TcpStream) -> Result<Reply, Error> {
    until_ready(stream).await?;
    let mut inbox = Inbox::new();
    let greeting = hear(stream, &mut inbox).await?;
    if greeting.code != 220 {
        return Err(fault::of_greeting(greeting));
    }
    dialogue::said(&"AUTH TLS");
    stream.write_all(b"AUTH TLS\r\n").await.map_err(lost)?;
    let reply = hear(stream, &mut inbox).await?;
    if reply.code != 234 {
        let code = if reply.code == 421 { Code::Busy } else { Code::TlsFailed };
        let error = Error::new(code, Phase::Tls, "the server refuses it");
        return Err(error.with_reply(&fault::words(&reply)));
    }
    // Whoever is on the way could put replies there, to be taken for the server's own.
    if !inbox.octets().is_empty() {
        let detail = "octets in the clear behind the reply to AUTH";
        return Err(Error::new(Code::TlsFailed, Phase::Tls, detail));
    }
    Ok(greeting)
}

async fn hear(stream: &mut TcpStream, inbox: &mut Inbox) -> Result<Reply, Error> {
    let mut reader = ReplyReader::new();
    let mut piece = [0; PIECE];
    loop {
        if let Some(reply) = reader.read(inbox)? {
            tell(&reply);
            return Ok(reply);
        }
        match stream.read(&mut piece).await.map_err(lost)? {
            0 => return Err(closed()),
            count => inbox.push(&piece[..count]),
        }
    }
}

fn tell(reply: &Reply) {
    dialogue::heard(&fault::words(reply));
}
