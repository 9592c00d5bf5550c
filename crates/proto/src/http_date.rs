//! Dates in HTTP fields (RFC 9110 §5.6.7), read leniently and written strictly.

use crate::calendar;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
/// Names of time zones and their distance from UTC in hours (RFC 5322 §4.3).
const ZONES: [(&str, i64); 12] = [
    ("gmt", 0),
    ("utc", 0),
    ("ut", 0),
    ("z", 0),
    ("est", -5),
    ("edt", -4),
    ("cst", -6),
    ("cdt", -5),
    ("mst", -7),
    ("mdt", -6),
    ("pst", -8),
    ("pdt", -7),
];
/// Two-digit years from this one on belong to the 20th century.
const CENTURY_PIVOT: i64 = 70;

/// The first seconds of the years 0 and 10000.
const YEAR_0: i64 = -62_167_219_200;
const YEAR_10000: i64 = 253_402_300_800;

/// The fields of a date, as far as they were read.
#[derive(Default)]
struct Fields {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    time: Option<[i64; 3]>,
    zone_seconds: Option<i64>,
}

/// Parses a date and returns the seconds since 1970-01-01 00:00:00 UTC. Returns `None` if a field is missing, occurs
/// twice or is invalid.
///
/// Accepts IMF-fixdate, RFC 850 and asctime dates, two-digit years, numeric zones and the zone names of RFC 5322. Without
/// a zone, the date is in UTC. The weekday is ignored, because servers send wrong ones.
///
/// ```
/// use fetch_url_proto::http_date::parse;
///
/// assert_eq!(parse("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
/// assert_eq!(parse("Tue, 06-Nov-94 09:49:37 +0100"), Some(784_111_777));
/// assert_eq!(parse("yesterday"), None);
/// ```
pub fn parse(text: &str) -> Option<i64> {
    parse_fixdate(text).or_else(|| parse_tokens(text))
}

/// Parses an IMF-fixdate, which nearly all servers send: `Sun, 06 Nov 1994 08:49:37 GMT`.
fn parse_fixdate(text: &str) -> Option<i64> {
    let text = text.strip_suffix(" GMT")?;
    let (weekday, rest) = text.split_at_checked(3)?;
    let [b',', b' ', d0, d1, b' ', m0, m1, m2, b' ', date @ ..] = rest.as_bytes() else { return None };
    let [y0, y1, y2, y3, b' ', h0, h1, b':', n0, n1, b':', s0, s1] = date else { return None };
    let two = |digits: [&u8; 2]| number(digits.into_iter());
    let month = MONTHS.iter().position(|name| name.as_bytes().eq_ignore_ascii_case(&[*m0, *m1, *m2]))?;
    let (hour, minute, second) = (two([h0, h1])?, two([n0, n1])?, two([s0, s1])?);
    let is_valid = hour < 24 && minute < 60 && second <= 60;
    let is_weekday = WEEKDAYS.iter().any(|name| name.eq_ignore_ascii_case(weekday));
    let (year, month) = (number([y0, y1, y2, y3].into_iter())?, i64::try_from(month).ok()? + 1);
    let day = two([d0, d1]).filter(|_| is_valid && is_weekday)?;
    calendar::to_timestamp(year, month, day, hour, minute, second.min(59))
}

/// Returns the number that consists of these digits.
fn number<'d>(mut digits: impl Iterator<Item = &'d u8>) -> Option<i64> {
    digits.try_fold(0, |number, digit| digit.is_ascii_digit().then(|| number * 10 + i64::from(digit - b'0')))
}

fn parse_tokens(text: &str) -> Option<i64> {
    let mut fields = Fields::default();
    for token in text.split([' ', '\t', ',']).filter(|token| !token.is_empty()) {
        fields.read_token(token)?;
    }
    let [hour, minute, second] = fields.time?;
    // A leap second counts as the second before it.
    let timestamp =
        calendar::to_timestamp(fields.year?, fields.month?, fields.day?, hour, minute, second.min(59))?;
    Some(timestamp - fields.zone_seconds.unwrap_or(0))
}

