//! What a URL says and what would be done, for people and for programs.

use fetch_url::proto::text::printable;
use fetch_url::url::Parsed;
use fetch_url::{Error, Explained, Standing};
use serde_json::{Value, json};

use super::json::line;
use super::{print, say};

/// Columns for the parts.
const NAME: usize = 10;
const VALUE: usize = 26;

/// The parse rule by rule, notes with a mark under their place, and the commands.
pub(crate) fn as_text(text: &str, parsed: &Parsed<'_>, explained: &Result<Explained, Error>) -> u8 {
    let mut shown = format!("{}\n", parsed.url.redacted());
    for part in parsed.url.parts() {
        let rule = part.rule;
        shown.push_str(&format!(
            "  {:<NAME$} {:<VALUE$}  {rule}\n",
            part.name,
            printable(part.value.as_bytes())
        ));
    }
    if let Some(fragment) = parsed.fragment {
        shown.push_str(&format!("  {:<NAME$} {:<VALUE$}  kept aside, never sent\n", "fragment", fragment));
    }
    for note in &parsed.notes {
        let place = text.get(note.span()).map(fetch_url::url::mask_password).unwrap_or_default();
        let place = if note.kind() == fetch_url::url::NoteKind::UserInHttp { String::new() } else { place };
        let place = printable(place.as_bytes());
        let place =
            if place.is_empty() || place.len() > VALUE { String::new() } else { format!(" ({place})") };
        shown.push_str(&format!("  note: {}{place}\n", note.kind()));
    }
    let status = commands(&mut shown, explained, parsed);
    if print(&shown) { status } else { 23 }
}

fn commands(shown: &mut String, explained: &Result<Explained, Error>, parsed: &Parsed<'_>) -> u8 {
    let explained = match explained {
        Ok(explained) => explained,
        Err(error) => {
            say(&format!("fetch-url: {}: {error}\n", parsed.url.redacted()));
            shown.push_str("  sends nothing: refused\n");
            return error.exit();
        }
    };
    let word = match explained.standing {
        Standing::BuiltIn => "does",
        Standing::NotBuiltIn if explained.commands.is_empty() => "names no data object; not built in yet",
        Standing::NotBuiltIn => "would send (not built in yet)",
        Standing::Reserved => "has no access method (RFC 1738 §4)",
        Standing::Experimental => "is experimental, and no driver was registered",
        _ => "has a scheme that nobody here knows",
    };
    shown.push_str(&format!("  {word}\n"));
    explained.commands.iter().for_each(|command| shown.push_str(&format!("    {command}\n")));
    0
}

/// The same as one JSON object a line.
pub(crate) fn as_json(parsed: &Parsed<'_>, explained: &Result<Explained, Error>) -> u8 {
    let parts = parsed.url.parts();
    let parts = parts.iter().map(|part| json!({ "name": part.name, "value": part.value, "rule": part.rule }));
    let notes = parsed.notes.iter().map(|note| {
        let span = note.span();
        json!({ "kind": note.kind().word(), "text": note.kind().to_string(), "span": [span.start, span.end] })
    });
    let mut value = json!({
        "url": parsed.url.redacted().to_string(),
        "scheme": parsed.url.scheme_name(),
        "parts": parts.collect::<Vec<Value>>(),
        "fragment": parsed.fragment,
        "notes": notes.collect::<Vec<Value>>(),
    });
    let status = match explained {
        Ok(explained) => {
            value["standing"] = json!(standing(explained.standing));
            value["commands"] = json!(explained.commands);
            0
        }
        Err(error) => {
            value["refused"] = json!({ "code": error.code().word(), "message": error.to_string() });
            error.exit()
        }
    };
    if print(&format!("{}\n", line(&value))) { status } else { 23 }
}

const fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::BuiltIn => "built_in",
        Standing::Experimental => "experimental",
        Standing::NotBuiltIn => "not_built_in",
        Standing::Reserved => "reserved",
        _ => "unknown",
    }
}
