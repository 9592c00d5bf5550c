//! What only FTP understands, as the flags say.

use std::net::IpAddr;

use fetch_url::{ActiveAddress, Error, FtpListing, FtpOptions, FtpWalk};

use super::usage;
use crate::flags::{Fetch, Format, FtpMethod, ListFormat};

/// What the flags say of FTP.
pub(super) fn options(flags: &Fetch) -> Result<FtpOptions, Error> {
    let ftp = &flags.ftp;
    let mut options = FtpOptions::default();
    options.walk = match ftp.ftp_method {
        FtpMethod::Auto => FtpWalk::Auto,
        FtpMethod::Nocwd => FtpWalk::NoCwd,
        FtpMethod::Rfc1738 => FtpWalk::Rfc1738,
        FtpMethod::Singlecwd => FtpWalk::SingleCwd,
    };
    options.listing = match ftp.list_format {
        ListFormat::Long if !ftp.list_only => FtpListing::Long,
        _ => FtpListing::Names,
    };
    options.lists = flags.list;
    options.raw_listing = flags.format == Format::Raw;
    options.ascii = ftp.use_ascii;
    options.account = ftp.ftp_account.as_ref().map(|account| account.clone().into_bytes());
    options.anonymous_address = ftp.ftp_anonymous_email.as_ref().map(|address| address.clone().into_bytes());
    options.active = ftp.ftp_port.as_deref().map(active).transpose()?;
    (options.no_epsv, options.no_eprt) = (ftp.disable_epsv, ftp.disable_eprt);
    Ok(options)
}

fn active(text: &str) -> Result<ActiveAddress, Error> {
    if text == "-" {
        return Ok(ActiveAddress::SameAsControl);
    }
    let address: Option<IpAddr> = text.trim_start_matches('[').trim_end_matches(']').parse().ok();
    // Where everybody could enter, nobody is let in.
    address.filter(|address| !address.is_unspecified()).map(ActiveAddress::At).ok_or_else(|| {
        usage(format!("-P {text}: neither - nor an address of ours"))
            .with_hint("-P - is the address we talk from; wget's -P is --output-dir")
    })
}
