//! What a URL asks of a Gopher server. Pure.

use std::fmt;

use fetch_url_core::{GopherUrl, Host, Security, Url, mask_password, parse};
use fetch_url_proto::gopher::{GopherRequest, Here, ItemType, Plus, link};
use fetch_url_proto::text::escaped;

use super::options::GopherOptions;
use super::{advice, io};
use crate::driver::RunFuture;
use crate::{Advice, Code, Ctx, Error, Phase, Plan, Request, Want};

/// One errand.
#[derive(Clone, Debug)]
pub(super) struct GopherPlan {
    pub(super) url: Url<'static>,
    pub(super) host: Host<'static>,
    pub(super) port: u16,
    pub(super) is_tls: bool,
    pub(super) gtype: u8,
    pub(super) options: GopherOptions,
    pub(super) errand: Errand,
    /// Which attributes are kept of those that come; without names all.
    pub(super) kept: Vec<Vec<u8>>,
    /// The server is not the one that the caller named.
    pub(super) is_abroad: bool,
}

/// What is to be done.
#[derive(Clone, Debug)]
pub(super) enum Errand {
    /// Nothing at a Gopher server: the item is no object.
    Advise(Advice),
    /// One request for an object, a menu or attributes.
    Fetch(GopherRequest),
    /// The item has a form: it is fetched, and filled where it can be.
    Fill(GopherRequest),
    /// The URL carries a filled form: the server must know it.
    Filled(GopherRequest),
    /// The item leads elsewhere.
    Follow(String),
    /// Only what is known of the item.
    Head(GopherRequest),
}

impl GopherPlan {
    pub(super) fn new(request: &Request) -> Result<Self, Error> {
        let Url::Gopher(url) = request.url() else {
            return Err(Error::unsupported("the gopher driver speaks Gopher only"));
        };
        if request.wanted_range().is_some() && request.want() == Want::Object {
            return Err(Error::new(Code::RangeRefused, Phase::Plan, "Gopher knows no parts of an object"));
        }
        let mut options = request.extra::<GopherOptions>().cloned().unwrap_or_default();
        if request.is_abroad() {
            // They were given for another server.
            options.answers.clear();
        }
        Ok(Self {
            url: request.url().clone(),
            host: url.at().host().clone(),
            port: port(request.url()),
            is_tls: url.scheme().security == Security::Tls,
            gtype: url.gtype(),
            errand: errand(url, &options, request.want(), port(request.url()))?,
            options,
            kept: Vec::new(),
            is_abroad: request.is_abroad(),
        })
    }

    /// The same with another request, of whose answer these attributes are kept.
    pub(super) fn keeping(&self, request: GopherRequest, kept: Vec<Vec<u8>>) -> Self {
        Self { errand: Errand::Fetch(request), kept, ..self.clone() }
    }

    /// This server, where entries on it are to be fetched in TLS too.
    pub(super) fn here(&self) -> Option<Here> {
        self.is_tls.then(|| Here { host: self.host.to_string(), port: self.port })
    }
}

fn port(url: &Url<'_>) -> u16 {
    url.port().unwrap_or(70)
}

fn errand(url: &GopherUrl<'_>, options: &GopherOptions, want: Want, port: u16) -> Result<Errand, Error> {
    let request = GopherRequest::of(url)?;
    let gtype = url.gtype();
    if let Some(target) = link(gtype, &url.selector().decode()) {
        return linked(target).map(Errand::Follow);
    }
    match ItemType::of(gtype) {
        ItemType::Cso | ItemType::Session => return Ok(Errand::Advise(advice::of(url, port))),
        ItemType::Error => {
            return Err(Error::new(Code::NotFound, Phase::Plan, "type 3 is an error, no item"));
        }
        ItemType::Info => {
            return Err(Error::unsupported("type i is a line to be read: nothing is to be fetched"));
        }
        _ => {}
    }
    if want == Want::Head {
        return Ok(Errand::Head(request.for_attributes()));
    }
    match (request.plus(), &options.view) {
        (Some(Plus::Attributes(_) | Plus::Filled), Some(_)) => {
            let detail = "a view is of an item, not of its attributes or of the answer to a form";
            Err(Error::new(Code::Usage, Phase::Plan, detail))
        }
        (Some(Plus::Form), _) => Ok(Errand::Fill(request)),
        (_, _) if !options.answers.is_empty() => Ok(Errand::Fill(request)),
        (Some(Plus::Filled), None) => Ok(Errand::Filled(request)),
        (_, Some(view)) => Ok(Errand::Fetch(request.with_view(view)?)),
        (_, None) => Ok(Errand::Fetch(request)),
    }
}

/// A link must be a URL by itself: a selector is nothing that it could be relative to.
fn linked(target: &[u8]) -> Result<String, Error> {
    let is_url = |text: &str| parse(&text.replace(' ', "%20")).map(drop);
    match std::str::from_utf8(target) {
        Ok(text) => is_url(text).map(|()| text.to_owned()).map_err(Error::from),
        Err(_) => Err(Error::new(Code::BadUrl, Phase::Plan, "the item is a link, and no text")),
    }
}

impl Plan for GopherPlan {
    fn run(self: Box<Self>, ctx: Ctx) -> RunFuture {
        Box::pin(io::run(*self, ctx))
    }
}

impl fmt::Display for GopherPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = match &self.errand {
            Errand::Advise(_) => return f.write_str("(nothing: the item is no object)"),
            Errand::Follow(target) => {
                return write!(
                    f,
                    "(nothing: the item leads to {})",
                    mask_password(&escaped(target.as_bytes()))
                );
            }
            Errand::Fetch(request) | Errand::Head(request) => request.lines(),
            Errand::Fill(request) | Errand::Filled(request) => request.for_attributes().lines(),
        };
        for (index, line) in lines.iter().enumerate() {
            let end = if index == 0 { "" } else { "\n" };
            match (line.is_empty(), lines.len()) {
                (true, 1) => f.write_str("(an empty line)")?,
                _ => write!(f, "{end}{}", escaped(line))?,
            }
        }
        // The answers may be nobody else's business.
        match &self.errand {
            Errand::Fill(_) => f.write_str("\n(the form, filled, when there are answers)"),
            Errand::Filled(_) => f.write_str("\n(the form, filled as the URL says)"),
            _ => Ok(()),
        }
    }
}
