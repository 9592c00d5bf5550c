//! `-h` and `--help GROUP`.

use crate::support::{run_fetch_url, run_shell};

#[test]
fn short_help_fits_a_screen_and_names_the_groups() {
    let text = run_fetch_url(["-h"]).assert_exit(0).stdout_text();
    // A prompt follows.
    assert!(text.lines().count() <= 23, "{text}");
    assert!(text.lines().all(|line| line.len() <= 80), "{text}");
    assert_eq!(text.matches(" --").count(), 20, "{text}");
    let long = run_fetch_url(["--help"]).assert_exit(0).stdout_text();
    assert_eq!(run_fetch_url(["--help", "all"]).assert_exit(0).stdout_text(), long);
    let (_, groups) = text.split_once("--help GROUP: ").expect("groups");
    let groups: Vec<&str> =
        groups.split([',', '\n']).map(str::trim).filter(|word| !word.is_empty()).collect();
    assert!(groups.len() > 15, "{groups:?}");
    for group in groups.into_iter().filter(|group| *group != "all") {
        let help = run_fetch_url(["--help", group]).assert_exit(0).stdout_text();
        assert!(help.contains("  ") && help.len() < long.len() / 3, "{group}: {help}");
        assert!(!help.contains("Exit statuses"), "{group}: {help}");
    }
    assert!(run_fetch_url(["--help", "ftp"]).stdout_text().contains("--ftp-account"));
    let mirror = run_shell("\"$F\" mirror --help mirror", [""]).assert_exit(0).stdout_text();
    assert!(mirror.contains("--max-depth") && !mirror.contains("--ftp-account"), "{mirror}");
    let whole = run_shell("\"$F\" mirror --help", [""]).assert_exit(0).stdout_text();
    assert!(whole.contains("--max-depth") && !whole.contains("--remote-name"), "{whole}");
    for always_on in ["--list ", "--list\n", "--continue", "--remote-time"] {
        assert!(!whole.contains(always_on), "{always_on:?} has no effect: {whole}");
    }
    run_fetch_url(["--help", "nothing"]).assert_exit(2).assert_stderr_contains("the groups are all, output");
}
