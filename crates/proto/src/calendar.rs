//! Calendar arithmetic: dates in UTC to Unix timestamps and back, without a clock or time zones.

/// Seconds in a day.
const DAY: i64 = 86_400;

/// Returns the seconds since 1970-01-01 UTC of a date and time in UTC, or `None` if the date is not in the proleptic
/// Gregorian calendar or not in the years 0 to 9999.
///
/// A leap second (second 60) is rejected: the parser of a protocol that has leap seconds decides what they mean.
pub const fn to_timestamp(
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
) -> Option<i64> {
    let is_date = 0 <= year && year <= 9999 && 1 <= day && day <= days_in(year, month);
    let is_time = 0 <= hour && hour < 24 && 0 <= minute && minute < 60 && 0 <= second && second < 60;
    if is_date && is_time {
        Some(days_since_1970(year, month, day) * DAY + hour * 3600 + minute * 60 + second)
    } else {
        None
    }
}

/// Returns year, month, day, hour, minute and second in UTC of a number of seconds since 1970-01-01 UTC.
pub const fn from_timestamp(seconds: i64) -> (i64, i64, i64, i64, i64, i64) {
    let (days, second) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    // Days since 0000-03-01, in eras of 400 years: Howard Hinnant's civil_from_days.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let (month, carry) = if shifted_month < 10 { (shifted_month + 3, 0) } else { (shifted_month - 9, 1) };
    (era * 400 + year_of_era + carry, month, day, second / 3600, second / 60 % 60, second % 60)
}

/// Returns the number of days of a month, or 0 if `month` is not in 1 to 12.
const fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        _ => 0,
    }
}

/// Counts years from March, so that the leap day is the last day of its year.
const fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Parses a `time-val`, `YYYYMMDDHHMMSS[.sss]` in UTC (RFC 3659 §2.3), as in replies to `MDTM` and the fact `modify`.
///
/// Returns seconds since 1970-01-01 UTC, without the fraction, or `None` if the text is not a time. A leap second
/// counts as the second that follows it.
pub fn parse_time_val(value: &[u8]) -> Option<i64> {
    let (value, fraction) = value.split_at_checked(14)?;
    let is_fraction = match fraction {
        [] => true,
        [b'.', digits @ ..] => !digits.is_empty() && digits.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    if !is_fraction || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = value.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0'));
    let pair = |place: i64| number / place % 100;
    let second = pair(1);
    let start = to_timestamp(
        number / 10_000_000_000,
        pair(100_000_000),
        pair(1_000_000),
        pair(10_000),
        pair(100),
        if second == 60 { 59 } else { second },
    )?;
    Some(start + i64::from(second == 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_dates_convert_both_ways_and_invalid_dates_are_rejected() {
        for (date, expected) in [
            ((1970, 1, 1, 0, 0, 0), Some(0)),
            ((1969, 12, 31, 23, 59, 59), Some(-1)),
            ((1994, 12, 1, 12, 34, 56), Some(786_285_296)),
            ((2000, 2, 29, 0, 0, 0), Some(951_782_400)),
            ((9999, 12, 31, 23, 59, 59), Some(253_402_300_799)),
            ((0, 1, 1, 0, 0, 0), Some(-62_167_219_200)),
            ((2001, 2, 29, 0, 0, 0), None),
            ((1900, 2, 29, 0, 0, 0), None),
            ((2024, 4, 31, 0, 0, 0), None),
            ((2024, 0, 1, 0, 0, 0), None),
            ((2024, 13, 1, 0, 0, 0), None),
            ((2024, 1, 0, 0, 0, 0), None),
            ((2024, 1, 1, 24, 0, 0), None),
            ((2024, 1, 1, 0, 60, 0), None),
            ((2024, 1, 1, 0, 0, 60), None),
            ((2024, 1, 1, 0, 0, -1), None),
            ((10_000, 1, 1, 0, 0, 0), None),
            ((-1, 1, 1, 0, 0, 0), None),
            ((i64::MAX, i64::MAX, i64::MAX, i64::MAX, i64::MAX, i64::MAX), None),
        ] {
            let (year, month, day, hour, minute, second) = date;
            assert_eq!(to_timestamp(year, month, day, hour, minute, second), expected, "{date:?}");
            assert!(expected.is_none_or(|seconds| from_timestamp(seconds) == date), "{date:?}");
        }
    }

    #[test]
    fn consecutive_days_have_consecutive_timestamps() {
        let mut expected = to_timestamp(1580, 1, 1, 1, 2, 3).expect("a date");
        for year in 1580..2420 {
            for month in 1..=12 {
                for day in 1..=days_in(year, month) {
                    assert_eq!(to_timestamp(year, month, day, 1, 2, 3), Some(expected));
                    assert_eq!(from_timestamp(expected), (year, month, day, 1, 2, 3));
                    expected += DAY;
                }
            }
        }
    }

    #[test]
    fn extreme_timestamps_convert_without_overflow() {
        assert_eq!(from_timestamp(i64::MAX), (292_277_026_596, 12, 4, 15, 30, 7));
        assert_eq!(from_timestamp(i64::MIN), (-292_277_022_657, 1, 27, 8, 29, 52));
    }
}
