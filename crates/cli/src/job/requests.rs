//! Makes the request for each URL from the options.

use fetch_url::http::{HeaderField, IndexRule, RequestBody};
use fetch_url::news::UpcomingUrls;
use fetch_url::url::{Security, Url};
use fetch_url::{Code, Error, Meta, Phase, Request};

use super::{FetchOptions, Form, Transfer, news, with_typed_url_hint};
use crate::error::usage_error;
use crate::flags::Format;

impl FetchOptions {
    /// Returns the options for listings.
    pub(super) fn for_listings(mut self, index_rule: IndexRule) -> Self {
        self.http.index_rule = index_rule;
        self.http.deliver_error_body = false;
        (self.ftp.force_listing, self.http.index_as_listing, self.news.list_ranges) = (true, true, true);
        self
    }

    /// For FTP, returns a request that does not prefetch the port of another data connection, because no transfer
    /// follows.
    pub(crate) fn without_port_prefetch(&self, request: Request) -> Request {
        if !matches!(request.url(), Url::Ftp(_)) {
            return request;
        }
        let mut ftp = self.ftp.clone();
        ftp.prefetch_port = false;
        request.ftp(ftp)
    }

    /// Returns the request for the URL of a transfer. A URL from a Metalink document must have the scheme http, https,
    /// ftp or ftps.
    pub(crate) fn request_for(&self, transfer: &Transfer, next: UpcomingUrls) -> Result<Request, Error> {
        if transfer.is_metalink {
            return self.for_metalink_document().request(&transfer.url, next);
        }
        if transfer.is_unconditional && self.is_conditional() {
            return self.without_condition().request_for(transfer, next);
        }
        if !transfer.is_from_document {
            return self.request_with_upload(&transfer.url, transfer.upload.as_ref(), next);
        }
        if self.typed_urls.complete(&transfer.url).is_some() {
            let detail = format!("a metalink names {}, which has no scheme", transfer.shown_url());
            return Err(Error::new(Code::Policy, Phase::Plan, detail));
        }
        // The data of `-G` are for the URL of the user.
        let request = Self { search: None, ..self.clone() }.request(&transfer.url, next)?;
        match request.url() {
            Url::Http(_) | Url::Ftp(_) => match &transfer.named_by {
                Some(meta) => self.request_named_by(meta, request, transfer),
                None => Ok(request.from_document()),
            },
            url => {
                let detail =
                    format!("a metalink may name http and ftp URLs only, not {}:", url.scheme_name());
                Err(Error::new(Code::Policy, Phase::Plan, detail))
            }
        }
    }

    /// Returns `true` if the object is fetched only if it has changed (`-z`, `--etag-compare`, `-H`).
    pub(crate) fn is_conditional(&self) -> bool {
        self.condition.is_some() || self.http.headers.iter().any(is_condition)
    }

    fn without_condition(&self) -> Self {
        let mut options = Self { condition: None, ..self.clone() };
        options.http.headers.retain(|field| !is_condition(field));
        options
    }

    /// Marks a request as chosen by the server of the response with `meta`. As a redirect, it must not lead from TLS to plain
    /// text, but a checksum that TLS has protected protects the object, too.
    fn request_named_by(&self, meta: &Meta, request: Request, transfer: &Transfer) -> Result<Request, Error> {
        let scheme = request.url().scheme_name();
        if !self.named_urls.schemes.has(scheme) {
            let detail = format!("--proto-redir does not allow {scheme} URLs that a server names");
            return Err(Error::new(Code::Policy, Phase::Plan, detail));
        }
        let security = |url: &Url<'_>| url.scheme().security;
        let is_downgrade = security(&meta.url) == Security::Tls && security(request.url()) == Security::Plain;
        // Metadata have no checksum.
        let has_checksum = transfer.has_protected_checksum || self.checksum.is_protected();
        let is_protected = has_checksum && !self.head || self.named_urls.allow_downgrade;
        if is_downgrade && !is_protected {
            let detail = "an https server names a URL without TLS, and no checksum protects the object";
            let hint = "--proto-redir http,https allows it";
            return Err(Error::new(Code::Policy, Phase::Plan, detail).with_hint(hint));
        }
        Ok(request.from_response(meta))
    }

