//! Parses dates that a person types, in all forms of `curl_getdate(3)`: the parts may have any order.
//!
//! A date needs a day, a month and a year. The time of day is 00:00:00 and the zone is UTC if they are missing. Names of
//! days of the week are read and ignored.

use crate::calendar;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// The names of time zones and their offset from UTC in minutes, eastward positive. Military letters follow in
/// [`military_zone`].
#[rustfmt::skip]
const ZONES: [(&str, i64); 40] = [
    ("gmt", 0), ("ut", 0), ("utc", 0), ("wet", 0), ("bst", 60), ("wat", -60),
    ("ast", -240), ("adt", -180), ("est", -300), ("edt", -240), ("cst", -360), ("cdt", -300),
    ("mst", -420), ("mdt", -360), ("pst", -480), ("pdt", -420), ("yst", -540), ("ydt", -480),
    ("hst", -600), ("hdt", -540), ("cat", -600), ("ahst", -600), ("nt", -660), ("idlw", -720),
    ("cet", 60), ("met", 60), ("mewt", 60), ("mest", 120), ("cest", 120), ("mesz", 120),
    ("eet", 120), ("fwt", 60), ("fst", 120), ("cct", 480), ("jst", 540), ("east", 600),
    ("eadt", 660), ("nzt", 720), ("nzst", 720), ("nzdt", 780),
];

/// Maximum length of a date in bytes.
const MAX_LENGTH: usize = 128;

/// Parses a date such as `Sun, 06 Nov 1994 08:49:37 GMT`, `06-Nov-94`, `1994 Nov 6` or `20040912 15:05:58 -0700`.
/// Returns the seconds since 1970-01-01 00:00 UTC, or `None` if the text is not a date.
pub fn parse(text: &str) -> Option<i64> {
    if text.len() > MAX_LENGTH {
        return None;
    }
    let mut parts = Parts::default();
    let (mut rest, mut before) = (text, None);
    while let Some(first) = rest.chars().next() {
        let length = if first.is_ascii_digit() {
            parts.add_number(rest, before)?
        } else if first.is_ascii_alphabetic() {
            let length = length_of(rest, char::is_alphabetic);
            parts.add_word(&rest[..length].to_ascii_lowercase())?;
            length
        } else {
            first.len_utf8()
        };
        let (read, unread) = rest.split_at(length);
        (before, rest) = (read.chars().next_back(), unread);
    }
    parts.timestamp()
}

/// Returns the length in bytes of the start of `text` whose characters are all parts.
fn length_of(text: &str, is_part: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is_part(c)).unwrap_or(text.len())
}

/// The parts of a date that were read.
#[derive(Default)]
struct Parts {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    /// Hour, minute and second.
    time: Option<[i64; 3]>,
    has_week_day: bool,
    /// The offset from UTC in minutes.
    zone: Option<i64>,
}

impl Parts {
    fn add_word(&mut self, word: &str) -> Option<()> {
        let has_prefix = |name: &str| word == name || word.len() == 3 && name.starts_with(word);
        if !self.has_week_day && DAYS.iter().any(|name| has_prefix(name)) {
            self.has_week_day = true;
            return Some(());
        }
        let month = MONTHS.iter().zip(1..).find(|(name, _)| word == **name);
        if let (None, Some((_, number))) = (self.month, month) {
            self.month = Some(number);
            return Some(());
        }
        let zone = ZONES.iter().find(|(name, _)| word == *name).map(|(_, minutes)| *minutes);
        self.set_zone(zone.or_else(|| military_zone(word))?)
    }

    /// Sets the zone, unless there is one already.
    fn set_zone(&mut self, minutes: i64) -> Option<()> {
        self.zone.replace(minutes).is_none().then_some(())
    }

    /// Reads the time or number at the start of `text`; `before` is the character in front of it. Returns its length.
    fn add_number(&mut self, text: &str, before: Option<char>) -> Option<usize> {
        let length = length_of(text, |c| c.is_ascii_digit());
        if text[length..].starts_with(':') {
            return self.add_time(text);
        }
        let number: i64 = text[..length].parse().ok()?;
        let sign = match before {
            Some('+') => Some(1),
            Some('-') => Some(-1),
            _ => None,
        };
        match sign {
            // Hours and minutes. A larger number after a hyphen is a year.
            Some(sign) if length == 4 && self.zone.is_none() && number <= 1400 && number % 100 < 60 => {
                self.set_zone(sign * (number / 100 * 60 + number % 100))?;
            }
            _ if length == 8 && (self.year, self.month, self.day) == (None, None, None) => {
                (self.year, self.month) = (Some(number / 10_000), Some(number % 10_000 / 100));
                self.day = Some(number % 100);
            }
            _ => self.add_day_or_year(number)?,
        }
        Some(length)
    }

