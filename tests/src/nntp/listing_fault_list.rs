//! The fault table of listings of groups and of articles.

use crate::nntp::config::NntpConfig;
use crate::nntp::fault_configs::{answer, correct, endless, overview, sn};
use crate::nntp::faults::NntpFault;
use crate::nntp::group::NntpGroup;
use crate::nntp::rule::NntpAction;
use crate::server::plain_or_tls_connection::Ending::{Close, Reset, Stall};

/// The faults of a server while a listing is fetched, and unusual but correct behaviour (exit status 0).
#[rustfmt::skip] // a table
pub static NNTP_LISTING_FAULTS: &[NntpFault] = &[
    NntpFault::list("all_groups", 0, "news:*", correct, &["fetch.test"]),
    NntpFault::list("all_groups_sn", 0, "news:*", sn, &["fetch.test"]),
    NntpFault::list("all_groups_none", 0, "news:*", |s| answer(s, "LIST", "215 none\r\n.\r\n"), &[]),
    NntpFault::list("all_groups_odd_flags", 0, "news:*", |s| answer(s, "LIST", "215 ok\r\na.y 3 1 y\r\na.n 3 1 n\r\na.m 3 1 m\r\na.x 3 1 x\r\na.j 3 1 j\r\na.alias 3 1 =a.y\r\n.\r\n"), &["a.y", "a.n", "a.m", "a.x", "a.j", "a.alias"]),
    NntpFault::list("all_groups_odd_lines", 0, "news:*", |s| answer(s, "LIST", "215 ok\r\na.short\r\n\r\na.words x y z\r\na.big 99999999999999999999999 1 y\r\na.es\u{1b}[2Jcape 3 1 y\r\na.good 3 1 y\r\n.\r\n"), &["a.good"]).or(&[8]),
    NntpFault::list("all_groups_close", 18, "news:*", |s| correct(s).on("LIST", NntpAction::CutBlock(20, Close)), &[]),
    NntpFault::list("all_groups_reset", 18, "news:*", |s| correct(s).on("LIST", NntpAction::CutBlock(20, Reset)), &[]),
    NntpFault::list("all_groups_no_dot", 18, "news:*", |s| correct(s).on("LIST", NntpAction::NoTerminator).on("LIST", NntpAction::EndAfter(Close)), &[]),
    NntpFault::list("all_groups_stall", 28, "news:*", |s| correct(s).on("LIST", NntpAction::CutBlock(20, Stall(s.stall))), &[]),
    NntpFault::list("all_groups_endless_line", 63, "news:*", |s| endless(s, "LIST", "215 ok\r\n", "xxxxxxxx"), &[]).message(&["line"]),
    NntpFault::list("all_groups_too_large", 63, "news:*", |_| NntpConfig::new().generated_groups(10_000), &[]).with(&["--max-filesize", "10K"]),
    NntpFault::list("all_groups_503", 92, "news:*", |s| answer(s, "LIST", "503 Broken\r\n"), &[]).or(&[1]),
    NntpFault::list("all_groups_480", 67, "news:*", |s| answer(s, "LIST", "480 Who?\r\n"), &[]),
    NntpFault::list("all_groups_single_line", 28, "news:*", |s| answer(s, "LIST", "215 ok\r\n"), &[]).or(&[18]),
    NntpFault::list("group_list", 0, "fetch.test", correct, &["plain article 1", "plain article 2", "plain article 3"]),
    NntpFault::list("news_group_list", 0, "news:fetch.test", correct, &["plain article 1", "plain article 3"]),
    NntpFault::list("group_list_sn", 0, "fetch.test", sn, &["plain article 1", "plain article 3"]),
    NntpFault::list("group_list_xover_only", 0, "fetch.test", |s| correct(s).without("OVER"), &["plain article 1", "plain article 3"]),
    NntpFault::list("group_list_by_head", 0, "fetch.test", |s| correct(s).without("OVER").without("XOVER").without("CAPABILITIES"), &["plain article 1", "plain article 3"]),
    NntpFault::list("group_list_by_head_with_a_hole", 0, "fetch.test", |s| correct(s).without("OVER").without("XOVER").answer("HEAD 2", "423 None\r\n"), &["plain article 1", "plain article 3"]),
    NntpFault::list("group_list_by_head_with_a_removed_article", 0, "fetch.test", |s| correct(s).without("OVER").without("XOVER").answer("HEAD 2", "451 Removed\r\n"), &["plain article 1", "plain article 3"]),
    NntpFault::list("group_list_503", 0, "fetch.test", |s| overview(s, "503 No overview\r\n"), &["plain article 1"]).or(&[1, 92]),
    NntpFault::list("group_list_none", 0, "fetch.test", |_| NntpConfig::new().group(NntpGroup::new("fetch.test")), &[]),
    NntpFault::list("group_list_none_there", 0, "fetch.test", |s| overview(s, "423 No articles\r\n"), &[]),
    NntpFault::list("group_list_none_there_420", 0, "fetch.test", |s| overview(s, "420 No articles\r\n"), &[]),
    NntpFault::list("group_list_411", 78, "fetch.nothing", correct, &[]),
    NntpFault::list("group_list_480", 67, "fetch.private", correct, &[]),
    NntpFault::list("group_list_close", 18, "fetch.test", |s| correct(s).on("OVER", NntpAction::CutBlock(50, Close)).on("XOVER", NntpAction::CutBlock(50, Close)), &[]),
    NntpFault::list("group_list_stall", 28, "fetch.test", |s| correct(s).on("OVER", NntpAction::CutBlock(50, Stall(s.stall))).on("XOVER", NntpAction::CutBlock(50, Stall(s.stall))), &[]),
    NntpFault::list("group_list_endless_line", 63, "fetch.test", |s| endless(s, "OVER", "224 ok\r\n1\t", "xxxxxxxx").answer("XOVER", "500 What?\r\n"), &[]).message(&["line"]),
    NntpFault::list("group_list_odd_lines", 0, "fetch.test", |s| overview(s, "224 ok\r\n1\r\n\r\nx\ty\r\n2\tonly a subject\r\n3\tgood\ta\tb\t<c@d>\t\t1\t1\r\n99999999999999999999999\tbig\r\n.\r\n"), &["good"]).or(&[8]),
    NntpFault::list("group_list_escapes", 0, "fetch.test", |s| overview(s, "224 ok\r\n1\tEs\u{1b}[2Jcape\tBe\u{7}ll\u{202e}\tx\t<c@d>\t\t1\t1\r\n.\r\n"), &["Es", "cape"]),
    NntpFault::list("group_list_latin_1", 0, "fetch.test", |s| correct(s).answer("OVER", b"224 ok\r\n1\tcaf\xe9\ta\tb\t<c@d>\t\t1\t1\r\n.\r\n".as_slice()), &["caf"]),
    NntpFault::list("group_list_more_fields", 0, "fetch.test", |s| overview(s, "224 ok\r\n1\tgood\ta\tb\t<c@d>\t<e@f>\t1\t1\tXref: h g:1\tmore\r\n.\r\n"), &["good"]),
    NntpFault::list("group_list_other_numbers", 0, "fetch.test", |s| overview(s, "224 ok\r\n7\tnot asked for\ta\tb\t<c@d>\t\t1\t1\r\n.\r\n"), &[]).or(&[8]),
    NntpFault::list("group_list_no_dot", 18, "fetch.test", |s| correct(s).on("OVER", NntpAction::NoTerminator).on("OVER", NntpAction::EndAfter(Close)), &[]),
    NntpFault::list("group_list_json", 0, "fetch.test", correct, &["plain article 1", "plain@test.invalid"]).with(&["--format", "json"]),
    NntpFault::list("group_list_counts_overflow", 8, "fetch.test", |s| correct(s).status("GROUP", "211 3 1 99999999999999999999999 fetch.test\r\n"), &[]).or(&[0]),
    NntpFault::list("group_list_wide", 0, "fetch.test", |s| correct(s).status("GROUP", "211 3 1 2147483647 fetch.test\r\n"), &["plain article 3"]),
];
