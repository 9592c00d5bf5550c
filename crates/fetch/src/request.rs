//! A request: a URL and the options for fetching it.

mod condition;
mod other_url;
mod preceding;
mod redirect_state;
mod shared_observer;
mod spare_connections;

use std::str::FromStr;
use std::sync::Arc;

use fetch_url_core::{HostPort, Url, parse};

use self::shared_observer::SharedObserver;
use crate::credentials::secret::SecretBytes;
use crate::drivers::file::options::SpecialFiles;
use crate::drivers::telnet::options::Connect;
#[cfg(feature = "ftp")]
use crate::ftp::FtpOptions;
#[cfg(feature = "gopher")]
use crate::gopher::GopherOptions;
use crate::http::{HeaderField, HttpOptions};
use crate::news::NewsOptions;
use crate::{ByteRange, Resume, Retry};
use crate::{Code, Credential, Error, Event, HostPermit, Observer};

pub use self::condition::Condition;
pub use self::preceding::PrecedingBytes;
pub(crate) use self::redirect_state::RedirectState;
pub(crate) use self::spare_connections::SpareConnections;

/// A request for one URL: the URL, a byte range, conditions, resume data and options of the drivers.
///
/// It is built by method calls and passed to [`Fetcher::fetch`](crate::Fetcher::fetch). A request can be cloned and
/// sent several times. Clones share their parts until one is changed.
#[derive(Clone, Debug)]
pub struct Request(Arc<Parts>);

#[derive(Clone, Debug)]
struct Parts {
    url: Url<'static>,
    want: Want,
    range: Option<ByteRange>,
    resume: Option<Resume>,
    /// The bytes before the range, if the caller has them.
    preceding: Option<PrecedingBytes>,
    condition: Option<Condition>,
    login: Option<Credential>,
    news_server: Option<HostPort<'static>>,
    redirect_state: RedirectState,
    /// The URL whose response redirected to this one.
    redirected_from: Option<Url<'static>>,
    /// The secrets of the requests before this one. The server may have repeated them in the target of its redirect.
    earlier_secrets: Vec<SecretBytes>,
    observer: Option<SharedObserver>,
    host_permit: Option<Arc<HostPermit>>,
    /// Errors are not retried, because the caller has another server to try.
    is_tried_once: bool,
    max_refusal_retries: Option<u32>,
    extras: Vec<Arc<dyn std::any::Any + Send + Sync>>,
}

/// The response that a request wants: the object, or its metadata only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Want {
    /// Metadata only, such as HTTP HEAD or FTP SIZE and MDTM.
    Head,
    /// The object and its metadata.
    #[default]
    Object,
}

impl Request {
    /// Creates a request for the URL `text`.
    ///
    /// # Errors
    /// `Code::BadUrl` if the text is not a URL; the error contains the position of the offending character.
    pub fn new(text: &str) -> Result<Self, Error> {
        Ok(Self::from_url(parse(text)?.into_owned().url))
    }

    /// Creates a request for `url`.
    pub fn from_url(url: Url<'static>) -> Self {
        let redirect_state = RedirectState {
            is_cross_origin: false,
            trusts_target: false,
            is_plain_get: false,
            is_from_public: false,
            is_for_gateway: false,
        };
        Self(Arc::new(Parts {
            url,
            want: Want::Object,
            range: None,
            resume: None,
            preceding: None,
            condition: None,
            login: None,
            news_server: None,
            redirected_from: None,
            earlier_secrets: Vec::new(),
            redirect_state,
            observer: None,
            host_permit: None,
            is_tried_once: false,
            max_refusal_retries: None,
            extras: Vec::new(),
        }))
    }

    /// Returns the parts for changes. They are copied first if another request shares them.
    fn parts_mut(&mut self) -> &mut Parts {
        Arc::make_mut(&mut self.0)
    }

    /// Requests metadata only, without the object.
    #[must_use]
    pub fn head(mut self) -> Self {
        self.parts_mut().want = Want::Head;
        self
    }

    /// Requests the object itself, even if [`head`](Self::head) was called before.
    pub(crate) fn object(mut self) -> Self {
        self.parts_mut().want = Want::Object;
        self
    }

    /// Requests a byte range of the object. Protocols without ranges return `Code::RangeRefused` or
    /// `Code::Unsupported`.
    #[must_use]
    pub fn range(mut self, range: ByteRange) -> Self {
        self.parts_mut().range = Some(range);
        self
    }