/// Formats seconds since 1970-01-01 00:00:00 UTC as an IMF-fixdate. Returns `None` if the year is not in 0 to 9999.
///
/// ```
/// use fetch_url_proto::http_date::format;
///
/// assert_eq!(format(784_111_777).as_deref(), Some("Sun, 06 Nov 1994 08:49:37 GMT"));
/// assert_eq!(format(-80_579_423).as_deref(), Some("Tue, 13 Jun 1967 08:49:37 GMT"));
/// ```
pub fn format(seconds: i64) -> Option<String> {
    if !(YEAR_0..YEAR_10000).contains(&seconds) {
        return None;
    }
    let (year, month, day, hour, minute, second) = calendar::from_timestamp(seconds);
    // 1970-01-01 was a Thursday.
    let weekday = (seconds.div_euclid(86_400) + 4).rem_euclid(7);
    let name = |names: &[&'static str], index: i64| names.get(usize::try_from(index).ok()?).copied();
    let (weekday, month) = (name(&WEEKDAYS, weekday)?, name(&MONTHS, month - 1)?);
    Some(format!(
        "{}, {day:02} {} {year:04} {hour:02}:{minute:02}:{second:02} GMT",
        with_capital(weekday),
        with_capital(month)
    ))
}

/// Returns an ASCII name with a capital letter at its start.
fn with_capital(name: &str) -> String {
    let (first, rest) = name.split_at(1);
    first.to_ascii_uppercase() + rest
}

impl Fields {
    fn read_token(&mut self, token: &str) -> Option<()> {
        if token.contains(':') {
            return set(&mut self.time, parse_time(token)?);
        }
        if let Some(offset) = token.strip_prefix('+') {
            return set(&mut self.zone_seconds, parse_offset(offset)?);
        }
        if let Some(offset) = token.strip_prefix('-') {
            return set(&mut self.zone_seconds, -parse_offset(offset)?);
        }
        // 06-Nov-94
        token.split('-').try_for_each(|part| self.read_part(part).ok_or(())).ok()
    }

    fn read_part(&mut self, part: &str) -> Option<()> {
        if part.bytes().all(|byte| byte.is_ascii_digit()) {
            return self.read_number(part);
        }
        if let Some((_, hours)) = ZONES.iter().find(|(name, _)| name.eq_ignore_ascii_case(part)) {
            return set(&mut self.zone_seconds, hours * 3600);
        }
        let start = part.get(..3)?;
        if let Some(index) = MONTHS.iter().position(|month| month.eq_ignore_ascii_case(start)) {
            return set(&mut self.month, i64::try_from(index).ok()? + 1);
        }
        WEEKDAYS.iter().any(|weekday| weekday.eq_ignore_ascii_case(start)).then_some(())
    }

    /// Reads the day, which comes first in every format, or the year.
    fn read_number(&mut self, digits: &str) -> Option<()> {
        let number = digits.parse().ok()?;
        match digits.len() {
            1 | 2 if self.day.is_none() => set(&mut self.day, number),
            2 if number >= CENTURY_PIVOT => set(&mut self.year, number + 1900),
            2 => set(&mut self.year, number + 2000),
            4 => set(&mut self.year, number),
            _ => None,
        }
    }
}

/// Sets a field that has no value yet.
fn set<T>(field: &mut Option<T>, value: T) -> Option<()> {
    field.replace(value).is_none().then_some(())
}

/// Parses `08:49:37` or `8:49`.
fn parse_time(text: &str) -> Option<[i64; 3]> {
    let mut time = [0; 3];
    let parts: Vec<&str> = text.split(':').collect();
    if !(2..=3).contains(&parts.len()) {
        return None;
    }
    for (field, part) in time.iter_mut().zip(parts) {
        let is_number = matches!(part.len(), 1 | 2) && part.bytes().all(|byte| byte.is_ascii_digit());
        *field = is_number.then(|| part.parse().ok())??;
    }
    (time[0] < 24 && time[1] < 60 && time[2] <= 60).then_some(time)
}

/// Parses the digits of `+0130` and returns seconds.
fn parse_offset(digits: &str) -> Option<i64> {
    let is_offset = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let (hours, minutes) = is_offset.then(|| digits.split_at(2))?;
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
    (hours <= 14 && minutes < 60).then_some(hours * 3600 + minutes * 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: i64 = 784_111_777;

    #[test]
    fn all_formats_of_servers_are_read() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Tue, 06 Nov 1994 08:49:37 GMT",
            "06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "Sun, 6 Nov 1994 09:49:37 +0100",
            "Sun, 06 Nov 94 03:49:37 -0500",
            "Sun, 06 Nov 1994 03:49:37 EST",
            "sunday, 06-november-1994 08:49:37",
            "Nov 6 1994 08:49:37 UTC",
        ] {
            assert_eq!(parse(text), Some(TIME), "{text}");
        }
        assert_eq!(parse("Tue, 13 Jun 1990 12:10:00 GMT"), Some(645_279_000));
        assert_eq!(parse("Fri, 31 Dec 1999 23:59:60 GMT"), Some(946_684_799));
        assert_eq!(parse("Wed, 01 Jan 69 00:00:00 GMT"), Some(3_124_224_000));
        assert_eq!(parse("Mon, 01 Jan 1900 00:00:00 GMT"), Some(-2_208_988_800));
    }

    #[test]
    fn date_of_fixed_width_is_read_like_the_same_tokens() {
        let usual = "Sun, 06 Nov 1994 08:49:37 GMT";
        assert_eq!(parse_fixdate(usual), Some(TIME));
        for at in 0..usual.len() {
            for byte in [b' ', b'0', b'9', b':', b',', b'J', b'+'] {
                let mut text = usual.as_bytes().to_vec();
                text[at] = byte;
                let text = String::from_utf8(text).expect("ASCII");
                let fixed = parse_fixdate(&text);
                assert!(fixed.is_none() || fixed == parse_tokens(&text), "{text}");
            }
        }
        for text in
            ["Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 31 Feb 1994 08:49:37 GMT", "", " GMT", "\u{e4}\u{e4} GMT"]
        {
            assert_eq!(parse_fixdate(text), None, "{text}");
        }
        assert_eq!(parse_fixdate("Fri, 31 Dec 1999 23:59:60 GMT"), Some(946_684_799));
    }

    #[test]
    fn invalid_and_ambiguous_dates_are_rejected() {
        for text in [
            "",
            "yesterday",
            "Sun, 06 Nov 1994",
            "06 1994 08:49:37 GMT",
            "Nov 1994 08:49:37 GMT",
            "31 Feb 1994 08:49:37 GMT",
            "06 Nov Dec 1994 08:49:37 GMT",
            "06 Nov 1994 08:49:37 08:49:37 GMT",
            "06 Nov 1994 24:00:00 GMT",
            "06 Nov 1994 08:60:00 GMT",
            "06 Nov 1994 08:49:37 XYZ",
            "06 Nov 1994 08:49:37 +2500",
            "06 Nov 199 08:49:37 GMT",
            "1 2 3 Nov 1994 08:49:37 GMT",
            "06 Nov 99999999999999999999 08:49:37 GMT",
            "0\u{e9} Nov 1994 08:49:37 GMT",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn formatted_dates_are_read_back() {
        for seconds in [YEAR_0, -62_135_596_800, -1, 0, 951_782_400, 4_107_542_399, YEAR_10000 - 1] {
            assert_eq!(format(seconds).and_then(|text| parse(&text)), Some(seconds), "{seconds}");
        }
        assert_eq!(format(0).as_deref(), Some("Thu, 01 Jan 1970 00:00:00 GMT"));
        assert_eq!(format(-1).as_deref(), Some("Wed, 31 Dec 1969 23:59:59 GMT"));
        for seconds in [i64::MIN, YEAR_0 - 1, YEAR_10000, i64::MAX] {
            assert_eq!(format(seconds), None, "{seconds}");
        }
    }
}
