//! The gopher options.

use fetch_url::Error;
use fetch_url::gopher::GopherOptions;
use fetch_url_proto::gopher::DotStuffing;

use crate::error::usage_error;
use crate::flags::{FetchFlags, Format, GopherDots};

/// Makes the gopher options from the flags.
pub(super) fn options(flags: &FetchFlags) -> Result<GopherOptions, Error> {
    let gopher = &flags.gopher;
    let mut options = GopherOptions::default();
    options.dots = match gopher.gopher_dots {
        GopherDots::Auto => DotStuffing::Detect,
        GopherDots::Raw => DotStuffing::Raw,
        GopherDots::Rfc1436 => DotStuffing::Rfc1436,
    };
    options.view = gopher.view.as_deref().map(view).transpose()?;
    options.raw_menus = flags.format == Format::Raw;
    Ok(options)
}

/// Parses `--view`: a media type, and a language after a comma.
fn view(text: &str) -> Result<Vec<u8>, Error> {
    if text.is_empty() || text.starts_with(',') {
        return Err(usage_error(format!("--view {text}: expected a media type such as text/plain")));
    }
    Ok(text.replacen(',', " ", 1).into_bytes())
}
