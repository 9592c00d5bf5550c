//! Answers one request: checks who asks, reads what is requested, fetches it.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fetch_url::url::{HostPort, parse};
use fetch_url::{Code, Error, Url};
use http::header::{ALLOW, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Request, Response, StatusCode};
use hyper::body::Incoming;

use crate::access::{is_of_another_site, is_own_authority};
use crate::answer::Answer;
use crate::answer_body::{ActiveAnswer, AnswerBody, Never};
use crate::authorization::server_name;
use crate::connect::{Tunnel, TunnelSlot};
use crate::error_page::{error_answer, fault_answer};
use crate::gateway_request::{corrected_path, requested_url};
use crate::head_stream::HeadQueue;
use crate::link::Form;
use crate::log::AnswerRecord;
use crate::memory::MemoryNeed;
use crate::pages;
use crate::request_head::{HeadFault, RequestHead};
use crate::request_target::{RequestTarget, RequestedUrl, target_for_log};
use crate::security_headers::ContentOrigin;
use crate::shared::Shared;
use crate::status::is_refusal_of_proxy;

mod object;

/// A connection of a client.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) shared: Arc<Shared>,
    pub(crate) heads: HeadQueue,
    pub(crate) tunnel: TunnelSlot,
    /// The address on which the connection was accepted.
    pub(crate) local: SocketAddr,
    pub(crate) peer: IpAddr,
}

/// Answers the next request of `connection`. `request` is the short head that stands for it.
pub(crate) async fn answer(
    connection: Arc<Connection>,
    mut request: Request<Incoming>,
) -> Result<Response<AnswerBody>, Never> {
    let started = Instant::now();
    let missing = || HeadFault::new(StatusCode::BAD_REQUEST, "a request without a head");
    let (head, unanswered) = match connection.heads.take() {
        Some((head, unanswered)) => (head, Some(unanswered)),
        None => (Err(missing()), None),
    };
    let shared = &connection.shared;
    let permit = shared.permit(connection.peer);
    let is_refused = permit.is_none();
    let active = ActiveAnswer {
        shared: shared.clone(),
        record: record(connection.peer, head.as_ref().ok()),
        started,
        _permit: permit,
        memory: None,
        unanswered,
    };
    let head = match head {
        Ok(head) => head,
        Err(fault) => return Ok(fault_answer(None, &fault).into_response(active, true)),
    };
    if is_refused {
        let fault = HeadFault::new(StatusCode::TOO_MANY_REQUESTS, "too many requests of this client at once");
        let answer = fault_answer(Some(&head), &fault).with(RETRY_AFTER, "1");
        return Ok(answer.into_response(active, head.method == "CONNECT"));
    }
    let answer = match head.method.as_str() {
        "GET" | "HEAD" | "CONNECT" => answer_head(&connection, &head, &mut request).await,
        _ => {
            let fault =
                HeadFault::new(StatusCode::METHOD_NOT_ALLOWED, "only GET, HEAD and CONNECT are served");
            fault_answer(Some(&head), &fault).with(ALLOW, "GET, HEAD, CONNECT")
        }
    };
    let closes = head.method == "CONNECT" && answer.status != StatusCode::OK;
    Ok(answer.into_response(active, closes))
}

fn record(client: IpAddr, head: Option<&RequestHead>) -> AnswerRecord {
    AnswerRecord {
        client,
        method: head.map_or("-", |head| &head.method).to_owned(),
        target: head.map_or_else(|| "-".to_owned(), |head| target_for_log(&head.target)),
        version: head.map_or(1, |head| head.version),
        status: 0,
        bytes: 0,
        is_complete: false,
        elapsed: Duration::ZERO,
        error: None,
    }
}

