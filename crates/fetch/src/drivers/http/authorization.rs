//! The value of Authorization for the Basic scheme (RFC 7617). No I/O.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fetch_url_proto::ForbiddenSet;
use http::HeaderValue;

use crate::{Code, Credential, Error, Phase};

/// Returns user and password for the Basic scheme, byte for byte.
pub(super) fn basic_authorization(login: &Credential) -> Result<HeaderValue, Error> {
    let user = ForbiddenSet::BASIC_USER.check("user", login.user())?;
    let password = ForbiddenSet::LINE.check("password", login.expose_password().unwrap_or_default())?;
    let login = STANDARD.encode([user, b":", password].concat());
    sensitive_header_value(format!("Basic {login}").as_bytes())
}

/// Returns a header value that is marked as sensitive, so that traces mask it.
pub(super) fn sensitive_header_value(value: &[u8]) -> Result<HeaderValue, Error> {
    let mut value = HeaderValue::from_bytes(value)
        .map_err(|error| Error::new(Code::AuthNeeded, Phase::Request, error.to_string()))?;
    value.set_sensitive(true);
    Ok(value)
}
