//! The wire trace of plans and answers, for schemes whose driver does not trace line by line.

use bytes::Bytes;
use fetch_url_core::mask_password;
use fetch_url_proto::text::{mask_secret, sanitise};

use crate::net::trace::{is_enabled, note, received, sent};
use crate::{Error, Meta, Outcome, Plan};

/// Response headers whose values are secrets or allow access to one.
const SECRET_FIELDS: &[&str] = &["authorization", "proxy-authenticate", "set-cookie", "www-authenticate"];

/// Traces every line that `plan` will send.
pub(super) fn request(plan: &dyn Plan) {
    if is_enabled() {
        plan.to_string().lines().for_each(|line| sent(&line));
    }
}

/// Traces the status line and headers of an answer, or the error.
pub(super) fn outcome(outcome: &Result<Outcome, Error>) {
    if !is_enabled() {
        return;
    }
    match outcome {
        Ok(Outcome::Answer(response)) => head(&response.meta),
        Ok(Outcome::Follow(redirect)) => {
            let meta = &redirect.answer.meta;
            head(meta);
            note(&format_args!("redirect to {}", field_text(redirect.target.as_bytes(), meta)));
        }
        Ok(Outcome::Resend(resend)) => head(&resend.answer.meta),
        Err(error) => note(error),
    }
}

/// Traces a status line and headers. Headers that carry secrets are named without their value; a URL in a header
/// loses its password, and a password of the request that the server repeats is masked.
pub(super) fn head(meta: &Meta) {
    if let Some(reply) = &meta.reply {
        received(reply.as_bytes());
    }
    for (name, value) in &meta.fields {
        let is_secret = SECRET_FIELDS.contains(&name.as_str());
        let value = if is_secret { "***".to_owned() } else { field_text(value, meta) };
        received(format!("{name}: {value}").as_bytes());
    }
}

/// Returns the text of a field without the secrets of the request and the password of a URL.
fn field_text(value: &[u8], meta: &Meta) -> String {
    let value = Bytes::copy_from_slice(value);
    let masked = meta.secrets.iter().fold(value, |value, secret| mask_secret(&value, secret.expose()));
    mask_password(&sanitise(&masked))
}