async fn answer_head(connection: &Connection, head: &RequestHead, request: &mut Request<Incoming>) -> Answer {
    let shared = &connection.shared;
    let is_loop = head.values("via").any(|via| String::from_utf8_lossy(via).contains(&shared.via_name));
    if is_loop {
        let fault = HeadFault::new(StatusCode::LOOP_DETECTED, "this server has asked itself");
        return fault_answer(Some(head), &fault);
    }
    match read_target(connection, head) {
        Ok(RequestTarget::Tunnel(server)) => tunnel(connection, head, &server, request).await,
        Ok(RequestTarget::StartPage(url)) => start_page(connection, url),
        Ok(RequestTarget::Object(requested)) => object(connection, head, &requested).await,
        Err(fault) => fault_answer(Some(head), &fault),
    }
}

/// Reads the target and checks that a path is asked under a name of this server, and not by the page of another site.
fn read_target(connection: &Connection, head: &RequestHead) -> Result<RequestTarget, HeadFault> {
    let (local, names) = (connection.local, &connection.shared.host_names);
    let requested = RequestTarget::from_head(head)?;
    // A client that uses this server as its proxy may ask for the pages of the server itself.
    let own_path = match &requested {
        RequestTarget::Object(RequestedUrl { form: Form::Proxy, .. }) => own_path(&head.target, local, names),
        _ => None,
    };
    let requested = own_path.map_or(Ok(requested), |path| RequestTarget::from_path(&path))?;
    if matches!(
        &requested,
        RequestTarget::Tunnel(_) | RequestTarget::Object(RequestedUrl { form: Form::Proxy, .. })
    ) {
        return Ok(requested);
    }
    if let Some(host) = head.field("host")
        && !std::str::from_utf8(host).is_ok_and(|host| is_own_authority(host.trim(), local, names))
    {
        let detail = "the field Host names another server; --host-name NAME allows a further name";
        return Err(HeadFault::new(StatusCode::MISDIRECTED_REQUEST, detail));
    }
    if is_of_another_site(head, local, names) {
        let detail = "the page of another site made this request: open the address from here or type it";
        return Err(crate::error_page::forbidden(detail));
    }
    Ok(requested)
}

/// Returns the path, without its first slash, if `target` is an http URL of this server.
fn own_path(target: &str, local: SocketAddr, names: &[String]) -> Option<String> {
    let rest =
        target.get(..7).filter(|scheme| scheme.eq_ignore_ascii_case("http://")).and(target.get(7..))?;
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    is_own_authority(authority, local, names).then(|| path.to_owned())
}

fn start_page(connection: &Connection, typed: Option<String>) -> Answer {
    match typed.as_deref().map(str::trim).filter(|typed| !typed.is_empty()) {
        None => Answer::page(StatusCode::OK, pages::start::start_page(&connection.shared, connection.peer)),
        Some(typed) => {
            let typed = typed.replace(' ', "%20");
            let path = corrected_path(&typed).unwrap_or_else(|| match parse(&typed) {
                Ok(parsed) => format!("/{}", parsed.url),
                Err(_) => path_of_text(&typed),
            });
            Answer::redirect(StatusCode::SEE_OTHER, &path)
        }
    }
}

/// Returns the path for text that is no URL. A first `/` or `\` is encoded: browsers would read the path as another host.
fn path_of_text(text: &str) -> String {
    match text.split_at_checked(1) {
        Some(("/", rest)) => format!("/%2F{rest}"),
        Some(("\\", rest)) => format!("/%5C{rest}"),
        _ => format!("/{text}"),
    }
}

async fn tunnel(
    connection: &Connection,
    head: &RequestHead,
    server: &HostPort<'static>,
    request: &mut Request<Incoming>,
) -> Answer {
    let Some(memory) = connection.shared.memory.reserve(MemoryNeed::Tunnel) else {
        return busy_answer(head);
    };
    match connection.shared.fetchers.connect(server).await {
        Ok(stream) => {
            connection.tunnel.put(Tunnel { client: hyper::upgrade::on(request), server: stream, memory });
            Answer::new(StatusCode::OK, ContentOrigin::Upstream)
        }
        Err(error) => {
            let name = server.to_string();
            connection.shared.recent_errors.record(connection.peer, &name, &error.to_string());
            error_answer(head, Form::Proxy, &error, Some(&name))
        }
    }
}

