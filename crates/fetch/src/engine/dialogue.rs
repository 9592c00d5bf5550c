//! The dialogue for whoever listens (`-v`): `>` what went out, `<` what came back, `*` what was
//! decided. Plans print no secret, and octets of the peer are made safe.

use fetch_url_proto::text::printable;
use tracing::Level;

use crate::{Error, Meta, Outcome, Plan};

/// The target of these events.
const TARGET: &str = "fetch_url::dialogue";

pub(super) fn request(plan: &dyn Plan) {
    if tracing::enabled!(target: TARGET, Level::INFO) {
        plan.to_string().lines().for_each(|line| tracing::info!(target: TARGET, "> {line}"));
    }
}

pub(super) fn answer(outcome: &Result<Outcome, Error>) {
    if !tracing::enabled!(target: TARGET, Level::INFO) {
        return;
    }
    match outcome {
        Ok(Outcome::Answer(response)) => head(&response.meta),
        Ok(Outcome::Follow(hop)) => {
            head(&hop.answer.meta);
            tracing::info!(target: TARGET, "* it points to {}", printable(fetch_url_core::mask_password(&hop.to).as_bytes()));
        }
        Err(error) => tracing::info!(target: TARGET, "* {error}"),
    }
}

/// Header fields can carry a peer's secrets back: those are named, not shown.
fn head(meta: &Meta) {
    if let Some(reply) = &meta.reply {
        tracing::info!(target: TARGET, "< {}", printable(reply.as_bytes()));
    }
    for (name, value) in &meta.fields {
        let is_secret = ["set-cookie", "authorization", "proxy-authenticate", "www-authenticate"]
            .contains(&name.as_str());
        let value = if is_secret { "***".to_owned() } else { printable(value) };
        tracing::info!(target: TARGET, "< {name}: {value}");
    }
}
