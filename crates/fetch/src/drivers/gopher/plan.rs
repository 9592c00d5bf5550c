//! The request for a `gopher:` URL. No I/O.

use std::fmt;

use fetch_url_core::{GopherUrl, Host, Security, Url, mask_password, parse};
use fetch_url_proto::gopher::{GopherRequest, ItemType, PlusRequest, ServerAddress, link_target};
use fetch_url_proto::text::escape_non_ascii;

use super::advice::item_advice;
use super::options::GopherOptions;
use crate::{Code, Error, NotFetchable, Phase, Request, Want};

/// A request for one item at one Gopher server.
#[derive(Clone, Debug)]
pub(super) struct GopherPlan {
    pub(super) url: Url<'static>,
    pub(super) host: Host<'static>,
    pub(super) port: u16,
    pub(super) is_tls: bool,
    /// The item type (RFC 1436 §3.8).
    pub(super) gtype: u8,
    pub(super) options: GopherOptions,
    pub(super) operation: GopherOperation,
    /// Names of the attributes that are kept in the response; empty: all.
    pub(super) kept_attributes: Vec<Vec<u8>>,
    /// A redirect has left the server of the caller's URL.
    pub(super) is_cross_origin: bool,
}

/// What is requested of the server.
#[derive(Clone, Debug)]
pub(super) enum GopherOperation {
    /// No request: the item is not a data object.
    Advise(NotFetchable),
    /// Fetch an object, a menu or attributes.
    Fetch(GopherRequest),
    /// Fetch the item in a view that the caller has chosen, after the list of its views.
    FetchView(GopherRequest),
    /// Fetch the form of the item, fill it with the caller's answers, and send it.
    FillForm(GopherRequest),
    /// No request: the item is a link to another URL.
    FollowLink(String),
    /// Fetch only the attributes of the item.
    Head(GopherRequest),
    /// Send the filled form that the URL contains, after a check that the item has a form.
    SendForm(GopherRequest),
}

impl GopherPlan {
    pub(super) fn new(request: &Request) -> Result<Self, Error> {
        let Url::Gopher(url) = request.url() else {
            return Err(Error::unsupported("the gopher driver supports gopher URLs only"));
        };
        if request.wanted_range().is_some() && request.want() == Want::Object {
            return Err(Error::new(Code::RangeRefused, Phase::Plan, "Gopher cannot transfer byte ranges"));
        }
        let mut options = request.extra::<GopherOptions>().cloned().unwrap_or_default();
        if request.is_cross_origin() {
            // The answers of the caller are for another server.
            options.answers.clear();
        }
        Ok(Self {
            url: request.url().clone(),
            host: url.host_port().host().clone(),
            port: port_or_default(request.url()),
            is_tls: url.scheme().security == Security::Tls,
            gtype: url.gtype(),
            operation: plan_operation(url, &options, request.want(), port_or_default(request.url()))?,
            options,
            kept_attributes: Vec::new(),
            is_cross_origin: request.is_cross_origin(),
        })
    }

    /// Returns the plan for another request to the same server, in whose response only these attributes are kept.
    pub(super) fn with_request(&self, request: GopherRequest, kept_attributes: Vec<Vec<u8>>) -> Self {
        Self { operation: GopherOperation::Fetch(request), kept_attributes, ..self.clone() }
    }

    /// Returns the address of the server if the connection uses TLS. URLs of menu items on the same server then use TLS
    /// too.
    pub(super) fn tls_server(&self) -> Option<ServerAddress> {
        self.is_tls.then(|| ServerAddress { host: self.host.to_string(), port: self.port })
    }
}

fn port_or_default(url: &Url<'_>) -> u16 {
    url.port().unwrap_or(70)
}

fn plan_operation(
    url: &GopherUrl<'_>,
    options: &GopherOptions,
    want: Want,
    port: u16,
) -> Result<GopherOperation, Error> {
    let request = GopherRequest::from_url(url)?;
    let gtype = url.gtype();
    if let Some(target) = link_target(gtype, &url.selector().decode()) {
        return check_link_target(target).map(GopherOperation::FollowLink);
    }
    match ItemType::from_gtype(gtype) {
        ItemType::Cso | ItemType::Session => {
            return Ok(GopherOperation::Advise(item_advice(url, port)));
        }
        ItemType::Error => {
            let detail = "an item of type 3 is an error message, not an object";
            return Err(Error::new(Code::NotFound, Phase::Plan, detail));
        }
        ItemType::Info => {
            return Err(Error::unsupported("an item of type i is a line of text in a menu, not an object"));
        }
        _ => {}
    }
    if want == Want::Head {
        return Ok(GopherOperation::Head(request.for_attributes()));
    }
    match (request.plus(), &options.view) {
        (Some(PlusRequest::Attributes(_) | PlusRequest::SubmitForm), Some(_)) => {
            let detail = "a view cannot be requested together with attributes or a filled form";
            Err(Error::new(Code::Usage, Phase::Plan, detail))
        }
        (Some(PlusRequest::RequestForm), _) => Ok(GopherOperation::FillForm(request)),
        (_, _) if !options.answers.is_empty() => Ok(GopherOperation::FillForm(request)),
        (Some(PlusRequest::SubmitForm), None) => Ok(GopherOperation::SendForm(request)),
        // The results of a search have no list of views.
        (_, Some(view)) if gtype == b'7' => Ok(GopherOperation::Fetch(request.with_view(view)?)),
        (_, Some(view)) => Ok(GopherOperation::FetchView(request.with_view(view)?)),
        (_, None) => Ok(GopherOperation::Fetch(request)),
    }
}

/// Checks that the target of a link is an absolute URL: a selector is not a base for a relative reference.
fn check_link_target(target: &[u8]) -> Result<String, Error> {
    let parsed = |text: &str| parse(&text.replace(' ', "%20")).map(drop);
    match std::str::from_utf8(target) {
        Ok(text) => parsed(text).map(|()| text.to_owned()).map_err(Error::from),
        Err(_) => Err(Error::new(Code::BadUrl, Phase::Plan, "the target of the link is not UTF-8")),
    }
}

impl fmt::Display for GopherPlan {
    /// Shows the lines of the request. Answers for a form are not shown, because they may be confidential.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use GopherOperation::{Advise, Fetch, FetchView, FillForm, FollowLink, Head, SendForm};
        let lines = match &self.operation {
            Advise(_) => return f.write_str("(no request: the item is not a data object)"),
            FollowLink(target) => {
                let target = mask_password(&escape_non_ascii(target.as_bytes()));
                return write!(f, "(no request: the item is a link to {target})");
            }
            Fetch(request) | FetchView(request) | Head(request) => request.lines(),
            FillForm(request) | SendForm(request) => request.for_attributes().lines(),
        };
        for (index, line) in lines.iter().enumerate() {
            let end = if index == 0 { "" } else { "\n" };
            match (line.is_empty(), lines.len()) {
                (true, 1) => f.write_str("(an empty line)")?,
                _ => write!(f, "{end}{}", escape_non_ascii(line))?,
            }
        }
        match &self.operation {
            FetchView(_) => f.write_str("\n(after a request for the views of the item)"),
            FillForm(_) => f.write_str("\n(then the filled form, if there are answers)"),
            SendForm(_) => f.write_str("\n(then the filled form of the URL)"),
            _ => Ok(()),
        }
    }
}
