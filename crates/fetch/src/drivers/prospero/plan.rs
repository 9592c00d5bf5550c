//! The query for a `prospero:` URL. No I/O.

use std::fmt;

use fetch_url_core::{Host, Url};
use fetch_url_proto::ardp::Exchange;
use fetch_url_proto::prospero::{ObjectId, ObjectName, Query};
use fetch_url_proto::text::escape_non_ascii;

use crate::{Code, Error, Phase, Request, Want};

/// A query for one object at one directory server.
#[derive(Clone, Debug)]
pub(super) struct ProsperoPlan {
    pub(super) url: Url<'static>,
    pub(super) host: Host<'static>,
    pub(super) port: u16,
    pub(super) object: ObjectId,
    /// Attributes that the object must have: the `;field=value` pairs of the URL.
    pub(super) required_attributes: Vec<(String, Vec<u8>)>,
    pub(super) wants_head: bool,
    /// A byte range was requested.
    pub(super) wants_range: bool,
}

impl ProsperoPlan {
    pub(super) fn new(request: &Request) -> Result<Self, Error> {
        let Url::Prospero(url) = request.url() else {
            return Err(Error::unsupported("the prospero driver supports prospero URLs only"));
        };
        let required_attributes = url.attributes().map(|(name, value)| {
            (String::from_utf8_lossy(&name.decode()).into_owned(), value.decode().into_owned())
        });
        Ok(Self {
            url: request.url().clone(),
            host: url.host_port().host().clone().into_owned(),
            port: request.url().port().unwrap_or_default(),
            object: ObjectId::from_url(url)?,
            required_attributes: required_attributes.collect(),
            wants_head: request.want() == Want::Head,
            wants_range: request.wanted_range().is_some(),
        })
    }

    /// Returns the full name of the object, in the notation of its server.
    pub(super) fn object_name(&self) -> ObjectName {
        let host = format!("{}({})", self.host, self.port);
        ObjectName::new(host, self.object.name(), self.object.version())
    }

    /// Fails with `Code::RangeRefused` if a byte range was requested: Prospero itself cannot transfer one. A range is
    /// allowed while the object is only located, because the server that stores it may support ranges.
    pub(super) fn check_no_range(&self) -> Result<(), Error> {
        if self.wants_range {
            return Err(Error::new(
                Code::RangeRefused,
                Phase::Request,
                "Prospero cannot transfer byte ranges",
            ));
        }
        Ok(())
    }
}

impl fmt::Display for ProsperoPlan {
    /// Shows the fields of the first datagram, one per line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = Query::AccessMethods.text(&self.object);
        let packets = text.len().div_ceil(Exchange::MAX_DATA_BYTES);
        writeln!(f, "ARDP datagram, version 0, header of 9 bytes")?;
        writeln!(f, "  connection id (a random number)\n  packet 1 of {packets}\n  received through 0")?;
        for line in Query::AccessMethods.lines(&self.object) {
            writeln!(f, "  {}", escape_non_ascii(&line))?;
        }
        f.write_str("(then the first access method that is supported and allowed, or CONTENTS, or LIST)")
    }
}
