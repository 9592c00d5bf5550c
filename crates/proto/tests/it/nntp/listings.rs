//! Lists of groups and of articles, from old and new servers.

use crate::nntp::transcript::check;

/// Checks a list of groups after a greeting and a rejected CAPABILITIES.
#[track_caller]
fn check_groups(ask: &str, rest: &str) {
    check("", &format!("A: {ask}\nS: 200 hi\nC: CAPABILITIES\nS: 500 what\n{rest}"));
}

/// Checks an overview after a greeting, a rejected CAPABILITIES, and this reply to GROUP g.
#[track_caller]
fn check_over(ask: &str, group: &str, rest: &str) {
    let opening = "S: 200 hi\nC: CAPABILITIES\nC: GROUP g\nS: 500 what";
    check("", &format!("A: {ask}\n{opening}\nS: {group}\n{rest}"));
}

#[test]
fn list_active_lines_become_group_entries() {
    check_groups(
        "groups",
        r"C: LIST ACTIVE
        S: 215 list
        S: a.b 0000000010 0000000001 y
        S: c.d 5 6 n
        S: e\t9 1\tm
        S: f 1 1
        S: g 3 1 =c.d
        S: ..h 1 1 y
        S: \xE9 2 1 y
        S: .
        = head
        = group a.b 1-10 y
        = group c.d 6-5 n
        = group e 1-9 m
        = group f 1-1
        = group g 1-3 =c.d
        = group .h 1-1 y
        = group \xe9 1-2 y
        = done",
    );
}

#[test]
fn malformed_list_active_lines_become_unparsed_entries() {
    check_groups(
        "groups",
        r"C: LIST ACTIVE
        S: 215 list
        S: a.b
        S:
        S: c.d x 1 y
        S: e.f -1 1 y
        S: g.h 99999999999999999999999 1 y
        s: i.j 2 1 y\n
        S: k.l 2 1 y
        S: .
        = head
        = other a.b
        = other c.d x 1 y
        = other e.f -1 1 y
        = other g.h 99999999999999999999999 1 y
        = group i.j 1-2 y
        = group k.l 1-2 y
        = done",
    );
    check_over(
        "over g",
        "211 2 1 2 g",
        r"C: OVER 1-2
        S: 224 list
        S: 1\tone\tme\tdate\t<1@x>\t\t10\t1\tXref: full
        S: x\ttwo
        S: 2
        S: .
        = head
        = article 1 <1@x> one
        = other x\ttwo
        = article 2
        = done",
    );
}

#[test]
fn group_pattern_is_sent_with_list_active() {
    for pattern in ["a.*", "a.?", "*,!b*", "a.b,a.c"] {
        check_groups(
            &format!("groups {pattern}"),
            &format!(
                "C: LIST ACTIVE {pattern}
                S: 215 list
                S: a.b 1 1 y
                S: b.b 1 1 y
                S: a.c 1 1 y
                S: .
                = head
                = group a.b 1-1 y
                = group a.c 1-1 y
                = done"
            ),
        );
    }
    check_groups("groups x", "C: LIST ACTIVE x\nS: 215 list\nS: .\n= head\n= done");
    check_groups(
        "raw groups b*",
        "C: LIST ACTIVE b*\nS: 215 list\nS: a 1 1 y\nS: b 01 1 y\nS: .\n= head\n= body b 01 1 y|\n= done",
    );
}

#[test]
fn raw_list_is_delivered_unchanged() {
    check_groups(
        "raw groups",
        r"C: LIST ACTIVE
        S: 215 list
        S: a.b 0010 0001 y
        S: what?
        S:
        S: ...
        S: .
        = head
        = body a.b 0010 0001 y|what?||..|
        = done",
    );
    check_over(
        "raw over g",
        "211 2 1 2 g",
        r"C: OVER 1-2
        S: 224 list
        S: 1\tone\tme
        S: ..x
        S: .
        = head
        = body 1\tone\tme|.x|
        = done",
    );
}