    /// Sets the bytes before the range, which the caller has. A server that does not state the offset of the data that
    /// it sends (FTP) is asked for them again. The error is `Code::RangeRefused` if it sends other bytes, or if neither
    /// these bytes nor the size of the object can prove the offset.
    #[must_use]
    pub fn preceded_by(mut self, bytes: PrecedingBytes) -> Self {
        self.parts_mut().preceding = Some(bytes);
        self
    }

    /// Requests the rest of a partial download. If the object has changed or the server cannot resume, the whole
    /// object is returned; `Meta::offset` is the offset of the first byte of the body. With [`Request::range`], the
    /// partial download is one of that range: its rest is requested, or else the whole range.
    #[must_use]
    pub fn resuming(mut self, resume: Option<Resume>) -> Self {
        if resume.is_some() || self.0.resume.is_some() {
            self.parts_mut().resume = resume;
        }
        self
    }

    /// Requests the object only if `condition` is met. Otherwise the content of the response is
    /// [`crate::Content::Unchanged`].
    #[must_use]
    pub fn only_if(mut self, condition: Condition) -> Self {
        self.parts_mut().condition = Some(condition);
        self
    }

    /// Sets the server for `news:` URLs, which do not name one (RFC 1738 §3.6).
    #[must_use]
    pub fn news_server(mut self, server: HostPort<'static>) -> Self {
        let parts = self.parts_mut();
        parts.url = parts.url.clone().with_news_server(&server);
        parts.news_server = Some(server);
        self
    }

    /// Calls `observer` for redirects and retries of this request.
    #[must_use]
    pub fn observed_by(mut self, observer: Arc<dyn Observer>) -> Self {
        self.parts_mut().observer = Some(SharedObserver(observer));
        self
    }

    /// Attaches a permit of a [`HostLimiter`](crate::internal::HostLimiter). A retry releases it while it waits, and
    /// then acquires it again.
    #[must_use]
    pub fn with_permit(mut self, permit: Option<Arc<HostPermit>>) -> Self {
        self.parts_mut().host_permit = permit;
        self
    }

    /// Adds a header field to HTTP requests for this URL; other schemes ignore it.
    #[must_use]
    pub fn header(self, name: impl Into<String>, value: impl Into<Vec<u8>>) -> Self {
        let mut options = self.extra::<HttpOptions>().cloned().unwrap_or_default();
        options.headers.push(HeaderField::new(name, value));
        self.replace_extra(options)
    }

    /// Sets the options of the HTTP driver, such as method, body and headers.
    #[must_use]
    pub fn http(self, options: HttpOptions) -> Self {
        self.replace_extra(options)
    }

    /// Sets the options of the FTP driver, such as active mode and the format of listings.
    #[cfg(feature = "ftp")]
    #[must_use]
    pub fn ftp(self, options: FtpOptions) -> Self {
        self.replace_extra(options)
    }

    /// Sets the options of the gopher driver, such as the answers to a Gopher+ form.
    #[cfg(feature = "gopher")]
    #[must_use]
    pub fn gopher(self, options: GopherOptions) -> Self {
        self.replace_extra(options)
    }

    /// Sets the options of the news driver, such as the part of an article to return.
    #[must_use]
    pub fn news(self, options: NewsOptions) -> Self {
        self.replace_extra(options)
    }

    /// Allows the file driver to read FIFOs and devices.
    #[must_use]
    pub fn special_files(self) -> Self {
        self.with_extra(SpecialFiles::default())
    }

    /// Opens an interactive session if the scheme has one (`telnet:`). The content of the response is then
    /// [`Content::Session`](crate::Content::Session).
    #[must_use]
    pub fn open_session(self) -> Self {
        self.with_extra(Connect::default())
    }

