//! Binary items of any size arrive exactly, or the old file is kept.

use std::time::Duration;

use super::{run_to_file, start_server};
use fetch_url_tests::{Ending, GopherConfig, GopherItem, OldFile, pattern_vec};

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

#[test]
fn binary_item_of_any_size_is_saved_exactly() {
    for size in [512 * KIB - 1, 512 * KIB, 512 * KIB + 1, 2 * MIB, 5 * MIB + 1] {
        let server = start_server(GopherConfig::new().plus().item(GopherItem::pattern("/b", size as u64)));
        for options in [&[][..], &["--limit-rate", "200M"], &["-v"], &["--max-filesize", "6m"]] {
            for path in ["9/b", "9/b%09%09+"] {
                let (result, _, content) =
                    run_to_file(OldFile::Absent, &[options, &[&server.url(path)]].concat());
                result.assert_exit(0);
                assert!(content.unwrap_or_default() == pattern_vec(0, size), "{size} {options:?} {path}");
            }
        }
    }
}

#[test]
fn binary_item_that_arrives_slowly_is_saved_exactly() {
    let item = GopherItem::pattern("/b", 2 * MIB as u64);
    let server = start_server(GopherConfig::new().item(item).drip(100_000, Duration::from_millis(5)));
    let (result, _, content) = run_to_file(OldFile::Absent, &[&server.url("9/b")]);
    result.assert_exit(0);
    assert!(content.unwrap_or_default() == pattern_vec(0, 2 * MIB));
}

#[test]
fn broken_or_too_long_transfer_of_a_large_binary_item_keeps_the_old_file() {
    for (ending, option, status) in [(Ending::Reset, "6m", 18), (Ending::Close, "2m", 63)] {
        let config = GopherConfig::new().item(GopherItem::pattern("/b", 5 * MIB as u64)).cut(3 * MIB, ending);
        let server = start_server(config);
        let arguments = ["--retry", "0", "--max-filesize", option, &server.url("9/b")];
        let (result, _, content) = run_to_file(OldFile::Present, &arguments);
        result.assert_exit(status);
        assert!(content.is_some_and(|content| content.len() < MIB), "{option}");
    }
}