#[test]
fn rejected_list_active_falls_back_to_list() {
    let list = "C: LIST\nS: 215 list\nS: a 1 1 y\nS: b 1 1 y\nS: .\n= head\n= group a 1-1 y\n= done";
    for code in ["501", "503"] {
        check_groups("groups a", &format!("C: LIST ACTIVE a\nS: {code} what\n{list}"));
    }
    check_groups(
        "groups a",
        &format!(
            "C: LIST ACTIVE a\nS: 500 what\nC: MODE READER\nS: 500 what\nC: LIST ACTIVE a\nS: 500 what\n{list}"
        ),
    );
    // If LIST ACTIVE and LIST fail, the reply to LIST is reported.
    for code in ["503", "502", "501"] {
        check_groups(
            "groups",
            &format!("C: LIST ACTIVE\nS: 501 what\nC: LIST\nS: {code} no\n= refused {code} LIST"),
        );
    }
    for code in ["502", "403", "400"] {
        check_groups("groups", &format!("C: LIST ACTIVE\nS: {code} no\n= refused {code} LIST ACTIVE"));
    }
    for bad in ["200 x", "224 x", "what", "381 x"] {
        check_groups("groups", &format!("C: LIST ACTIVE\nS: {bad}\n= unexpected"));
    }
}

#[test]
fn rejected_list_active_falls_back_to_list_in_an_open_session() {
    check(
        "",
        "A: <a@b>
        A: groups
        S: 200 hi
        C: ARTICLE <a@b>
        S: 220 0 <a@b>
        S: .
        = head
        = done
        C: CAPABILITIES
        S: 500 what
        C: LIST ACTIVE
        S: 500 what
        C: LIST
        S: 215 list
        S: .
        = head
        = done",
    );
}

#[test]
fn overview_lines_become_article_entries() {
    let list = r"S: 224 list
        S: 10\tone\tme\tdate\t<1@x>\t\t10\t1
        S: 12\t..\tme\tdate\t<2@x>\t<1@x>\t\t
        S: .
        = head
        = article 10 <1@x> one
        = article 12 <2@x> ..
        = done";
    check_over("over g", "211 2 10 12 g", &format!("C: OVER 10-12\n{list}"));
    // The largest number has 16 digits.
    check_over("over g", "211 2 0 9999999999999999 g", &format!("C: OVER 0-9999999999999999\n{list}"));
    check_over("over g", "211 2 0 10000000000000000 g", "= unexpected");
    check_over("over g", "211 2 0 18446744073709551615 g", "= unexpected");
    check_over("over g", "211 2 10 12", &format!("C: OVER 10-12\n{list}"));
    check_over("over g", "211 2 10 12 g group selected", &format!("C: OVER 10-12\n{list}"));
    // Only the requested numbers that exist are sent.
    check_over("over g 11-999", "211 2 10 12 g", &format!("C: OVER 11-12\n{list}"));
    check_over("over g 1-11", "211 2 10 12 g", &format!("C: OVER 10-11\n{list}"));
    // Old servers support XOVER only.
    check_over("over g", "211 2 10 12 g", &format!("C: OVER 10-12\nS: 500 what\nC: XOVER 10-12\n{list}"));
    for code in ["420", "423"] {
        check_over("over g", "211 2 10 12 g", &format!("C: OVER 10-12\nS: {code} none\n= head\n= done"));
    }
    for code in ["400", "403", "412"] {
        check_over("over g", "211 2 10 12 g", &format!("C: OVER 10-12\nS: {code} no\n= refused {code} OVER"));
    }
    for bad in ["215 list", "220 x", "what"] {
        check_over("over g", "211 2 10 12 g", &format!("C: OVER 10-12\nS: {bad}\n= unexpected"));
    }
}

#[test]
fn capabilities_select_over_or_xover() {
    let prefix = "A: over g\nS: 200 hi\nC: CAPABILITIES\nC: GROUP g\nS: 101 list";
    let list = "S: 224 list\nS: .\n= head\n= done";
    check("", &format!("{prefix}\nS: READER\nS: OVER MSGID\nS: .\nS: 211 1 1 1 g\nC: OVER 1-1\n{list}"));
    check("", &format!("{prefix}\nS: READER\nS: .\nS: 211 1 1 1 g\nC: XOVER 1-1\n{list}"));
    check("", &format!("{prefix}\nS: MODE-READER\nS: .\nS: 211 1 1 1 g\nC: OVER 1-1\n{list}"));
}

#[test]
fn compression_is_enabled_for_long_lists_only() {
    let prefix = "A: over g\nS: 200 hi\nC: CAPABILITIES\nC: GROUP g\nS: 101 list\nS: COMPRESS DEFLATE\nS: .";
    let list = "S: 224 list\nS: .\n= head\n= done";
    check("", &format!("{prefix}\nS: 211 9 1 9 g\nC: OVER 1-9\n{list}"));
    let long = "S: 211 999 1 999 g\nC: COMPRESS DEFLATE";
    check("", &format!("{prefix}\n{long}\nS: 206 ok\n= deflate\nC: OVER 1-999\n{list}"));
    check("", &format!("{prefix}\n{long}\nS: 502 no\nC: OVER 1-999\n{list}"));
}