    /// Attaches a value for one driver, such as [`SpecialFiles`]. The driver looks it up by its type.
    #[must_use]
    pub fn with_extra<T: Send + Sync + 'static>(mut self, extra: T) -> Self {
        self.parts_mut().extras.push(Arc::new(extra));
        self
    }

    /// Requests a listing: an FTP URL is listed even without a final slash, and HTTP pages are parsed as index pages.
    #[must_use]
    pub(crate) fn for_listing(self) -> Self {
        let mut http = self.extra::<HttpOptions>().cloned().unwrap_or_default();
        http.index_as_listing = true;
        let request = self.replace_extra(http);
        let request = {
            let mut news = request.extra::<NewsOptions>().cloned().unwrap_or_default();
            news.list_ranges = true;
            request.replace_extra(news)
        };
        #[cfg(feature = "ftp")]
        let request = {
            let mut ftp = request.extra::<FtpOptions>().cloned().unwrap_or_default();
            ftp.force_listing = true;
            request.replace_extra(ftp)
        };
        request
    }

    fn replace_extra<T: Send + Sync + 'static>(mut self, extra: T) -> Self {
        self.parts_mut().extras.retain(|other| !other.is::<T>());
        self.with_extra(extra)
    }

    /// Returns the URL: after a redirect, its target.
    pub fn url(&self) -> &Url<'static> {
        &self.0.url
    }

    /// Returns what the request asks for: the object, or metadata only.
    pub fn want(&self) -> Want {
        self.0.want
    }

    /// Returns the requested byte range.
    pub fn wanted_range(&self) -> Option<ByteRange> {
        self.0.range
    }

    /// Returns the bytes before the range ([`preceded_by`](Self::preceded_by)).
    #[cfg(feature = "ftp")]
    pub(crate) fn preceding(&self) -> Option<&PrecedingBytes> {
        self.0.preceding.as_ref()
    }

    /// Returns the resume data of the partial download.
    pub fn resume(&self) -> Option<&Resume> {
        self.0.resume.as_ref()
    }

    /// Returns the driver value of type `T`, if one was attached.
    pub fn extra<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.extras.iter().find_map(|extra| extra.downcast_ref())
    }

    /// Returns the condition.
    pub fn condition(&self) -> Option<Condition> {
        self.0.condition
    }

    /// Returns the credentials for the server, which the engine has selected for this attempt.
    pub fn login(&self) -> Option<&Credential> {
        self.0.login.as_ref()
    }

    /// Returns `true` if a redirect has led to another origin. The driver must then not send credentials, cookies or
    /// headers that the caller gave for the original server.
    pub fn is_cross_origin(&self) -> bool {
        self.0.redirect_state.is_cross_origin && !self.0.redirect_state.trusts_target
    }

    /// Returns `true` if a redirect has led to another origin, even if the caller trusts it.
    pub(crate) fn has_left_origin(&self) -> bool {
        self.0.redirect_state.is_cross_origin
    }

    /// Returns `true` if the request is a GET without the caller's method and body, for example after a redirect with
    /// status 303. The driver must then send neither.
    pub fn is_plain_get(&self) -> bool {
        self.0.redirect_state.is_plain_get
    }

    /// Returns the permit of the host limiter.
    pub(crate) fn host_permit(&self) -> Option<&HostPermit> {
        self.0.host_permit.as_deref()
    }

    /// Passes an event to the observer.
    pub(crate) fn notify(&self, event: &Event<'_>) {
        if let Some(SharedObserver(observer)) = &self.0.observer {
            observer.observe(event);
        }
    }

    /// Switches the retries of this request off.
    pub(crate) fn tried_once(mut self) -> Self {
        self.parts_mut().is_tried_once = true;
        self
    }

    /// Limits the retries after an error status that has no `Retry-After` and after a response without content, for a
    /// request whose caller can do without its response: some servers always answer HEAD with 500 or 503, or close the
    /// connection.
    #[must_use]
    pub fn with_max_refusal_retries(mut self, retries: u32) -> Self {
        self.parts_mut().max_refusal_retries = Some(retries);
        self
    }

    /// Returns `true` if `error`, after this number of retries, is not retried because of
    /// [`with_max_refusal_retries`](Self::with_max_refusal_retries).
    pub(crate) fn gives_up_after_refusal(&self, error: &Error, retries: u32) -> bool {
        let is_status = error.reply().is_some() && error.retry_after().is_none();
        let is_refusal = is_status || error.code() == Code::EmptyReply;
        is_refusal && self.0.max_refusal_retries.is_some_and(|max| retries >= max)
    }

    /// Returns the retry rules of the policy, or no retries if they are switched off for this request.
    pub(crate) fn retry_rules(&self, policy: Retry) -> Retry {
        if self.0.is_tried_once { Retry::never() } else { policy }
    }

    /// Returns `true` if the request goes to a gateway that the caller configured.
    pub(crate) fn is_for_gateway(&self) -> bool {
        self.0.redirect_state.is_for_gateway
    }

    /// Sets the credentials for this attempt.
    pub(crate) fn with_login(mut self, login: Option<Credential>) -> Self {
        if login.is_some() || self.0.login.is_some() {
            self.parts_mut().login = login;
        }
        self
    }
}

impl FromStr for Request {
    type Err = Error;

    /// Parses a URL, as [`Request::new`] does.
    fn from_str(text: &str) -> Result<Self, Error> {
        Self::new(text)
    }
}
