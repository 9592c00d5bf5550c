//! An error as a JSON object.

use fetch_url::Error;
use fetch_url::url::mask_password;
use serde_json::{Value, json};

use super::hint::hint_text;

/// Returns the error as a JSON object, with the keys of docs/spec/cli.md §3.
pub(super) fn error_value(error: &Error, url: &str) -> Value {
    json!({
        "code": error.code().name(),
        "phase": error.phase().word(),
        "message": error.to_string(),
        "reply": error.reply(),
        "hint": error.hint().map(hint_text),
        "span": error.parse_error().map(|parse| [parse.span().start, parse.span().end]),
        "url": error.url().map_or_else(|| mask_password(url), str::to_owned),
        "temporary": error.is_transient(),
        "exit": error.exit_status(),
    })
}
