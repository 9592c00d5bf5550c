//! What many transfers have come to, in a line for whoever watches.

use indicatif::BinaryBytes;

use super::say;
use crate::report::Tally;

/// One line; what failed can be asked for once more where `goes_on`.
pub(crate) fn say_all(tally: &Tally, goes_on: bool) {
    say(&format!("fetch-url: {}\n", words(tally, goes_on)));
}

fn words(tally: &Tally, goes_on: bool) -> String {
    let seconds = tally.begun.elapsed().as_secs_f64();
    let files = if tally.files == 1 { "file" } else { "files" };
    let mut text = format!("{} {files}, {} in {seconds:.1} s", tally.files, BinaryBytes(tally.octets));
    for (count, what) in [
        (tally.assumed, "with an end that nothing proves"),
        (tally.skipped, "there already"),
        (tally.deleted, "deleted"),
        (tally.elsewhere, "lead elsewhere"),
        (tally.failed, "failed"),
    ] {
        if count > 0 {
            text.push_str(&format!("; {count} {what}"));
        }
    }
    if tally.failed > 0 && goes_on {
        text.push_str("\n  hint: the same with -C - fetches only what is missing");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_there_is_is_told() {
        let mut tally = Tally::begin();
        (tally.files, tally.octets) = (1, 2048);
        assert!(words(&tally, true).starts_with("1 file, 2.00 KiB in 0.0 s"));
        assert!(!words(&tally, true).contains(';'));
        (tally.files, tally.failed, tally.skipped, tally.deleted) = (3, 1, 2, 4);
        let text = words(&tally, true);
        assert!(
            text.contains("3 files") && text.contains("; 2 there already; 4 deleted; 1 failed\n  hint: ")
        );
        assert!(!words(&tally, false).contains("hint"));
    }
}
