//! The dialogue for whoever listens (`-v`): `>` what went out, `<` what came back, `*` what was
//! decided. Plans print no secret, and octets of the peer are made safe.

use fetch_url_core::mask_password;
use fetch_url_proto::text::{escaped, printable};
use tracing::Level;

use crate::{Error, Meta, Outcome, Plan};

/// Fields that give access to whoever reads them.
const SECRET_FIELDS: &[&str] = &["authorization", "proxy-authenticate", "set-cookie", "www-authenticate"];

/// The target of these events.
const TARGET: &str = "fetch_url::dialogue";
/// The target of octets as they come.
const OCTETS: &str = "fetch_url::octets";
/// So many of them stand on one line.
const PIECE: usize = 4096;

pub(super) fn request(plan: &dyn Plan) {
    if tracing::enabled!(target: TARGET, Level::INFO) {
        plan.to_string().lines().for_each(|line| tracing::info!(target: TARGET, "> {line}"));
    }
}

/// Whether somebody listens.
pub(crate) fn is_heard() -> bool {
    tracing::enabled!(target: TARGET, Level::INFO)
}

/// One thing that goes out; shows no secret.
pub(crate) fn said(what: &dyn std::fmt::Display) {
    tracing::info!(target: TARGET, "> {what}");
}

/// One thing that came back.
pub(crate) fn heard(octets: &[u8]) {
    if tracing::enabled!(target: TARGET, Level::INFO) {
        tracing::info!(target: TARGET, "< {}", printable(octets));
    }
}

/// Octets as they came, lines and bodies, for a trace that is to be played again.
pub(crate) fn came(octets: &[u8]) {
    if tracing::enabled!(target: OCTETS, Level::TRACE) {
        for piece in octets.chunks(PIECE) {
            tracing::trace!(target: OCTETS, "<< {}", escaped(piece));
        }
    }
}

/// What was decided.
pub(crate) fn decided(what: &dyn std::fmt::Display) {
    if tracing::enabled!(target: TARGET, Level::INFO) {
        tracing::info!(target: TARGET, "* {}", printable(what.to_string().as_bytes()));
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
            tracing::info!(target: TARGET, "* it points to {}", mask_password(&printable(hop.to.as_bytes())));
        }
        Ok(Outcome::Again(again)) => head(&again.answer.meta),
        Err(error) => tracing::info!(target: TARGET, "* {error}"),
    }
}

/// Fields that carry secrets are named, not shown; a URL in a field loses its password.
pub(super) fn head(meta: &Meta) {
    if let Some(reply) = &meta.reply {
        tracing::info!(target: TARGET, "< {}", printable(reply.as_bytes()));
    }
    for (name, value) in &meta.fields {
        let is_secret = SECRET_FIELDS.contains(&name.as_str());
        let value = if is_secret { "***".to_owned() } else { mask_password(&printable(value)) };
        tracing::info!(target: TARGET, "< {name}: {value}");
    }
}
