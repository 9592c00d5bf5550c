//! Reads greetings that suppaftp would reject or misread, and requests TLS with AUTH TLS (RFC 4217 §4).

use fetch_url_proto::RecvBuffer;
use fetch_url_proto::text::{Reply, ReplyReader, sanitise};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::driver_error::{connection_closed_error, connection_lost_error, greeting_error};
use super::reply_text::reply_summary;
use crate::net::server_stream::ServerStream;
use crate::net::trace;
use crate::{Code, Error, Phase};

/// Maximum number of replies 120 (service ready in n minutes) before the greeting.
const MAX_DELAY_REPLIES: u32 = 8;
/// Maximum number of bytes that one read returns.
const READ_SIZE: usize = 4096;

/// Waits for the greeting and returns `true` if the caller must read it, because suppaftp rejects this greeting or
/// cannot read the connection. Otherwise removes the lines that suppaftp would misread.
pub(super) async fn must_read_greeting(stream: &mut ServerStream) -> Result<bool, Error> {
    match stream.as_bare_tcp_mut() {
        Some(tcp) => wait_for_greeting(tcp).await,
        None => Ok(true),
    }
}

/// Waits for the greeting and removes the lines that suppaftp would misread: replies 120 (RFC 959 §4.2.2), and those
/// lines of a multi-line greeting that look like its last line. The rest of the greeting stays unread.
///
/// Returns `true` if the caller must read the greeting: its code is 230 (logged in already), which suppaftp rejects;
/// its last line is the code alone, after which suppaftp waits for more; or only a part of it has arrived.
async fn wait_for_greeting(stream: &mut TcpStream) -> Result<bool, Error> {
    let mut buffer = [0; READ_SIZE];
    for _ in 0..MAX_DELAY_REPLIES {
        let count = stream.peek(&mut buffer).await.map_err(connection_lost_error)?;
        match &buffer[..count] {
            [b'1', ..] => read_delay_reply(stream).await?,
            [b'2', b'3', b'0', ..] => return Ok(true),
            [_, _, _, separator, ..] if !matches!(separator, b' ' | b'-' | b'\r' | b'\n') => {
                return Err(Error::new(Code::PeerMisbehaved, Phase::Reply, "not an FTP reply"));
            }
            // suppaftp must not see a part of a greeting: a line of its middle may look like its last line.
            received if !is_complete(received) || ends_with_bare_code(received) => return Ok(true),
            received => {
                let length = misleading_prefix_length(received);
                if length > 0 {
                    stream.read_exact(&mut buffer[..length]).await.map_err(connection_lost_error)?;
                    buffer[..length].split(|&byte| byte == b'\n').for_each(trace::received);
                }
                return Ok(false);
            }
        }
    }
    Err(too_many_delays())
}

/// Reads the greeting. Skips replies 120. Bytes after the greeting stay in `buffer`.
pub(super) async fn read_greeting<S: AsyncRead + Unpin>(
    stream: &mut S,
    buffer: &mut RecvBuffer,
) -> Result<Reply, Error> {
    for _ in 0..MAX_DELAY_REPLIES {
        let reply = read_reply(stream, buffer).await?;
        if reply.code != 120 {
            return Ok(reply);
        }
        trace_reply(&reply);
    }
    Err(too_many_delays())
}

fn too_many_delays() -> Error {
    let detail = format!("{MAX_DELAY_REPLIES} replies 120 (not ready yet) instead of a greeting");
    Error::new(Code::LimitReached, Phase::Reply, detail)
}

/// Returns `true` if the bytes contain a whole reply.
fn is_complete(received: &[u8]) -> bool {
    let mut buffer = RecvBuffer::new();
    buffer.push(received);
    // An invalid reply is reported by the reader.
    !matches!(ReplyReader::new().read_reply(&mut buffer), Ok(None))
}

/// Returns `true` if the last line of the received bytes has no text and no blank after the code.
fn ends_with_bare_code(received: &[u8]) -> bool {
    let received = received.strip_suffix(b"\n").unwrap_or(received);
    let received = received.strip_suffix(b"\r").unwrap_or(received);
    let last = memchr::memrchr(b'\n', received).map_or(received, |end| &received[end + 1..]);
    matches!(last, [_, _, _])
}

