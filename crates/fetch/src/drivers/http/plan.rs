//! The request line and fields for a URL. Pure.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fetch_url_core::{Host, HttpUrl, Security, Url};
use fetch_url_proto::Octets;
use http::HeaderValue;

use super::client::Clients;
use super::range;
use crate::driver::RunFuture;
use crate::{ByteRange, Code, Ctx, DeliverErrors, Error, Phase, Plan, Request, Resume, Want};

const AGENT: &str = concat!("fetch-url/", env!("CARGO_PKG_VERSION"));

/// One request, as it goes out.
pub(super) struct HttpPlan {
    pub(super) url: Url<'static>,
    pub(super) method: http::Method,
    pub(super) is_tls: bool,
    pub(super) host: Host<'static>,
    pub(super) port: u16,
    pub(super) target: String,
    pub(super) fields: Vec<(http::HeaderName, String)>,
    pub(super) authorization: Option<HeaderValue>,
    pub(super) range: Option<ByteRange>,
    pub(super) resume: Option<Resume>,
    pub(super) delivers_errors: bool,
    pub(super) clients: Arc<Clients>,
}

impl HttpPlan {
    pub(super) fn new(request: &Request, clients: Arc<Clients>) -> Result<Self, Error> {
        let Url::Http(url) = request.url() else {
            return Err(Error::unsupported("the http driver reads http URLs only"));
        };
        let method = if request.want() == Want::Head { http::Method::HEAD } else { http::Method::GET };
        // What is known of an object is known of all of it.
        let is_whole = request.want() == Want::Head;
        let range = request.wanted_range().filter(|_| !is_whole);
        let resume = request.resume().filter(|_| !is_whole).cloned();
        // The body of an error is no part of the object.
        let is_part = range.is_some() || resume.is_some();
        let delivers_errors = !is_part && request.extra::<DeliverErrors>().is_some();
        Ok(Self {
            url: request.url().clone(),
            method,
            is_tls: url.scheme().security == Security::Tls,
            host: url.login().at().host().clone(),
            port: request.url().port().unwrap_or(80),
            target: url.origin_form(),
            fields: fields(range, resume.as_ref()),
            authorization: authorization(url)?,
            range,
            resume,
            delivers_errors,
            clients,
        })
    }

    /// Whether only a part of the object is asked for.
    pub(super) const fn asks_for_part(&self) -> bool {
        self.range.is_some() || self.resume.is_some()
    }

    /// `scheme://host[:port]`.
    pub(super) fn origin(&self) -> String {
        let scheme = if self.is_tls { "https" } else { "http" };
        format!("{scheme}://{}", self.authority())
    }

    /// RFC 9110 §7.2: the port only when it is not the scheme's own.
    pub(super) fn authority(&self) -> String {
        let own = if self.is_tls { 443 } else { 80 };
        if self.port == own { self.host.to_string() } else { format!("{}:{}", self.host, self.port) }
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
        writeln!(f, "Host: {}", self.authority())?;
        if self.authorization.is_some() {
            writeln!(f, "Authorization: Basic ***")?;
        }
        self.fields.iter().try_for_each(|(name, value)| writeln!(f, "{}: {value}", title_case(name.as_str())))
    }
}

fn title_case(name: &str) -> String {
    let words = name.split('-').map(|word| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_ascii_uppercase() + rest
    });
    words.collect::<Vec<_>>().join("-")
}

fn fields(wanted: Option<ByteRange>, resume: Option<&Resume>) -> Vec<(http::HeaderName, String)> {
    let mut fields =
        vec![(http::header::USER_AGENT, AGENT.to_owned()), (http::header::ACCEPT, "*/*".to_owned())];
    let asked = resume.map(|resume| ByteRange::Span { first: resume.offset, last: None }).or(wanted);
    if let Some(asked) = asked {
        // A server that compresses on the fly counts the octets of something else.
        fields.push((http::header::ACCEPT_ENCODING, "identity".to_owned()));
        fields.push((http::header::RANGE, range::field(asked)));
    }
    if let Some(resume) = resume {
        fields.push((http::header::IF_RANGE, range::if_range(&resume.validator)));
    }
    fields
}

/// User and password of a leniently read URL, as Basic (RFC 7617), octet for octet.
fn authorization(url: &HttpUrl<'_>) -> Result<Option<HeaderValue>, Error> {
    let Some(user) = url.login().user() else { return Ok(None) };
    let user = Octets::BASIC_USER.check("user", &user.decode())?.to_vec();
    let password = url.login().password().map(|password| password.expose().decode().into_owned());
    let pair = [&user[..], b":", &password.unwrap_or_default()].concat();
    let text = format!("Basic {}", STANDARD.encode(pair));
    let mut value = HeaderValue::from_str(&text)
        .map_err(|error| Error::new(Code::Internal, Phase::Plan, error.to_string()))?;
    value.set_sensitive(true);
    Ok(Some(value))
}