    /// The first number from 1 to 31 is the day, another one the year. Years below 100 are from 1971 to 2070.
    fn add_day_or_year(&mut self, number: i64) -> Option<()> {
        if self.day.is_none() && (1..=31).contains(&number) {
            self.day = Some(number);
            return Some(());
        }
        let year = match number {
            71..100 => number + 1900,
            0..71 => number + 2000,
            year => year,
        };
        self.year.replace(year).is_none().then_some(())
    }

    /// Reads `HH:MM` or `HH:MM:SS`. Returns its length.
    fn add_time(&mut self, text: &str) -> Option<usize> {
        let length = length_of(text, |c| c.is_ascii_digit() || c == ':');
        let mut time = [0; 3];
        let mut fields = text[..length].split(':');
        for (number, field) in time.iter_mut().zip(&mut fields) {
            *number = field.parse().ok().filter(|_| field.len() <= 2)?;
        }
        let is_valid = fields.next().is_none() && self.time.is_none();
        self.time = is_valid.then_some(time);
        self.time.map(|_| length)
    }

    fn timestamp(&self) -> Option<i64> {
        let [hour, minute, second] = self.time.unwrap_or_default();
        // A leap second counts as the second before it.
        let second = if second == 60 { 59 } else { second };
        let local = calendar::to_timestamp(self.year?, self.month?, self.day?, hour, minute, second)?;
        local.checked_sub(self.zone.unwrap_or(0) * 60)
    }
}

/// Returns the offset of a military time zone in minutes: `A` to `M` without `J` are east of UTC, `N` to `Y` west.
fn military_zone(word: &str) -> Option<i64> {
    let [letter] = word.as_bytes() else { return None };
    let hours = match letter {
        b'a'..=b'i' => i64::from(letter - b'a') + 1,
        b'k'..=b'm' => i64::from(letter - b'a'),
        b'n'..=b'y' => -(i64::from(letter - b'n') + 1),
        b'z' => 0,
        _ => return None,
    };
    Some(hours * 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_curl_getdate_is_parsed() {
        let (morning, midnight) = (784_111_777, 784_080_000);
        for (text, seconds) in [
            ("Sun, 06 Nov 1994 08:49:37 GMT", morning),
            ("Sunday, 06-Nov-94 08:49:37 GMT", morning),
            ("Sun Nov  6 08:49:37 1994", morning),
            ("Nov  6 08:49:37 1994 GMT", morning),
            ("06 Nov 1994 08:49:37 GMT", morning),
            ("06-Nov-94 08:49:37 GMT", morning),
            ("Nov  6 08:49:37 1994", morning),
            ("06 Nov 1994 08:49:37", morning),
            ("06-Nov-94 08:49:37", morning),
            ("1994 Nov 6 08:49:37", morning),
            ("GMT 08:49:37 06-Nov-94 Sunday", morning),
            ("94 6 Nov 08:49:37", morning),
            ("1994 Nov 6", midnight),
            ("06-Nov-94", midnight),
            ("Sun Nov 6 94", midnight),
            ("1994.Nov.6", midnight),
            ("Sun/Nov/6/94/GMT", midnight),
            ("Sun, 06 Nov 1994 08:49:37 CET", morning - 3600),
            ("06 Nov 1994 08:49:37 EST", morning + 5 * 3600),
            ("06 Nov 1994 08:49", morning - 37),
            ("Sun, 12 Sep 2004 15:05:58 -0700", 1_095_026_758),
            ("Sat, 11 Sep 2004 21:32:11 +0200", 1_094_931_131),
            ("20040912 15:05:58 -0700", 1_095_026_758),
            ("20040911 +0200", 1_094_853_600),
            ("Thu, 01-Jan-1970 00:59:58 GMT", 3598),
            ("Thu, 01-Jan-1970 00:00:00 A", -3600),
            ("31 Dec 1969 23:59:59 GMT", -1),
            ("Sun, 06 Nov 2044 08:49:60 GMT", 2_362_034_999),
        ] {
            assert_eq!(parse(text), Some(seconds), "{text}");
        }
    }

    #[test]
    fn text_that_is_not_a_date_is_rejected() {
        let long = "1994 Nov 6 ".to_owned() + &" ".repeat(MAX_LENGTH);
        for text in [
            "",
            "yesterday",
            "6 Nov",
            "Nov 1994",
            "31 Feb 2000",
            "1994 Nov 6 25:00",
            "1994 Nov 6 8:61",
            "1994 Nov 6 1:2:3:4",
            "1994 Nov 6 123:00",
            "1994 Nov 6 8:00 9:00",
            "1994 Nov 6 7",
            "1994 Nov 6 1995",
            "1994 Nov Dec 6",
            "1994 Nov 6 GMT EST",
            "1994 Nov 6 XYZ",
            "Nov\u{e9} 6 1994",
            "file.txt",
            "99999999999999999999 Nov 6",
            "2026-11-21",
            &long,
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
