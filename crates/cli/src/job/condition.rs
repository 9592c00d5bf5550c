//! The option `-z`: a date, or a file whose modification time is used.

use std::time::{SystemTime, UNIX_EPOCH};

use fetch_url::{Condition, Error};
use fetch_url_proto::{calendar, typed_date};

use crate::error::usage_error;
use crate::flags::FetchFlags;
use crate::render;

/// Returns the condition of `-z`. Prints a note and returns `None` if the text is neither a date nor an existing file.
/// There is no note if it is the output file, which the first run creates.
pub(super) fn condition(flags: &FetchFlags) -> Result<Option<Condition>, Error> {
    let Some(text) = flags.time_cond.as_deref() else { return Ok(None) };
    let condition = parse(text)?;
    let is_output = || flags.output.iter().any(|output| output.as_os_str() == text);
    if condition.is_none() && !flags.messages.silent && !is_output() {
        render::print_note(&format!(
            "-z: {text} is neither a date nor an existing file; there is no condition"
        ));
    }
    Ok(condition)
}

/// Parses the value of `-z`. Returns `None` if its file does not exist.
fn parse(text: &str) -> Result<Option<Condition>, Error> {
    let (is_after, text) = match text.strip_prefix('-') {
        Some(rest) => (false, rest),
        None => (true, text.strip_prefix('+').unwrap_or(text)),
    };
    let seconds = match date(text) {
        Some(seconds) => seconds,
        None => match std::fs::metadata(text).and_then(|metadata| metadata.modified()) {
            Ok(time) => since_1970(time),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !looks_like_date(text) => {
                return Ok(None);
            }
            Err(_) => return Err(usage_error(format!("-z: {text:?} is neither a date nor a file")).with_hint(
                "a date is written 2026-11-21, 2026-11-21 12:34:56 (UTC) or Sat, 21 Nov 2026 12:34:56 GMT",
            )),
        },
    };
    Ok(Some(if is_after { Condition::ModifiedSince(seconds) } else { Condition::UnmodifiedSince(seconds) }))
}

/// Returns the seconds since 1970, negative before.
fn since_1970(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
        // Round down, as for times after 1970.
        Err(before) => {
            let before = before.duration();
            let seconds = before.as_secs().saturating_add(u64::from(before.subsec_nanos() > 0));
            i64::try_from(seconds).map_or(i64::MIN, |seconds| -seconds)
        }
    }
}

/// Returns `true` if the text looks like a date. An invalid date is then reported, instead of a missing file of that
/// name.
fn looks_like_date(text: &str) -> bool {
    let has_year = text.split(|c: char| !c.is_ascii_digit()).any(|run| run.len() == 4);
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    has_year && (is_number || text.contains([' ', ',', ':']))
}

/// Parses the dates of curl, and ISO 8601 dates in UTC.
fn date(text: &str) -> Option<i64> {
    typed_date::parse(text).or_else(|| iso_date(text))
}

fn iso_date(text: &str) -> Option<i64> {
    let text = text.strip_suffix('Z').or(text.strip_suffix(" UTC")).unwrap_or(text);
    let (day, time) = text.split_once(['T', ' ']).unwrap_or((text, "00:00:00"));
    let numbers = |text: &str, separator: char, lengths: &[usize]| -> Option<Vec<i64>> {
        let parts: Vec<&str> = text.split(separator).collect();
        let is_sound = parts.len() == lengths.len()
            && parts.iter().zip(lengths).all(|(part, &length)| {
                part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit())
            });
        is_sound.then(|| parts.iter().filter_map(|part| part.parse().ok()).collect())
    };
    let day = numbers(day, '-', &[4, 2, 2])?;
    let time =
        numbers(time, ':', &[2, 2, 2]).or_else(|| Some([numbers(time, ':', &[2, 2])?, vec![0]].concat()))?;
    calendar::to_timestamp(day[0], day[1], day[2], time[0], time[1], time[2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_curl_and_iso_dates_are_parsed() {
        assert_eq!(date("1994-12-01 12:34"), Some(786_285_240));
        assert_eq!(date("1994-12-01T12:34:56Z"), Some(786_285_296));
        assert_eq!(date("Thu, 01 Dec 1994 12:34:56 GMT"), Some(786_285_296));
        assert_eq!(date("2000-02-29"), Some(951_782_400));
        assert_eq!(date("29-Feb-00 01:00 CET"), Some(951_782_400));
        for bad in
            ["2001-02-29", "2000-13-01", "2000-1-1", "2000-01-01 24:00", "yesterday", "", "2000-01-01 1:2"]
        {
            assert_eq!(date(bad), None, "{bad}");
        }
    }

    #[test]
    fn date_condition_may_be_negated_and_invalid_dates_are_rejected() {
        assert_eq!(parse("2000-02-29").ok(), Some(Some(Condition::ModifiedSince(951_782_400))));
        assert_eq!(parse("-2000-02-29").ok(), Some(Some(Condition::UnmodifiedSince(951_782_400))));
        assert_eq!(parse("/no/such/file").ok(), Some(None));
        for bad in ["31 Feb 2000 12:00", "2000-13-01"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
