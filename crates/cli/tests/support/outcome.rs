//! What holds after every run of a fault that leaves nothing over: the name is as it was or has the result, and the
//! talk is one line that no terminal would obey.

use fetch_url_tests::Target;

use super::sound::report_is_one_line;
use super::{Ran, ensure};

/// What a note begins with.
pub(crate) const NOTE: &str = "fetch-url: note: ";

/// Nothing is left over; after exit status 0 the name holds what `check` looks at, else what it held.
pub(crate) fn disk_is_clean(
    target: &Target,
    exit: i32,
    check: impl FnOnce(&[u8]) -> Result<(), String>,
) -> Result<(), String> {
    let error = |error: std::io::Error| error.to_string();
    let leftovers = target.leftovers().map_err(error)?;
    ensure(leftovers.is_empty(), || format!("leaves {leftovers:?}"))?;
    if exit != 0 {
        return ensure(target.is_untouched().map_err(error)?, || "the name was touched".to_owned());
    }
    check(&target.content().map_err(error)?.ok_or("exit 0, and there is no file")?)
}

/// Exactly this.
pub(crate) fn is_exactly(octets: &[u8], content: &[u8]) -> Result<(), String> {
    ensure(octets == content, || format!("another content: {}", clipped(octets)))
}

/// All of these words, and nothing that a terminal would obey.
pub(crate) fn shows(octets: &[u8], words: &[&str]) -> Result<(), String> {
    let text = String::from_utf8_lossy(octets);
    let missing = words.iter().find(|word| !text.contains(**word));
    ensure(missing.is_none(), || format!("no {missing:?} in {}", clipped(octets)))?;
    ensure(!text.contains(is_raw), || format!("raw controls in {}", clipped(octets)))
}

/// N7: notes apart, one line of talk that names the URL by its beginning, with the words that are due.
pub(crate) fn talk_is_clean(ran: &Ran, named: &str, says: &[&str]) -> Result<(), String> {
    ensure(!ran.stderr.contains(is_raw), || format!("raw controls: {:?}", ran.stderr))?;
    let talk = ran.stderr.lines().filter(|line| !line.starts_with(NOTE));
    let talk = Ran { stderr: talk.map(|line| format!("{line}\n")).collect(), ..ran.clone() };
    // What is wrong with an option is wrong with every URL.
    let named = if talk.stderr.starts_with("fetch-url: usage: --") { "usage" } else { named };
    report_is_one_line(&talk, named)?;
    let unsaid = says.iter().find(|word| ran.exit != 0 && !ran.stderr.contains(**word));
    ensure(unsaid.is_none(), || format!("does not say {unsaid:?}"))
}

/// Whether a terminal would obey it, or it changes the direction of what follows.
pub(crate) fn is_raw(character: char) -> bool {
    let is_bidi =
        matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    is_bidi || character.is_control() && character != '\n'
}

fn clipped(octets: &[u8]) -> String {
    octets[..octets.len().min(300)].escape_ascii().to_string()
}
