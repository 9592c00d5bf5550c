//! Dates in listings and headers.

use fetch_url_proto::calendar::from_timestamp;

/// Returns `YYYY-MM-DD HH:MM` in UTC for a time in seconds since 1970.
pub(super) fn format_date(seconds: i64) -> String {
    let (year, month, day, hour, minute, _) = from_timestamp(seconds);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_before_and_after_1970_are_formatted_in_utc() {
        assert_eq!(format_date(0), "1970-01-01 00:00");
        assert_eq!(format_date(786_285_296), "1994-12-01 12:34");
        assert_eq!(format_date(951_782_400), "2000-02-29 00:00");
        assert_eq!(format_date(-1), "1969-12-31 23:59");
    }
}
