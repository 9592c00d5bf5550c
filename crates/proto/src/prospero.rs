//! Prospero's request for a URL (RFC 1738 §3.11, RFC 4157; the text of a request is UTF-8-free octets).

use fetch_url_core::ProsperoUrl;

use crate::{ForbiddenOctet, Octets, Outline};

/// How the object can be reached, and whether it is a directory: one question.
pub(crate) fn requests(url: &ProsperoUrl<'_>, outline: &mut Outline) -> Result<(), ForbiddenOctet> {
    let name = quoted(Octets::LINE.check("object name", &url.hsoname().decode())?);
    for (name, value) in url.fields() {
        Octets::LINE.check("field", &name.decode())?;
        Octets::LINE.check("field", &value.decode())?;
    }
    let version = url.version().filter(|version| !version.is_empty());
    let version = version.map_or_else(|| b"0".to_vec(), |version| version.decode().into_owned());
    let version = Octets::LINE.check("version", &version)?;
    outline.say(&[b"VERSION 5"]);
    outline.say(&[b"AUTHENTICATE '' UNAUTHENTICATED anonymous"]);
    outline.say(&[b"GET-OBJECT-INFO ACCESS-METHOD+UNIX-MODES ASCII ", &name, b" ", version]);
    Ok(())
}

/// Between apostrophes; one inside is written twice.
fn quoted(token: &[u8]) -> Vec<u8> {
    let inside = token.split(|&octet| octet == b'\'').collect::<Vec<_>>().join(&b"''"[..]);
    [b"'", &inside[..], b"'"].concat()
}