#[test]
fn empty_group_gives_an_empty_overview() {
    for group in ["211 0 1 0 g", "211 0 0 0 g", "211 0 5 4 g", "211 0 5 5", "211 3 9 5 g"] {
        check_over("over g", group, "= head\n= done");
        check_over("raw over g", group, "= head\n= done");
    }
    for range in ["1-9", "13-99", "12-10"] {
        check_over(&format!("over g {range}"), "211 2 10 12 g", "= head\n= done");
    }
}

#[test]
fn missing_group_is_refused_and_another_group_is_unexpected() {
    for code in ["411", "403", "502", "400"] {
        check_over("over g", &format!("{code} no"), &format!("= refused {code} GROUP"));
    }
    let others = ["211 1 1 1 h", "211 1 1", "211 x 1 1 g", "211", "211 1 -1 1 g", "200 ok", "g"];
    for other in others {
        check_over("over g", other, "= unexpected");
    }
}

#[test]
fn head_of_a_group_sends_group_only() {
    check("", "A: group g\nS: 200 hi\nC: GROUP g\nS: 211 1 1 1 g\n= head\n= done");
    check("", "A: group g\nS: 200 hi\nC: GROUP g\nS: 211 0 0 0 G\n= head\n= done");
    check("", "A: group g\nS: 200 hi\nC: GROUP g\nS: 411 no\n= refused 411 GROUP");
}

/// On a server without overviews, HEAD is sent for each article.
#[test]
fn rejected_over_is_replaced_by_head_for_each_article() {
    let prefix = "C: OVER 5-8\nS: 503 no\n= head\nC: HEAD 5\nC: HEAD 6\nC: HEAD 7\nC: HEAD 8";
    check_over(
        "over g",
        "211 3 5 8 g",
        &format!(
            "{prefix}
            S: 221 5 <5@x>
            S: Subject: one
            S:  two
            S: Message-ID: <5@x>
            S: .
            S: 423 gone
            S: 221 7 <7@x>
            S: subject : ..
            S: ..
            S: message-id: <7@x>
            S: .
            S: 430 gone
            = article 5 <5@x> one two
            = article 7 <7@x> ..
            = done"
        ),
    );
    check_over("over g", "211 3 5 8 g", &format!("{prefix}\nS: 423\nS: 423\nS: 430\nS: 420\n= done"));
    let old = "C: OVER 5-5\nS: 500 no\nC: XOVER 5-5\nS: 500 no\n= head\nC: HEAD 5";
    let header =
        "S: 221 5 <5@x>\nS: Subject: a\nS: From: b\nS: Date: c\nS: Message-ID: <5@x>\nS: Lines: 7\nS: .";
    let line = r"= body 5\ta\tb\tc\t<5@x>\t\t\t7|";
    check_over("raw over g", "211 1 5 5 g", &format!("{old}\n{header}\n{line}\n= done"));
    let prefix = "C: OVER 5-5\nS: 503 no\n= head\nC: HEAD 5";
    check_over("over g", "211 1 5 5 g", &format!("{prefix}\nS: 220 5 <5@x>\n= unexpected"));
    check_over("over g", "211 1 5 5 g", &format!("{prefix}\nS: 221 5 <5@x>\nS: A: b\nX:\n= cut"));
    // If a part of a list is rejected, the list does not end as complete.
    for code in ["400", "403", "480", "502"] {
        check_over("over g", "211 1 5 5 g", &format!("{prefix}\nS: {code} no\n= refused {code} HEAD"));
    }
}

#[test]
fn header_of_another_article_is_unexpected() {
    let prefix = "C: OVER 5-5\nS: 503 no\n= head\nC: HEAD 5";
    check_over(
        "over g",
        "211 1 5 5 g",
        &format!("{prefix}\nS: 221 9 <9@x>\nS: Subject: nine\nS: .\n= unexpected"),
    );
}

#[test]
fn head_commands_are_pipelined_within_the_window() {
    let ask = |numbers: std::ops::RangeInclusive<u64>| -> String {
        numbers.map(|number| format!("C: HEAD {number}\n")).collect()
    };
    let missing_replies = |count: usize| "S: 423 gone\n".repeat(count);
    check_over(
        "over g",
        "211 200 1 200 g",
        &format!(
            "C: OVER 1-200\nS: 503 no\n= head\n{}{}{}{}= done",
            ask(1..=128),
            missing_replies(64),
            ask(129..=192),
            &(missing_replies(64) + &ask(193..=200) + &missing_replies(72)),
        ),
    );
}

