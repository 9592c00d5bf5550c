//! What a URL asks of a directory server. Pure.

use std::fmt;

use fetch_url_core::{Host, Url};
use fetch_url_proto::ardp::Exchange;
use fetch_url_proto::prospero::{ObjectId, ObjectName, Question};
use fetch_url_proto::text::escaped;

use super::io;
use crate::driver::RunFuture;
use crate::{Code, Ctx, Error, Phase, Plan, Request, Want};

/// One errand.
#[derive(Clone, Debug)]
pub(super) struct ProsperoPlan {
    pub(super) url: Url<'static>,
    pub(super) host: Host<'static>,
    pub(super) port: u16,
    pub(super) object: ObjectId,
    /// What the object must be: attributes that the URL names, and their values.
    pub(super) fields: Vec<(String, Vec<u8>)>,
    pub(super) wants_head: bool,
    pub(super) wants_part: bool,
}

impl ProsperoPlan {
    pub(super) fn new(request: &Request) -> Result<Self, Error> {
        let Url::Prospero(url) = request.url() else {
            return Err(Error::unsupported("the prospero driver speaks Prospero only"));
        };
        let fields = url.attributes().map(|(name, value)| {
            (String::from_utf8_lossy(&name.decode()).into_owned(), value.decode().into_owned())
        });
        Ok(Self {
            url: request.url().clone(),
            host: url.at().host().clone().into_owned(),
            port: request.url().port().unwrap_or_default(),
            object: ObjectId::of(url)?,
            fields: fields.collect(),
            wants_head: request.want() == Want::Head,
            wants_part: request.wanted_range().is_some(),
        })
    }

    /// What the object is called, as its server would say it.
    pub(super) fn own_name(&self) -> ObjectName {
        let host = format!("{}({})", self.host, self.port);
        ObjectName::new(host, self.object.name(), self.object.version())
    }

    pub(super) fn range_refused(&self) -> Result<(), Error> {
        match self.wants_part {
            true => {
                Err(Error::new(Code::RangeRefused, Phase::Request, "Prospero gives no part of an object"))
            }
            false => Ok(()),
        }
    }
}

impl Plan for ProsperoPlan {
    fn run(self: Box<Self>, ctx: Ctx) -> RunFuture {
        Box::pin(io::run(*self, ctx))
    }

    fn speaks_for_itself(&self) -> bool {
        true
    }
}

impl fmt::Display for ProsperoPlan {
    /// The datagram, field by field.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = Question::Ways.text(&self.object);
        let total = text.len().div_ceil(Exchange::DATA_OCTETS);
        writeln!(f, "ARDP datagram, version 0, header 9 octets")?;
        writeln!(f, "  connection id (a random number)\n  packet 1 of {total}\n  received through 0")?;
        for line in Question::Ways.lines(&self.object) {
            writeln!(f, "  {}", escaped(&line))?;
        }
        f.write_str("(then the first way that it tells and the policy allows, or CONTENTS, or LIST)")
    }
}
