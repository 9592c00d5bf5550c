//! The driver for `file:` URLs (RFC 1738 §3.10, RFC 8089): files and directories of the local machine.

pub(crate) mod options;
mod plan;
pub(crate) mod root;
mod run;
mod special;

use crate::{Driver, Error, Plan, Request};

/// Reads local files and lists local directories.
pub(crate) struct FileDriver;

impl Driver for FileDriver {
    fn id(&self) -> &'static str {
        "file"
    }

    fn schemes(&self) -> &'static [&'static str] {
        &["file"]
    }

    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error> {
        Ok(Box::new(plan::FilePlan::new(request)?))
    }
}
