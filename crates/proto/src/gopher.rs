//! Gopher's request line for a URL (RFC 1738 §3.4.8, RFC 1436).

use fetch_url_core::GopherUrl;

use crate::{ForbiddenOctet, Octets, Outline};

/// `selector`, `selector TAB search`, or `selector TAB search TAB gopher+`.
pub(crate) fn requests(url: &GopherUrl<'_>, outline: &mut Outline) -> Result<(), ForbiddenOctet> {
    let mut line = Octets::GOPHER.check("selector", &url.selector().decode())?.to_vec();
    for (part, text) in [("search", url.search()), ("Gopher+ string", url.plus())] {
        if let Some(text) = text {
            line.push(b'\t');
            line.extend_from_slice(Octets::GOPHER.check(part, &text.decode())?);
        }
    }
    outline.say(&[&line]);
    Ok(())
}
