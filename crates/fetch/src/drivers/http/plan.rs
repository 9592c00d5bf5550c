//! The HTTP request for a URL: its method, target, headers and body. No I/O; the only state that it reads is the
//! caller's cookie jar.

use std::fmt;
use std::sync::Arc;

use fetch_url_core::{Host, Security, Url};
use http::header::{AUTHORIZATION, HOST};
use http::{HeaderMap, HeaderValue, Method};

use super::options::{AuthMode, HeaderField, HttpOptions, HttpVersion};
use super::request_body::RequestBody;
use super::spellings::{Spellings, title_case};
use super::{authorization, forwarded, request_headers};
use crate::credentials::masking::mask_secrets_in_text;
use crate::credentials::secret::SecretBytes;
use crate::request::SpareConnections;
use crate::{ByteRange, Code, Condition, Credential, Error, Phase, Request, Resume, Want};

/// Maximum length of a request target in bytes. hyper sends at most 65534 bytes, which for HTTP/2 include scheme and
/// authority.
const MAX_TARGET: usize = 65_000;

/// One HTTP request. `Display` shows its request line and headers, with secrets replaced by `***`.
#[derive(Clone)]
pub(super) struct HttpPlan {
    pub(super) url: Url<'static>,
    pub(super) method: Method,
    pub(super) is_tls: bool,
    pub(super) host: Host<'static>,
    pub(super) port: u16,
    /// The value of Host, or of `:authority` in HTTP/2.
    pub(super) authority: String,
    /// The caller has set the value of Host.
    pub(super) has_own_authority: bool,
    /// The request target in origin form (RFC 9112 §3.2.1), sent byte for byte; if the request is forwarded, in
    /// absolute form.
    pub(super) target: String,
    pub(super) headers: HeaderMap,
    pub(super) spellings: Spellings,
    pub(super) body: Option<RequestBody>,
    /// The caller wants the metadata only.
    pub(super) wants_head: bool,
    pub(super) login: Option<Credential>,
    /// The login of the proxy. It is masked in responses, because the proxy may repeat it.
    pub(super) proxy_login: Option<Credential>,
    pub(super) authorization: Option<HeaderValue>,
    /// The caller has set or removed the field Authorization, so no login is sent in it.
    pub(super) has_own_authorization: bool,
    /// The login with which a 401 was answered, for example from the password prompt.
    pub(super) login_after_challenge: Option<Credential>,
    /// The secrets of the requests before a redirect, which the server may have repeated in this URL.
    pub(super) earlier_secrets: Vec<SecretBytes>,
    /// The number of 401 responses after which the request was sent again with credentials.
    pub(super) answered_challenges: u8,
    pub(super) range: Option<ByteRange>,
    pub(super) resume: Option<Resume>,
    pub(super) condition: Option<Condition>,
    pub(super) options: HttpOptions,
    /// Connections that are opened in advance by the first request, for the next ones.
    pub(super) spares: Option<Arc<SpareConnections>>,
    /// The request goes to an HTTP proxy, with the whole URL as its target.
    pub(super) is_forwarded: bool,
}

impl HttpPlan {
    /// Returns `true` if reqwest cannot send the request: an option is set that it does not support, or the caller has
    /// removed the field `Accept`, which reqwest would add.
    pub(super) fn needs_own_transport(&self) -> bool {
        let lacks_accept = !self.headers.contains_key(http::header::ACCEPT);
        let is_http2 = self.options.version == HttpVersion::Http2PriorKnowledge;
        let is_exact = self.options.raw || self.options.ignore_content_length;
        lacks_accept || is_http2 || is_exact || self.has_own_authority
    }

    /// Returns `true` if the body is not read: metadata only is requested, or the method is HEAD.
    pub(super) fn is_head(&self) -> bool {
        self.wants_head || self.method == Method::HEAD
    }

    /// Builds the HTTP request for `request`.
    pub(super) fn new(request: &Request) -> Result<Self, Error> {
        let (target, is_forwarded) = match request.url() {
            Url::Http(url) => (url.origin_form(), false),
            Url::Ftp(_) => (forwarded::absolute_form(request)?, true),
            _ => return Err(Error::unsupported("the http driver handles http: and https: URLs only")),
        };
        let Some(host) = request.url().host() else {
            return Err(Error::unsupported("the http driver needs a host"));
        };
        let mut options = request.extra::<HttpOptions>().cloned().unwrap_or_default();
        if is_forwarded {
            options = forwarded::options(options);
        }
        // Metadata describes the whole object, so it is requested without a range.
        let wants_head = request.want() == Want::Head;
        let range = request.wanted_range().filter(|_| !wants_head);
        let method = request_method(request, &options)?;
        // Range is defined for GET only (RFC 9110 §14.2), and the response to another method is not the stored object.
        let resume = request.resume().filter(|_| !wants_head && method == Method::GET).cloned();
        // The body of an error response must not be appended to a part of the object.
        options.deliver_error_body &= range.is_none() && resume.is_none();
        let mut headers = request_headers::request_headers(request, resume.as_ref(), &options)?;
        let (is_tls, host) = (request.url().scheme().security == Security::Tls, host.into_owned());
        let port = request.url().port().unwrap_or(80);
        check_length(&target)?;
        if !is_forwarded {
            check_target(&target)?;
        }
        let login = request.login().cloned();
        let has_own_authorization = headers.contains_key(AUTHORIZATION) || removes_authorization(&options);
        let sends_login = options.auth == AuthMode::Preemptive && !has_own_authorization;
        let sent_login = login.as_ref().filter(|login| sends_login && login.expose_password().is_some());
        let own_authority = request_headers::take_host(&mut headers);
        Ok(Self {
            url: request.url().clone(),
            method,
            is_tls,
            has_own_authority: own_authority.is_some(),
            authority: own_authority.unwrap_or_else(|| {
                authority(&host, port, if is_forwarded { 21 } else { default_port(is_tls) })
            }),
            host,
            port,
            target,
            spellings: Spellings::of(&options),
            headers,
            body: options.body.clone().filter(|_| !request.is_plain_get()),
            wants_head,
            proxy_login: None,
            authorization: sent_login.map(authorization::basic_authorization).transpose()?,
            has_own_authorization,
            login,
            login_after_challenge: None,
            earlier_secrets: request.earlier_secrets().to_vec(),
            answered_challenges: 0,
            range,
            resume,
            condition: request.condition(),
            options,
            spares: request.extra::<Arc<SpareConnections>>().cloned(),
            is_forwarded,
        })
    }

