//! The FTP options.

use std::net::IpAddr;

use fetch_url::Error;
use fetch_url::ftp::{ActiveAddress, FtpListing, FtpMethod, FtpOptions};

use crate::error::usage_error;
use crate::flags::{self, FetchFlags, Format, ListFormat};

/// Makes the FTP options from the flags.
pub(super) fn options(flags: &FetchFlags) -> Result<FtpOptions, Error> {
    let ftp = &flags.ftp;
    let mut options = FtpOptions::default();
    options.method = match ftp.ftp_method {
        flags::FtpMethod::Auto => FtpMethod::Auto,
        flags::FtpMethod::Nocwd => FtpMethod::NoCwd,
        flags::FtpMethod::Rfc1738 => FtpMethod::Rfc1738,
        flags::FtpMethod::Singlecwd => FtpMethod::SingleCwd,
    };
    options.listing = match ftp.list_format {
        ListFormat::Long if !ftp.list_only => FtpListing::Long,
        _ => FtpListing::Names,
    };
    options.force_listing = flags.list;
    options.raw_listing = flags.format == Format::Raw;
    (options.ascii, options.text_time) = (ftp.use_ascii, flags.remote_time);
    options.account = ftp.ftp_account.as_ref().map(|account| account.clone().into_bytes());
    options.anonymous_password = ftp.ftp_anonymous_email.as_ref().map(|address| address.clone().into_bytes());
    options.active = ftp.ftp_port.as_deref().map(active).transpose()?;
    (options.no_epsv, options.no_eprt) = (ftp.disable_epsv, ftp.disable_eprt);
    Ok(options)
}

fn active(text: &str) -> Result<ActiveAddress, Error> {
    if text == "-" {
        return Ok(ActiveAddress::SameAsControl);
    }
    let address: Option<IpAddr> = text.trim_start_matches('[').trim_end_matches(']').parse().ok();
    // An unspecified address would accept connections from everywhere.
    address.filter(|address| !address.is_unspecified()).map(ActiveAddress::At).ok_or_else(|| {
        usage_error(format!("-P {text}: expected - or an address of this machine"))
            .with_hint("-P - is the local address of the control connection; wget's -P is --output-dir")
    })
}
