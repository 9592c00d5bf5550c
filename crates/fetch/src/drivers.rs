//! The drivers that are built in: one `mod` and one registration line each.

mod file;
pub(crate) mod ftp;
pub(crate) mod gopher;
pub(crate) mod http;
mod mailto;
pub(crate) mod nntp;
mod prospero;
pub(crate) mod telnet;
mod wais;

use std::sync::Arc;

use crate::registry::Registry;

pub(crate) fn built_in() -> Registry {
    let mut registry = Registry::default();
    registry.add(Arc::new(file::FileDriver));
    registry.add(Arc::new(ftp::FtpDriver::default()));
    registry.add(Arc::new(gopher::GopherDriver));
    registry.add(Arc::new(http::HttpDriver::default()));
    registry.add(Arc::new(mailto::MailtoDriver));
    registry.add(Arc::new(nntp::NntpDriver::default()));
    registry.add(Arc::new(prospero::ProsperoDriver));
    registry.add(Arc::new(telnet::TelnetDriver));
    registry.add(Arc::new(wais::WaisDriver));
    registry
}
