//! The wire trace of plans and responses, for drivers that do not trace each line themselves.

use fetch_url_core::mask_password;
use fetch_url_proto::text::sanitise;

use crate::credentials::masking::mask_secrets;
use crate::credentials::secret::is_secret_field;
use crate::net::trace::{is_enabled, note, received, sent};
use crate::{Error, Meta, Outcome, Plan};

/// Traces every line that `plan` will send.
pub(super) fn request(plan: &dyn Plan) {
    if is_enabled() {
        plan.to_string().lines().for_each(|line| sent(&line));
    }
}

/// Traces the status line and headers of a response, or the error.
pub(super) fn outcome(outcome: &Result<Outcome, Error>) {
    if !is_enabled() {
        return;
    }
    match outcome {
        Ok(Outcome::Response(response)) => head(&response.meta),
        Ok(Outcome::Redirect(redirect)) => {
            let meta = &redirect.response.meta;
            head(meta);
            note(&format_args!("redirect to {}", field_text(redirect.target.as_bytes(), meta)));
        }
        Ok(Outcome::Resend(resend)) => head(&resend.response.meta),
        Err(error) => note(error),
    }
}

/// Traces a status line and headers. The values of headers that contain secrets, passwords in URLs, and
/// passwords of the request that the server repeats are masked.
pub(super) fn head(meta: &Meta) {
    if let Some(reply) = &meta.reply {
        received(reply.as_bytes());
    }
    for (name, value) in &meta.fields {
        let value = if is_secret_field(name) { "***".to_owned() } else { field_text(value, meta) };
        received(format!("{name}: {value}").as_bytes());
    }
}

/// Returns the text of a header value with the secrets of the request and passwords in URLs masked.
fn field_text(value: &[u8], meta: &Meta) -> String {
    mask_password(&sanitise(&mask_secrets(value, &meta.secrets)))
}