/// Returns the length of the lines before the last line of a greeting, if one of them looks like a last line; 0 if
/// none does, or if the greeting is incomplete.
fn misleading_prefix_length(received: &[u8]) -> usize {
    let mut buffer = RecvBuffer::new();
    buffer.push(received);
    if !matches!(ReplyReader::new().read_reply(&mut buffer), Ok(Some(_))) {
        return 0;
    }
    let reply = &received[..received.len() - buffer.bytes().len()];
    let Some(last) = memchr::memrchr(b'\n', &reply[..reply.len() - 1]) else { return 0 };
    let looks_last = |line: &[u8]| matches!(line, [b'0'..=b'9', b'0'..=b'9', b'0'..=b'9', b' ', ..]);
    let is_misleading = reply[..last].split(|&byte| byte == b'\n').any(looks_last);
    if is_misleading { last + 1 } else { 0 }
}

/// Reads one reply and no byte after it.
async fn read_delay_reply(stream: &mut TcpStream) -> Result<(), Error> {
    let (mut reader, mut buffer) = (ReplyReader::new(), RecvBuffer::new());
    loop {
        buffer.push(&[stream.read_u8().await.map_err(connection_lost_error)?]);
        if let Some(reply) = reader.read_reply(&mut buffer)? {
            trace_reply(&reply);
            return Ok(());
        }
    }
}

/// Reads the greeting and sends AUTH TLS. Returns the greeting once the server has agreed to TLS.
///
/// # Errors
/// `Code::TlsFailed` if the server rejects AUTH, or if it sends data in plain text after its reply.
pub(super) async fn request_auth_tls(stream: &mut ServerStream) -> Result<Reply, Error> {
    let mut buffer = RecvBuffer::new();
    let greeting = if must_read_greeting(stream).await? {
        read_greeting(stream, &mut buffer).await?
    } else {
        read_reply(stream, &mut buffer).await?
    };
    trace_reply(&greeting);
    // 230 (logged in already) does not apply to the session inside TLS, which must log in.
    if !matches!(greeting.code, 220 | 230) {
        return Err(greeting_error(greeting));
    }
    trace::sent(&"AUTH TLS");
    stream.write_all(b"AUTH TLS\r\n").await.map_err(connection_lost_error)?;
    let reply = read_reply(stream, &mut buffer).await?;
    trace_reply(&reply);
    if reply.code != 234 {
        return Err(auth_refused_error(&reply));
    }
    // An attacker on the network could inject replies here that would be read as replies inside TLS.
    if !buffer.bytes().is_empty() {
        let detail = "plain-text data after the reply to AUTH";
        return Err(Error::new(Code::TlsFailed, Phase::Tls, detail));
    }
    Ok(Reply { code: 220, ..greeting })
}

/// Returns `true` if the error is a permanent rejection of AUTH TLS by the server: a reply 5yz.
pub(super) fn is_tls_refused(error: &Error) -> bool {
    error.code() == Code::TlsFailed && error.reply().is_some() && !error.is_transient()
}

fn auth_refused_error(reply: &Reply) -> Error {
    if reply.code < 400 {
        let detail = format!("unexpected reply to AUTH TLS: {}", sanitise(&reply_summary(reply)));
        return Error::new(Code::TlsFailed, Phase::Tls, detail);
    }
    let code = if reply.code == 421 { Code::Busy } else { Code::TlsFailed };
    let error = Error::new(code, Phase::Tls, "the server refuses TLS").with_reply(&reply_summary(reply));
    if (400..500).contains(&reply.code) { error.as_transient() } else { error }
}

async fn read_reply<S: AsyncRead + Unpin>(stream: &mut S, buffer: &mut RecvBuffer) -> Result<Reply, Error> {
    let mut reader = ReplyReader::new();
    let mut received = [0; READ_SIZE];
    loop {
        if let Some(reply) = reader.read_reply(buffer)? {
            return Ok(reply);
        }
        match stream.read(&mut received).await.map_err(connection_lost_error)? {
            0 => return Err(connection_closed_error()),
            count => buffer.push(&received[..count]),
        }
    }
}

fn trace_reply(reply: &Reply) {
    trace::received(&reply_summary(reply));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misleading_prefix_ends_before_the_last_line() {
        for (greeting, length) in [
            ("220 hello\r\n", 0),
            ("220-hello\r\n220 now\r\n", 0),
            ("220-hello\r\n331 not yet\r\n220 now\r\n", 24),
            ("220-hello\r\n331 not yet\r\n220 now\r\n331 who\r\n", 24),
            ("220-hello\r\n331 not yet\r\n220", 0),
            ("220-hello\r\n331 not yet\r\n", 0),
            ("", 0),
            ("\n", 0),
        ] {
            assert_eq!(misleading_prefix_length(greeting.as_bytes()), length, "{greeting:?}");
        }
    }
}