#[test]
fn list_line_over_64_kib_exceeds_the_limit() {
    let (long, too_long) = ("x".repeat(64 * 1024), "x".repeat(64 * 1024 + 2));
    check_groups(
        "raw groups",
        &format!("C: LIST ACTIVE\nS: 215 list\nS: {long}\nS: .\n= head\n= body {long}|\n= done"),
    );
    check_groups("raw groups", &format!("C: LIST ACTIVE\nS: 215 list\nS: {too_long}\nS: .\n= head\n= limit"));
    check_groups("groups", &format!("C: LIST ACTIVE\nS: 215 list\ns: {too_long}\n= head\n= limit"));
    let prefix = "C: OVER 5-5\nS: 503 no\n= head\nC: HEAD 5\nS: 221 5 <5@x>";
    check_over("over g", "211 1 5 5 g", &format!("{prefix}\nS: A: b\ns: X: {too_long}\n= limit"));
}

#[test]
fn list_without_terminator_is_truncated() {
    check_groups("groups", "C: LIST ACTIVE\nS: 215 list\nS: g 1 1 y\nX:\n= head\n= group g 1-1 y\n= cut");
    check_groups("groups", "C: LIST ACTIVE\nS: 215 list\ns: g 1 1 y\nX:\n= head\n= cut");
    check_groups(
        "groups",
        r"C: LIST ACTIVE
        S: 215 list
        s: .\n
        X:
        = head
        = other .
        = cut",
    );
    check_over("over g", "211 1 1 1 g", "C: OVER 1-1\nS: 224 list\ns: .\nX:\n= head\n= cut");
}

#[test]
fn several_lists_share_one_session() {
    check(
        "",
        r"A: over g
        A: over g
        A: over h
        A: groups
        S: 200 hi
        C: CAPABILITIES
        C: GROUP g
        S: 101 list
        S: .
        S: 211 1 1 1 g
        C: OVER 1-1
        S: 224 list
        S: 1\tone
        S: .
        = head
        = article 1  one
        = done
        C: GROUP g
        S: 211 2 1 2 g
        C: OVER 1-2
        S: 224 list
        S: .
        = head
        = done
        C: GROUP h
        S: 411 no
        = refused 411 GROUP
        C: LIST ACTIVE
        S: 215 list
        S: .
        = head
        = done",
    );
}

/// The list depends on the account, so a login that is permitted on the connection is sent first, and MODE READER
/// before it.
#[test]
fn permitted_login_is_sent_before_a_list() {
    let list = "C: CAPABILITIES\nS: 101 list\nS: .\nC: LIST ACTIVE\nS: 215 list\nS: .\n= head\n= done";
    for transport in ["tls", "clear"] {
        let reader = "A: groups\nS: 200 hi\nC: MODE READER\nS: 200 reader\nC: AUTHINFO USER me";
        let login = "S: 381 and?\nC: AUTHINFO PASS canary\nS: 281 in";
        check(&format!("login {transport}"), &format!("{reader}\n{login}\n{list}"));
        // A server that does not support AUTHINFO still sends the list.
        check(&format!("login {transport}"), &format!("{reader}\nS: 500 what\n{list}"));
        check(&format!("login {transport}"), &format!("{reader}\nS: 481 no\n= refused 481 AUTHINFO USER"));
    }
    // In plaintext the login is sent only if the server requires it.
    check("login", &format!("A: groups\nS: 200 hi\n{list}"));
}

/// Data after the terminator does not change a complete list.
#[test]
fn data_after_a_list_does_not_change_it() {
    check_groups("groups", "C: LIST ACTIVE\nS: 215 list\nS: .\nS: more\n= head\n= done");
    check_over("over g", "211 1 5 5 g", "C: OVER 5-5\nS: 224 list\nS: .\nS: more\n= head\n= done");
    check_over("over g", "211 1 5 5 g", "C: OVER 5-5\nS: 423 none\nS: more\n= head\n= done");
}

#[test]
fn data_after_a_list_of_headers_does_not_change_it() {
    let prefix = "C: OVER 5-5\nS: 503 no\n= head\nC: HEAD 5";
    let header = "S: 221 5 <5@x>\nS: Subject: a\nS: .\nS: more";
    check_over("over g", "211 1 5 5 g", &format!("{prefix}\n{header}\n= article 5  a\n= done"));
    check_over("over g", "211 1 5 5 g", &format!("{prefix}\nS: 423 gone\nS: more\n= done"));
}
