//! The summary line of `--input-file` and `mirror`.

use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use fetch_url_proto::text::sanitise;
use indicatif::BinaryBytes;

use super::print_stderr;
use crate::report::Totals;

/// Prints the summary line, with a hint after a failure if the run can be resumed.
pub(crate) fn print_summary(tally: &Totals, is_resumable: bool) {
    print_stderr(&format!("fetch-url: {}\n", summary_text(tally, is_resumable)));
}

/// Prints the summary of `--dry-run`.
pub(crate) fn print_dry_run(tally: &Totals) {
    let mut text = format!("dry run: {} to fetch", tally.files);
    for (count, what) in [
        (tally.deleted, "to delete"),
        (tally.skipped, "already present"),
        (tally.skipped_links.other_servers, "on other servers"),
        (tally.outside_tree + tally.skipped_links.outside_start, "outside the start directory"),
        (tally.links_with_query, "with a query"),
        (tally.failed, "failed"),
    ] {
        if count > 0 {
            text.push_str(&format!("; {count} {what}"));
        }
    }
    print_stderr(&format!("fetch-url: {text}\n"));
}

/// A partial download that a later run can resume.
pub(crate) struct KeptFile {
    /// The name of the complete file.
    pub(crate) name: PathBuf,
    /// The number of bytes that are kept.
    pub(crate) size: u64,
}

/// Prints what is kept after Ctrl-C, with a hint to repeat the command with `option`.
pub(crate) fn print_interruption(kept: &[KeptFile], option: &str) {
    print_stderr(&interruption_text(kept, option));
}

fn interruption_text(kept: &[KeptFile], option: &str) -> String {
    let what = match kept {
        [] => return "fetch-url: interrupted\n".to_owned(),
        [one] => format!("{} of {}", BinaryBytes(one.size), sanitise(one.name.as_os_str().as_bytes())),
        several => {
            let bytes = several.iter().map(|file| file.size).sum();
            format!("{} of {} files", BinaryBytes(bytes), several.len())
        }
    };
    format!("fetch-url: interrupted; {what} kept\n  hint: repeat the command{option} to go on\n")
}

/// Returns the summary: files, bytes, seconds, and the other counts that are not 0.
fn summary_text(tally: &Totals, is_resumable: bool) -> String {
    let seconds = tally.started.elapsed().as_secs_f64();
    let files = if tally.files == 1 { "file" } else { "files" };
    let mut text = format!("{} {files}, {} in {seconds:.1} s", tally.files, BinaryBytes(tally.bytes));
    for (count, what) in [
        (tally.assumed, "assumed complete"),
        (tally.skipped, "already present"),
        (tally.links_without_file, "skipped"),
        (tally.deleted, "deleted"),
        (tally.skipped_links.other_servers, "on other servers"),
        (tally.outside_tree + tally.skipped_links.outside_start, "outside the start directory"),
        (tally.links_with_query, "with a query"),
        (tally.skipped_links.excluded, "excluded"),
        (tally.skipped_links.too_deep, "deeper than --max-depth"),
        (tally.skipped_links.nameless, "without a possible file name"),
        (tally.failed, "failed"),
    ] {
        if count > 0 {
            text.push_str(&format!("; {count} {what}"));
        }
    }
    if tally.failed > 0 && is_resumable {
        text.push_str("\n  hint: repeat the command with -C - to fetch only what is missing");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interruption_names_what_is_kept() {
        let file = |size| KeptFile { name: "d/a\nb".into(), size };
        assert_eq!(interruption_text(&[], " with -C -"), "fetch-url: interrupted\n");
        assert_eq!(
            interruption_text(&[file(2048)], " with -C -"),
            "fetch-url: interrupted; 2.00 KiB of d/a\\x0Ab kept\n  hint: repeat the command with -C - to go on\n"
        );
        assert_eq!(
            interruption_text(&[file(1024), file(1024)], ""),
            "fetch-url: interrupted; 2.00 KiB of 2 files kept\n  hint: repeat the command to go on\n"
        );
    }

    #[test]
    fn counts_of_zero_are_left_out() {
        let mut tally = Totals::begin();
        (tally.files, tally.bytes) = (1, 2048);
        assert!(summary_text(&tally, true).starts_with("1 file, 2.00 KiB in 0.0 s"));
        assert!(!summary_text(&tally, true).contains(';'));
        (tally.files, tally.failed, tally.skipped, tally.deleted) = (3, 1, 2, 4);
        tally.links_without_file = 10;
        let text = summary_text(&tally, true);
        assert!(
            text.contains("3 files")
                && text.contains("; 2 already present; 10 skipped; 4 deleted; 1 failed\n  hint: ")
        );
        assert!(!summary_text(&tally, false).contains("hint"));
        tally.outside_tree = 5;
        (tally.skipped_links.other_servers, tally.skipped_links.outside_start) = (6, 7);
        (tally.skipped_links.excluded, tally.skipped_links.too_deep) = (8, 9);
        assert!(summary_text(&tally, false).contains(
            "; 6 on other servers; 12 outside the start directory; 8 excluded; 9 deeper than --max-depth; 1 failed"
        ));
    }
}
