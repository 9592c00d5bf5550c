//! The gopher options.

use std::path::Path;

use fetch_url::Error;
use fetch_url::gopher::GopherOptions;
use fetch_url_proto::gopher::DotStuffing;

use super::option_file::read_option_file;
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
    options.answers = gopher.form.iter().map(|text| answer(text)).collect::<Result<_, _>>()?;
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

/// Parses `--form`: `NAME=VALUE`, `NAME=@FILE`, or `NAME=@@VALUE` for a value that begins with @.
fn answer(text: &str) -> Result<(Vec<u8>, Vec<u8>), Error> {
    let Some((name, value)) = text.split_once('=') else {
        return Err(usage_error(format!("--form {text}: expected NAME=VALUE")));
    };
    let value = match value.strip_prefix('@') {
        None => value.as_bytes().to_vec(),
        Some(rest) if rest.starts_with('@') => rest.as_bytes().to_vec(),
        Some(path) => read_option_file("--form", Path::new(path))
            .map_err(|error| error.with_hint("write @@ for a value that begins with @"))?,
    };
    Ok((name.as_bytes().to_vec(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_answers_are_parsed_or_rejected() {
        let of = |text: &str| answer(text).map(|(name, value)| (name.len(), value)).ok();
        assert_eq!(of("Your name?=a=b"), Some((10, b"a=b".to_vec())));
        assert_eq!(of("1="), Some((1, Vec::new())));
        assert_eq!(of("1=@@x"), Some((1, b"@x".to_vec())));
        assert_eq!(of("1=@/nowhere/at/all"), None);
        assert_eq!(of("1"), None);
    }
}