    /// Returns a text of the request for the trace, without secrets that a redirect has repeated.
    pub(super) fn shown(&self, text: &str) -> String {
        mask_secrets_in_text(text, &self.earlier_secrets)
    }

    /// Returns `true` if a part of the object is requested.
    pub(super) const fn is_partial(&self) -> bool {
        self.range.is_some() || self.resume.is_some()
    }

    /// Returns `true` if sending the request twice has the same effect as sending it once (RFC 9110 §9.2.2).
    pub(super) fn is_idempotent(&self) -> bool {
        self.method.is_idempotent()
    }

    /// Returns `true` if HTTP/2 may be negotiated, or is used without TLS.
    pub(super) const fn allows_http2(&self) -> bool {
        match self.options.version {
            _ if self.options.ignore_content_length => false,
            HttpVersion::Any => self.is_tls && cfg!(feature = "http2"),
            HttpVersion::Http2PriorKnowledge => !self.is_forwarded,
            HttpVersion::Http1 | HttpVersion::Http10 => false,
        }
    }

    /// Returns `scheme://host[:port]`.
    pub(super) fn origin(&self) -> String {
        let scheme = if self.is_tls { "https" } else { "http" };
        format!("{scheme}://{}", authority(&self.host, self.port, default_port(self.is_tls)))
    }
}

/// Returns `true` if the caller removes or empties the field Authorization. No login is sent then, wherever it comes from,
/// not even after a redirect to another origin, which does not get the empty field.
fn removes_authorization(options: &HttpOptions) -> bool {
    let is_empty = |field: &HeaderField| field.value.as_deref().is_none_or(<[u8]>::is_empty);
    let mut removed = options.headers.iter().filter(|field| is_empty(field));
    removed.any(|field| field.name.eq_ignore_ascii_case(AUTHORIZATION.as_str()))
}

/// Checks that the target has at most [`MAX_TARGET`] bytes.
fn check_length(target: &str) -> Result<(), Error> {
    let length = target.len();
    if length <= MAX_TARGET {
        return Ok(());
    }
    let detail = format!("path and query have {length} bytes, more than {MAX_TARGET}");
    Err(Error::new(Code::BadUrl, Phase::Plan, detail))
}

/// Checks that the target has no byte that a request line forbids (RFC 9112 §3.2).
fn check_target(target: &str) -> Result<(), Error> {
    match target.parse::<http::uri::PathAndQuery>() {
        Ok(_) => Ok(()),
        Err(error) => Err(Error::new(Code::BadUrl, Phase::Plan, format!("path and query: {error}"))),
    }
}

/// Returns host and port; the default port of the scheme is left out (RFC 9110 §7.2), and so is a zone (RFC 6874 §4).
fn authority(host: &Host<'_>, port: u16, default: u16) -> String {
    let host = host.without_zone();
    if port == default { host.to_string() } else { format!("{host}:{port}") }
}

const fn default_port(is_tls: bool) -> u16 {
    if is_tls { 443 } else { 80 }
}

fn request_method(request: &Request, options: &HttpOptions) -> Result<Method, Error> {
    match &options.method {
        Some(method) if !request.is_plain_get() => Method::from_bytes(method.as_bytes()).map_err(|_| {
            Error::new(Code::Usage, Phase::Plan, format!("{method:?} is not a valid HTTP method"))
        }),
        None if request.want() == Want::Head => Ok(Method::HEAD),
        None if options.body.is_some() && !request.is_plain_get() => Ok(Method::POST),
        _ => Ok(Method::GET),
    }
}

impl fmt::Display for HttpPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = if self.options.version == HttpVersion::Http10 { "HTTP/1.0" } else { "HTTP/1.1" };
        writeln!(f, "{} {} {version}", self.method, self.shown(&self.target))?;
        writeln!(f, "{}: {}", title_case(HOST.as_str()), self.authority)?;
        if let Some(authorization) = &self.authorization {
            let scheme = authorization.to_str().ok().and_then(|text| text.split(' ').next());
            writeln!(f, "Authorization: {} ***", scheme.unwrap_or_default())?;
        }
        for (name, value) in self.spellings.spelt(&self.headers) {
            let shown =
                if value.is_sensitive() { "***".into() } else { String::from_utf8_lossy(value.as_bytes()) };
            writeln!(f, "{name}: {}", self.shown(&shown))?;
        }
        match &self.body {
            None => Ok(()),
            Some(body) => writeln!(f, "Content-Length: {}", body.size()),
        }
    }
}