    /// Returns the options for fetching a Metalink document: a GET of the whole document. Method, body, query data
    /// (`-G`), form, range and condition are removed: they are meant for other URLs. Login, cookies and other header
    /// fields stay.
    fn for_metalink_document(&self) -> Self {
        let mut options = self.clone();
        // The fields that `--json` adds.
        let is_of_json = |field: &HeaderField| {
            field.name.eq_ignore_ascii_case("Accept") && field.value.as_deref() == Some(b"application/json")
        };
        let has_body = options.http.body.is_some();
        (options.http.method, options.http.body) = (None, None);
        let is_of_body = |field: &HeaderField| {
            field.name.eq_ignore_ascii_case("Content-Type") || has_body && is_of_json(field)
        };
        options.http.headers.retain(|field| !is_of_body(field));
        (options.form, options.search, options.http_only) = (Form::default(), None, None);
        (options.head, options.range, options.condition) = (false, None, None);
        options
    }

    /// Returns the request for `url`; `next` are the URLs that are requested after it.
    pub(crate) fn request(&self, url: &str, next: UpcomingUrls) -> Result<Request, Error> {
        self.request_with_upload(url, None, next)
    }

    /// Returns the request for `url`, to which `upload` is sent.
    fn request_with_upload(
        &self,
        url: &str,
        upload: Option<&RequestBody>,
        next: UpcomingUrls,
    ) -> Result<Request, Error> {
        let completed = self.typed_urls.complete(url);
        let text = self.with_search(completed.as_deref().unwrap_or(url));
        let request = Request::new(&text).map_err(|error| match &self.search {
            Some(_) if Request::new(completed.as_deref().unwrap_or(url)).is_ok() => data_error(&error),
            _ => with_typed_url_hint(error, url),
        })?;
        let (mut http, mut gopher) = (self.http.clone(), self.gopher.clone());
        match request.url() {
            _ if self.form.is_empty() => {}
            Url::Http(_) if self.head => return Err(usage_error("-I cannot be combined with data to send")),
            Url::Http(_) => self.form.apply(&mut http)?,
            Url::Gopher(_) => self.form.answer(&mut gopher)?,
            _ => return Err(usage_error("-F applies to http, https and gopher URLs only")),
        }
        if upload.is_some() {
            http.body = upload.cloned();
            http.method.get_or_insert_with(|| "PUT".to_owned());
        }
        let mut request = request.with_extra(http);
        let http_only = upload.map(|_| "-T sends files to").or(self.http_only);
        if let (Some(option), false) = (http_only, matches!(request.url(), Url::Http(_))) {
            return Err(usage_error(format!("{option} http and https URLs only")));
        }
        if self.format == Format::Mbox && !matches!(request.url(), Url::News(_) | Url::Nntp(_)) {
            return Err(usage_error("--format mbox applies to news URLs only"));
        }
        let is_for_gateway = self.mid_has_gateway && news::is_mid(request.url());
        let server = if is_for_gateway { None } else { news::server(request.url(), &self.news_server)? };
        if let Some(server) = server {
            request = request.news_server(server);
        }
        // Prospero and gateways can redirect to any scheme, so the FTP and Gopher options are added to their requests.
        request = match request.url() {
            Url::Prospero(_) => request.with_extra(self.ftp.clone()).with_extra(gopher),
            _ if self.has_gateways => request.with_extra(self.ftp.clone()).with_extra(gopher),
            Url::Ftp(_) => request.with_extra(self.ftp.clone()),
            Url::Gopher(_) => request.with_extra(gopher),
            _ => request,
        };
        // Any request can be redirected to a news URL.
        let mut news = self.news.clone();
        news.upcoming = next;
        request = request.with_extra(news);
        if self.head {
            request = request.head();
        }
        if let Some(range) = self.range {
            request = request.range(range);
        }
        if let Some(condition) = self.condition {
            request = request.only_if(condition);
        }
        if self.special_files {
            request = request.special_files();
        }
        if self.opens_session {
            request = request.open_session();
        }
        Ok(request)
    }

    /// Returns the URL with the data of `-G` in its query, before the fragment.
    fn with_search(&self, url: &str) -> String {
        let Some(search) = &self.search else { return url.to_owned() };
        let (url, fragment) = url.split_at(url.find('#').unwrap_or(url.len()));
        let joint = match url.split_once('?') {
            Some((_, query)) if query.is_empty() || query.ends_with('&') => "",
            Some(_) => "&",
            None => "?",
        };
        format!("{url}{joint}{}{fragment}", String::from_utf8_lossy(search))
    }
}

/// Returns the error for a URL that only the data of `-G` makes invalid. It has no position: the printed URL lacks the
/// data.
fn data_error(error: &Error) -> Error {
    Error::new(Code::BadUrl, Phase::Plan, format!("with the data of -G: {error}"))
        .with_hint("--data-urlencode encodes the data")
}

/// Returns `true` for a field that requests the object only if it has changed (RFC 9110 §13.1).
fn is_condition(field: &HeaderField) -> bool {
    ["If-None-Match", "If-Modified-Since"].iter().any(|name| field.name.eq_ignore_ascii_case(name))
}
