//! Passwords and tokens of a request, which must not appear in traces and errors: some servers repeat them.

use bytes::Bytes;
use http::header::{AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION};
use http::{HeaderName, HeaderValue};

use super::authorization;
use super::plan::HttpPlan;
use crate::Credential;
use crate::credentials::masking::mask_secrets;
use crate::credentials::secret::SecretBytes;

/// Shorter values of other secret fields, such as the cookie `a=1`, are not masked: they are parts of ordinary words.
const MIN_LENGTH: usize = 6;

/// Returns the passwords of the request and of the proxy, the values of Authorization and Proxy-Authorization without
/// their scheme, those of cookies and other secret fields, and the secrets of the requests before a redirect.
pub(super) fn request_secrets(plan: &HttpPlan) -> Vec<SecretBytes> {
    let logins = plan.login.iter().chain(&plan.login_after_challenge).chain(&plan.proxy_login);
    let proxy_authorization =
        plan.proxy_login.as_ref().and_then(|login| authorization::basic_authorization(login).ok());
    let values = plan.authorization.iter().chain(&proxy_authorization);
    let values = values.chain(plan.headers.get_all(AUTHORIZATION));
    let values = values.chain(plan.headers.get_all(PROXY_AUTHORIZATION));
    let others = plan.headers.iter().filter(|(_, value)| value.is_sensitive()).flat_map(field_values);
    let secrets = logins.filter_map(Credential::expose_password).chain(values.map(authorization_parameters));
    let secrets = secrets.chain(others.filter(|value| value.len() >= MIN_LENGTH));
    let secrets = secrets.chain(plan.earlier_secrets.iter().map(SecretBytes::expose));
    secrets.filter(|secret| !secret.is_empty()).map(|secret| secret.to_vec().into()).collect()
}

/// Returns the value of a secret field, or those of the cookies in it.
fn field_values<'f>((name, value): (&HeaderName, &'f HeaderValue)) -> Vec<&'f [u8]> {
    let value = value.as_bytes();
    if *name != COOKIE {
        return vec![value.trim_ascii()];
    }
    let cookies = value.split(|&byte| byte == b';');
    let values =
        cookies.filter_map(|cookie| cookie.iter().position(|&byte| byte == b'=').map(|at| &cookie[at + 1..]));
    let values = values.map(<[u8]>::trim_ascii);
    // A server may repeat a quoted value without its quotes.
    let unquoted = |value: &'f [u8]| value.strip_prefix(b"\"")?.strip_suffix(b"\"");
    values.flat_map(|value| [Some(value), unquoted(value)]).flatten().collect()
}

/// Returns a value of Authorization without its scheme: the token of Bearer, user and password of Basic in base64.
fn authorization_parameters(value: &HeaderValue) -> &[u8] {
    let value = value.as_bytes();
    value.iter().position(|&byte| byte == b' ').map_or(value, |space| value[space..].trim_ascii())
}

/// Returns the text with the secrets of the request replaced by `***`.
pub(super) fn mask_request_secrets(plan: &HttpPlan, text: &[u8]) -> Bytes {
    mask_secrets(text, &request_secrets(plan))
}
