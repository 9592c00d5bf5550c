//! Checks that must hold after every injected fault: rules N1, N4, N7 and N8 of docs/spec/faults.md, section 3.

use fetch_url_tests::Target;

use super::{RunResult, ensure, part_metadata_path, part_path};

/// The prefix of every note that fetch-url prints on standard error.
pub(crate) const NOTE_PREFIX: &str = "fetch-url: note: ";

/// Checks rule N7: a failed run prints exactly one line that names the program and the URL, further lines are hints,
/// and the program does not panic. A successful run prints no error.
pub(crate) fn check_error_report(result: &RunResult, server: &str) -> Result<(), String> {
    let lines: Vec<&str> = result.stderr.lines().collect();
    let (messages, rest): (Vec<&str>, Vec<&str>) =
        lines.iter().partition(|line| line.starts_with("fetch-url: "));
    ensure(!result.stderr.contains("panicked"), || format!("the program panicked: {}", result.stderr))?;
    if result.exit == 0 {
        let has_error = messages.iter().any(|line| line.contains("rror"));
        return ensure(!has_error, || format!("exit status 0 with an error message: {}", result.stderr));
    }
    ensure(messages.len() == 1, || format!("{} messages instead of 1: {}", messages.len(), result.stderr))?;
    // After redirects the message may name the URL of the last redirect, which is on the same server.
    let names_url = messages[0].starts_with(&format!("fetch-url: {server}"));
    ensure(names_url, || format!("the message does not name the URL: {}", messages[0]))?;
    let are_hints = rest.iter().all(|line| line.starts_with("  hint: "));
    ensure(are_hints, || format!("a line is neither a message nor a hint: {}", result.stderr))
}

/// Checks rule N7 for standard error without its notes, and that the message of a failed run contains every one of
/// `expected`. `url_prefix` is the start of the URL that the message must name.
pub(crate) fn check_stderr(result: &RunResult, url_prefix: &str, expected: &[&str]) -> Result<(), String> {
    ensure(!result.stderr.contains(is_terminal_control), || {
        format!("unescaped control characters: {:?}", result.stderr)
    })?;
    let messages = result.stderr.lines().filter(|line| !line.starts_with(NOTE_PREFIX));
    let without_notes =
        RunResult { stderr: messages.map(|line| format!("{line}\n")).collect(), ..result.clone() };
    // A wrong option is reported once for the whole run, without a URL.
    let is_usage_error = without_notes.stderr.starts_with("fetch-url: usage: --");
    check_error_report(&without_notes, if is_usage_error { "usage" } else { url_prefix })?;
    let missing = expected.iter().find(|text| result.exit != 0 && !result.stderr.contains(**text));
    ensure(missing.is_none(), || format!("standard error does not contain {missing:?}"))
}

/// Checks rules N1 and N4 for a transfer that can be resumed: after exit status 0 the target has the complete
/// content; after an error the target is unchanged, and a `.part` file is a prefix of the content and has metadata.
pub(crate) fn check_target_and_part(target: &Target, exit: i32, content: &[u8]) -> Result<(), String> {
    let error = |error: std::io::Error| error.to_string();
    let leftovers = target.leftovers().map_err(error)?;
    if exit == 0 {
        let is_complete = target.content().map_err(error)?.as_deref() == Some(content);
        ensure(is_complete, || "exit status 0, but the content differs".to_owned())?;
        return ensure(leftovers.is_empty(), || {
            format!("exit status 0, but these files remain: {leftovers:?}")
        });
    }
    ensure(target.is_untouched().map_err(error)?, || "a failed run changed the target".to_owned())?;
    let (part, metadata) = (part_path(&target.path()), part_metadata_path(&target.path()));
    ensure(leftovers.iter().all(|path| *path == part || *path == metadata), || {
        format!("these files remain: {leftovers:?}")
    })?;
    ensure(part.exists() || !metadata.exists(), || "`.part.json` remains without `.part`".to_owned())?;
    match std::fs::read(&part) {
        Ok(bytes) => {
            ensure(content.starts_with(&bytes), || "`.part` is not a prefix of the content".to_owned())
        }
        Err(_) => Ok(()),
    }
}

/// Checks rules N1 and N4 for a transfer that cannot be resumed: no temporary file remains; after exit status 0 the
/// target's content passes `check`, after an error the target is unchanged.
pub(crate) fn check_target(
    target: &Target,
    exit: i32,
    check: impl FnOnce(&[u8]) -> Result<(), String>,
) -> Result<(), String> {
    let error = |error: std::io::Error| error.to_string();
    let leftovers = target.leftovers().map_err(error)?;
    ensure(leftovers.is_empty(), || format!("these files remain: {leftovers:?}"))?;
    if exit != 0 {
        return ensure(target.is_untouched().map_err(error)?, || {
            "a failed run changed the target".to_owned()
        });
    }
    check(&target.content().map_err(error)?.ok_or("exit status 0, but there is no file")?)
}

/// Checks that `bytes` equals `content`.
pub(crate) fn check_content(bytes: &[u8], content: &[u8]) -> Result<(), String> {
    ensure(bytes == content, || format!("the content differs: {}", excerpt(bytes)))
}

/// Checks that `bytes` contains every one of `expected` and no character that controls a terminal.
pub(crate) fn check_text(bytes: &[u8], expected: &[&str]) -> Result<(), String> {
    let text = String::from_utf8_lossy(bytes);
    let missing = expected.iter().find(|word| !text.contains(**word));
    ensure(missing.is_none(), || format!("{missing:?} is missing in {}", excerpt(bytes)))?;
    ensure(!text.contains(is_terminal_control), || {
        format!("unescaped control characters in {}", excerpt(bytes))
    })
}

/// Returns `true` if a terminal acts on the character (line feed excepted) or if it changes the direction of text.
pub(crate) fn is_terminal_control(character: char) -> bool {
    let is_bidi =
        matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    is_bidi || character.is_control() && character != '\n'
}

/// Returns the first 300 bytes, escaped, for a failure message.
fn excerpt(bytes: &[u8]) -> String {
    bytes[..bytes.len().min(300)].escape_ascii().to_string()
}
