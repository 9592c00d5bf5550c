//! `mailto:` (RFC 1738 §3.5, RFC 6068): an address, which names no object. Nothing is sent.

mod advice;

use std::fmt;

use fetch_url_core::Url;
use fetch_url_proto::outline;

use crate::driver::RunFuture;
use crate::{Advice, Content, Ctx, Driver, Error, Meta, Outcome, Plan, Request, Response};

/// Tells what a person can do.
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
            return Err(Error::unsupported("the mailto driver knows addresses only"));
        };
        // A line end in an address or a field would be a field of its own in a message.
        outline(request.url())?;
        Ok(Box::new(MailtoPlan { url: request.url().clone(), advice: advice::of(url) }))
    }
}

struct MailtoPlan {
    url: Url<'static>,
    advice: Advice,
}

impl Plan for MailtoPlan {
    fn run(self: Box<Self>, _: Ctx) -> RunFuture {
        let answer = Response::new(Meta::new(self.url), Content::Advice(self.advice));
        Box::pin(std::future::ready(Ok(Outcome::Answer(answer))))
    }
}

impl fmt::Display for MailtoPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.advice.text.trim_end())
    }
}
