//! The output of `fetch-url explain`, as text and as JSON.

use fetch_url::Error;
use fetch_url::driver::{Explained, SchemeSupport};
use fetch_url::url::Parsed;
use fetch_url_proto::text::sanitise;
use serde_json::{Value, json};

use super::json::json_line;
use super::{print_stderr, print_stdout, status_of_print};

/// Width of the column of part names.
const NAME_WIDTH: usize = 10;
/// Width of the column of part values.
const VALUE_WIDTH: usize = 26;

/// Prints the parts of a URL with their rules, the notes, and the commands. Returns the exit status.
pub(crate) fn print_explanation_text(
    text: &str,
    added_scheme: Option<&str>,
    parsed: &Parsed<'_>,
    explained: &Result<Explained, Error>,
) -> u8 {
    let mut shown = format!("{}\n", parsed.url.redacted());
    for part in parsed.url.components() {
        let rule = part.rule;
        shown.push_str(&format!(
            "  {:<NAME_WIDTH$} {:<VALUE_WIDTH$}  {rule}\n",
            part.name,
            sanitise(part.value.as_bytes())
        ));
    }
    if let Some(fragment) = parsed.fragment {
        shown.push_str(&format!(
            "  {:<NAME_WIDTH$} {:<VALUE_WIDTH$}  not part of the URL, never sent\n",
            "fragment", fragment
        ));
    }
    if let Some(scheme) = added_scheme {
        shown.push_str(&format!("  note: no scheme was given; {scheme} is assumed\n"));
    }
    for note in &parsed.notes {
        let place = text.get(note.span()).map(fetch_url::url::mask_password).unwrap_or_default();
        let place = if note.kind() == fetch_url::url::NoteKind::UserInHttp { String::new() } else { place };
        let place = sanitise(place.as_bytes());
        let place =
            if place.is_empty() || place.len() > VALUE_WIDTH { String::new() } else { format!(" ({place})") };
        shown.push_str(&format!("  note: {}{place}\n", note.kind()));
    }
    let status = append_commands(&mut shown, explained, parsed);
    status_of_print(print_stdout(&shown), status)
}

/// Appends the support for the scheme and the commands that would be sent. Returns the exit status.
fn append_commands(shown: &mut String, explained: &Result<Explained, Error>, parsed: &Parsed<'_>) -> u8 {
    let explained = match explained {
        Ok(explained) => explained,
        Err(error) => {
            print_stderr(&format!("fetch-url: {}: {error}\n", parsed.url.redacted()));
            shown.push_str("  rejected: nothing would be sent\n");
            return error.exit_status();
        }
    };
    if let Some((host, port)) = &explained.server {
        let server = format!("{host}:{port}");
        shown.push_str(&format!(
            "  {:<NAME_WIDTH$} {server:<VALUE_WIDTH$}  the host and port that receive the request\n",
            "server"
        ));
    }
    let word = match explained.support {
        SchemeSupport::BuiltIn => "commands",
        SchemeSupport::NotBuiltIn => "supported by no driver of this version",
        SchemeSupport::Reserved => "reserved scheme without an access method (RFC 1738 §4)",
        SchemeSupport::Experimental => "experimental scheme without a registered driver",
        _ => "unknown scheme",
    };
    shown.push_str(&format!("  {word}\n"));
    explained.commands.iter().for_each(|command| shown.push_str(&format!("    {command}\n")));
    0
}

/// Prints the explanation as one JSON object on one line. Returns the exit status.
pub(crate) fn print_explanation_json(
    parsed: &Parsed<'_>,
    added_scheme: Option<&str>,
    explained: &Result<Explained, Error>,
) -> u8 {
    let parts = parsed.url.components();
    let parts = parts.iter().map(|part| json!({ "name": part.name, "value": part.value, "rule": part.rule }));
    let notes = parsed.notes.iter().map(|note| {
        let span = note.span();
        json!({ "kind": note.kind().code(), "text": note.kind().to_string(), "span": [span.start, span.end] })
    });
    let mut value = json!({
        "url": parsed.url.redacted().to_string(),
        "scheme": parsed.url.scheme_name(),
        "parts": parts.collect::<Vec<Value>>(),
        "fragment": parsed.fragment,
        "notes": notes.collect::<Vec<Value>>(),
    });
    if let Some(scheme) = added_scheme {
        value["added_scheme"] = json!(scheme);
    }
    let status = match explained {
        Ok(explained) => {
            value["standing"] = json!(scheme_support_name(explained.support));
            value["server"] = explained
                .server
                .as_ref()
                .map_or(Value::Null, |(host, port)| json!({ "host": host.to_string(), "port": port }));
            value["commands"] = json!(explained.commands);
            0
        }
        Err(error) => {
            value["refused"] = json!({ "code": error.code().name(), "message": error.to_string() });
            error.exit_status()
        }
    };
    status_of_print(print_stdout(&format!("{}\n", json_line(&value))), status)
}

/// Returns the value of the JSON key `standing`.
const fn scheme_support_name(support: SchemeSupport) -> &'static str {
    match support {
        SchemeSupport::BuiltIn => "built_in",
        SchemeSupport::Experimental => "experimental",
        SchemeSupport::NotBuiltIn => "not_built_in",
        SchemeSupport::Reserved => "reserved",
        _ => "unknown",
    }
}
