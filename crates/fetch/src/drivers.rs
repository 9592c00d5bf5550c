//! The built-in drivers: one module, one Cargo feature and one registration line each.

#[cfg(any(feature = "ftp", feature = "news"))]
mod connection_limit;
pub(crate) mod file;
#[cfg(feature = "ftp")]
pub(crate) mod ftp;
#[cfg(feature = "gopher")]
pub(crate) mod gopher;
pub(crate) mod http;
#[cfg(feature = "mailto")]
mod mailto;
#[cfg(feature = "news")]
pub(crate) mod nntp;
// The options exist without their driver: any request can be redirected to a news URL, which then is unsupported.
#[cfg(not(feature = "news"))]
pub(crate) mod nntp {
    //! The options of the news driver, which is not compiled in.
    pub(crate) mod options;
}
#[cfg(feature = "prospero")]
mod prospero;
#[cfg(feature = "telnet")]
pub(crate) mod telnet;
#[cfg(not(feature = "telnet"))]
pub(crate) mod telnet {
    //! The options of the telnet driver, which is not compiled in.
    pub(crate) mod options;
}
#[cfg(feature = "wais")]
mod wais;

use std::sync::Arc;

use crate::registry::Registry;

/// Returns the registry of all drivers that are compiled in.
pub(crate) fn built_in() -> Registry {
    let mut registry = Registry::default();
    registry.add(Arc::new(file::FileDriver));
    #[cfg(feature = "ftp")]
    registry.add(Arc::new(ftp::FtpDriver::default()));
    #[cfg(feature = "gopher")]
    registry.add(Arc::new(gopher::GopherDriver));
    registry.add(Arc::new(http::HttpDriver::default()));
    #[cfg(feature = "mailto")]
    registry.add(Arc::new(mailto::MailtoDriver));
    #[cfg(feature = "news")]
    registry.add(Arc::new(nntp::NntpDriver::default()));
    #[cfg(feature = "prospero")]
    registry.add(Arc::new(prospero::ProsperoDriver));
    #[cfg(feature = "telnet")]
    registry.add(Arc::new(telnet::TelnetDriver));
    #[cfg(feature = "wais")]
    registry.add(Arc::new(wais::WaisDriver));
    registry
}
