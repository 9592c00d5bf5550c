//! The driver for `mailto:` URLs (RFC 1738 §3.5, RFC 6068). A mail address is not a data object, so nothing is sent,
//! and advice is returned.

mod advice;

use std::fmt;

use fetch_url_core::Url;
use fetch_url_proto::check_sendable;

use crate::driver::RunFuture;
use crate::{Content, Driver, Error, Meta, NotFetchable, Outcome, Plan, Request, Response, RunContext};

/// Returns advice for a mail address.
pub(crate) struct MailtoDriver;

impl Driver for MailtoDriver {
    fn id(&self) -> &'static str {
        "mailto"
    }

    fn schemes(&self) -> &'static [&'static str] {
        &["mailto"]
    }

    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error> {
        let Url::Mailto(url) = request.url() else {
            return Err(Error::unsupported("the mailto driver supports mailto URLs only"));
        };
        // A line end in the address or in a header field other than the body would add a header field to the message.
        check_sendable(request.url())?;
        Ok(Box::new(MailtoPlan { url: request.url().clone(), advice: advice::mailto_advice(url) }))
    }
}

/// A request for the advice about one address.
struct MailtoPlan {
    url: Url<'static>,
    advice: NotFetchable,
}

impl Plan for MailtoPlan {
    fn run(self: Box<Self>, _: RunContext) -> RunFuture {
        let response = Response::new(Meta::new(self.url), Content::Advice(self.advice));
        Box::pin(std::future::ready(Ok(Outcome::Response(response))))
    }

    fn advice(&self) -> Option<&NotFetchable> {
        Some(&self.advice)
    }
}

impl fmt::Display for MailtoPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.advice.text.trim_end())
    }
}
