//! The request line and fields for a URL. Pure.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use fetch_url_core::{Host, Security, Url};
use http::header::HOST;
use http::{HeaderMap, HeaderValue, Method};

use super::Roads;
use super::options::{HttpOptions, HttpVersion};
use super::{auth, fields};
use crate::driver::RunFuture;
use crate::{ByteRange, Code, Condition, Credential, Ctx, Error, Phase, Plan, Request, Resume, Want};

/// One request, as it goes out.
pub(super) struct HttpPlan {
    pub(super) url: Url<'static>,
    pub(super) method: Method,
    pub(super) is_tls: bool,
    pub(super) host: Host<'static>,
    pub(super) port: u16,
    /// What the server is called in the request.
    pub(super) authority: String,
    pub(super) target: String,
    pub(super) fields: HeaderMap,
    pub(super) body: Option<Bytes>,
    /// Only the head of the answer is wanted.
    pub(super) wants_head: bool,
    pub(super) login: Option<Credential>,
    pub(super) authorization: Option<HeaderValue>,
    /// The server wanted to know who asks, and is told now.
    pub(super) is_second: bool,
    pub(super) range: Option<ByteRange>,
    pub(super) resume: Option<Resume>,
    pub(super) condition: Option<Condition>,
    pub(super) options: HttpOptions,
    pub(super) roads: Arc<Roads>,
}

impl HttpPlan {
    pub(super) fn new(request: &Request, roads: Arc<Roads>) -> Result<Self, Error> {
        let Url::Http(url) = request.url() else {
            return Err(Error::unsupported("the http driver reads http URLs only"));
        };
        let mut options = request.extra::<HttpOptions>().cloned().unwrap_or_default();
        // What is known of an object is known of all of it.
        let is_whole = request.want() == Want::Head;
        let range = request.wanted_range().filter(|_| !is_whole);
        let resume = request.resume().filter(|_| !is_whole).cloned();
        // The body of an error is no part of the object.
        options.delivers_errors &= range.is_none() && resume.is_none();
        let mut fields = fields::of(request, &options)?;
        let (is_tls, host) = (url.scheme().security == Security::Tls, url.login().at().host().clone());
        let port = request.url().port().unwrap_or(80);
        let login = request.login().cloned();
        let is_shown = !options.waits_for_challenge && !fields.contains_key(http::header::AUTHORIZATION);
        let shown = login.as_ref().filter(|login| is_shown && login.expose().is_some());
        Ok(Self {
            url: request.url().clone(),
            method: method(request, &options)?,
            is_tls,
            authority: fields::take_host(&mut fields).unwrap_or_else(|| authority(&host, port, is_tls)),
            host,
            port,
            target: url.origin_form(),
            fields,
            body: options.body.clone().filter(|_| !request.is_plain()),
            wants_head: is_whole,
            authorization: shown.map(auth::basic).transpose()?,
            login,
            is_second: false,
            range,
            resume,
            condition: request.condition(),
            options,
            roads,
        })
    }

    /// Whether only a part of the object is asked for.
    pub(super) const fn asks_for_part(&self) -> bool {
        self.range.is_some() || self.resume.is_some()
    }

    /// Whether to send it twice means no more than to send it once (RFC 9110 §9.2.2).
    pub(super) fn is_idempotent(&self) -> bool {
        self.method.is_idempotent()
    }

    /// Whether HTTP/2 may be spoken.
    pub(super) fn takes_http2(&self) -> bool {
        self.is_tls && self.options.version == HttpVersion::Any
    }

    /// `scheme://host[:port]`.
    pub(super) fn origin(&self) -> String {
        let scheme = if self.is_tls { "https" } else { "http" };
        format!("{scheme}://{}", authority(&self.host, self.port, self.is_tls))
    }
}

/// RFC 9110 §7.2: the port only when it is not the scheme's own.
fn authority(host: &Host<'_>, port: u16, is_tls: bool) -> String {
    let own = if is_tls { 443 } else { 80 };
    if port == own { host.to_string() } else { format!("{host}:{port}") }
}

fn method(request: &Request, options: &HttpOptions) -> Result<Method, Error> {
    match &options.method {
        Some(method) if !request.is_plain() => Method::from_bytes(method.as_bytes())
            .map_err(|_| Error::new(Code::Usage, Phase::Plan, format!("{method:?} is no method of HTTP"))),
        None if request.want() == Want::Head => Ok(Method::HEAD),
        None if options.body.is_some() && !request.is_plain() => Ok(Method::POST),
        _ => Ok(Method::GET),
    }
}

impl Plan for HttpPlan {
    fn run(self: Box<Self>, ctx: Ctx) -> RunFuture {
        Box::pin(super::io::run(*self, ctx))
    }
}

impl fmt::Display for HttpPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {} HTTP/1.1", self.method, self.target)?;
        writeln!(f, "{}: {}", title_case(HOST.as_str()), self.authority)?;
        if let Some(authorization) = &self.authorization {
            let scheme = authorization.to_str().ok().and_then(|text| text.split(' ').next());
            writeln!(f, "Authorization: {} ***", scheme.unwrap_or_default())?;
        }
        for (name, value) in &self.fields {
            let shown =
                if value.is_sensitive() { "***".into() } else { String::from_utf8_lossy(value.as_bytes()) };
            writeln!(f, "{}: {shown}", title_case(name.as_str()))?;
        }
        match &self.body {
            None => Ok(()),
            Some(body) => writeln!(f, "Content-Length: {}", body.len()),
        }
    }
}

fn title_case(name: &str) -> String {
    let words = name.split('-').map(|word| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_ascii_uppercase() + rest
    });
    words.collect::<Vec<_>>().join("-")
}