async fn object(connection: &Connection, head: &RequestHead, requested: &RequestedUrl) -> Answer {
    let shared = &connection.shared;
    if requested.form == Form::Path
        && requested.fields.is_empty()
        && let Some(path) = corrected_path(&requested.text)
    {
        return Answer::redirect(StatusCode::TEMPORARY_REDIRECT, &path);
    }
    // Text that is no URL is an error, which needs no more than an object.
    let need = requested_url(requested).map_or(MemoryNeed::Object, |url| MemoryNeed::of(head, &url));
    let Some(memory) = shared.memory.reserve(need) else { return busy_answer(head) };
    let mut answer = match object::fetch(shared, connection.peer, head, requested).await {
        Ok(answer) => answer,
        Err(error) => match directory_redirect(connection, head, requested, &error).await {
            Some(redirect) => redirect,
            None => failed(connection, head, requested, &error),
        },
    };
    answer.memory = Some(memory);
    answer
}

/// Returns the answer to a request for which there is no memory.
fn busy_answer(head: &RequestHead) -> Answer {
    let detail = "the requests that are under way use all memory of this server (--max-memory)";
    let fault = HeadFault::new(StatusCode::SERVICE_UNAVAILABLE, detail);
    fault_answer(Some(head), &fault).with(RETRY_AFTER, "1")
}

/// Returns the redirect to an FTP directory whose URL was given without its final slash (RFC 1738 §3.2.2).
async fn directory_redirect(
    connection: &Connection,
    head: &RequestHead,
    requested: &RequestedUrl,
    error: &Error,
) -> Option<Answer> {
    let url = requested_url(requested).ok().filter(|_| error.code() == Code::NotFound)?;
    let Url::Ftp(ftp) = &url else { return None };
    let is_file = ftp.path().is_none_or(|path| path.name().is_empty() || path.typecode().is_some());
    if is_file {
        return None;
    }
    let directory = RequestedUrl { text: format!("{url}/"), ..requested.clone() };
    object::fetch(&connection.shared, connection.peer, head, &directory).await.ok()?;
    Some(Answer::redirect(StatusCode::TEMPORARY_REDIRECT, &requested.form.link(&directory.text)))
}

/// Returns the answer for a request that failed. A server that requires a login gets one by status 401.
fn failed(connection: &Connection, head: &RequestHead, requested: &RequestedUrl, error: &Error) -> Answer {
    let url = requested_url(requested).ok();
    let shown = match &url {
        Some(url) => url.redacted().to_string(),
        None => fetch_url::url::mask_password(&requested.text),
    };
    connection.shared.recent_errors.record(connection.peer, &shown, &error.to_string());
    let answer = error_answer(head, requested.form, error, Some(&shown));
    match url {
        Some(url) if error.code() == Code::AuthNeeded && !is_refusal_of_proxy(error) => {
            login_answer(&connection.shared, requested, &url, answer)
        }
        _ => answer,
    }
}

/// Adds the challenge for a login to `answer`. A news URL without a server is redirected to one with it: the browser
/// would send the login for every other path.
fn login_answer(shared: &Shared, requested: &RequestedUrl, url: &Url<'static>, answer: Answer) -> Answer {
    if requested.form == Form::Path && url.host().is_none() {
        let Some(server) = &shared.news_server else { return answer };
        let named = url.clone().with_news_server(server);
        return Answer::redirect(StatusCode::TEMPORARY_REDIRECT, &format!("/{named}"));
    }
    let realm = server_name(url).replace(['"', '\\'], "");
    answer.with(WWW_AUTHENTICATE, &format!("Basic realm=\"{realm}\", charset=\"UTF-8\""))
}
