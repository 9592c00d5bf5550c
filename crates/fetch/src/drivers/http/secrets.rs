//! Passwords and tokens of a request, which must not appear in traces and errors: some servers repeat them.

use bytes::Bytes;
use fetch_url_proto::text::mask_secret;
use http::HeaderValue;
use http::header::{AUTHORIZATION, PROXY_AUTHORIZATION};

use super::authorization;
use super::plan::HttpPlan;
use crate::Credential;
use crate::credentials::secret::SecretBytes;

/// Returns the passwords of the request and of the proxy, and the values of Authorization and Proxy-Authorization without
/// their scheme.
pub(super) fn request_secrets(plan: &HttpPlan) -> Vec<SecretBytes> {
    let logins = plan.login.iter().chain(&plan.login_after_challenge).chain(&plan.proxy_login);
    let proxy_authorization =
        plan.proxy_login.as_ref().and_then(|login| authorization::basic_authorization(login).ok());
    let values = plan.authorization.iter().chain(&proxy_authorization);
    let values = values.chain(plan.headers.get_all(AUTHORIZATION));
    let values = values.chain(plan.headers.get_all(PROXY_AUTHORIZATION));
    let secrets = logins.filter_map(Credential::expose_password).chain(values.map(authorization_parameters));
    secrets.filter(|secret| !secret.is_empty()).map(|secret| secret.to_vec().into()).collect()
}

/// Returns a value of Authorization without its scheme: the token of Bearer, user and password of Basic in base64.
fn authorization_parameters(value: &HeaderValue) -> &[u8] {
    let value = value.as_bytes();
    value.iter().position(|&byte| byte == b' ').map_or(value, |space| value[space..].trim_ascii())
}

/// Returns the text with the secrets of the request replaced by `***`.
pub(super) fn mask_request_secrets(plan: &HttpPlan, text: &[u8]) -> Bytes {
    let text = Bytes::copy_from_slice(text);
    request_secrets(plan).iter().fold(text, |text, secret| mask_secret(&text, secret.expose()))
}
