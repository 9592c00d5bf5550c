//! Pipelined article requests, and which reply belongs to which request.

use std::fmt::Write as _;
use std::ops::RangeInclusive;

use crate::nntp::transcript::check;

/// The exchange for a first article, requested by message-id.
const FIRST: &str = "A: <0@x>
    S: 200 hi
    C: ARTICLE <0@x>
    S: 220 0 <0@x>
    S: zero
    S: .
    = head
    = body zero|
    = done";

/// Checks requests after the first one; each line of `rest` that begins with `A` is a request.
#[track_caller]
fn check_later(rest: &str) {
    let (asks, rest): (Vec<&str>, Vec<&str>) = rest.lines().partition(|line| line.trim().starts_with("A:"));
    let first = FIRST.replacen('\n', &format!("\n{}\n", asks.join("\n")), 1);
    check("", &format!("{first}\n{}", rest.join("\n")));
}

fn numbered(range: RangeInclusive<u64>, line: impl Fn(u64) -> String) -> String {
    range.fold(String::new(), |mut lines, number| {
        let _ = writeln!(lines, "{}", line(number));
        lines
    })
}

#[test]
fn several_requests_are_sent_before_the_first_reply() {
    check_later(
        "A: <1@x>
        A: body <2@x>
        A: <3@x>
        A: head <4@x>
        C: ARTICLE <1@x>
        C: BODY <2@x>
        C: ARTICLE <3@x>
        C: HEAD <4@x>
        S: 220 0 <1@x>
        S: one
        S: .
        = head
        = body one|
        = done
        S: 222 0 <2@x>
        S: .
        = head
        = done
        S: 430 gone
        = refused 430 ARTICLE
        S: 221 0 <4@x>
        S: A: four
        S: .
        = head
        = body A: four|
        = done",
    );
}

#[test]
fn reply_to_another_request_is_unexpected() {
    let prefix = "A: <1@x>\nA: body <2@x>\nC: ARTICLE <1@x>\nC: BODY <2@x>";
    check_later(&format!("{prefix}\nS: 222 0 <2@x>\nS: .\n= unexpected"));
    check_later(&format!("{prefix}\nS: 220 0 <2@x>\nS: .\n= unexpected"));
    check_later(&format!("{prefix}\nS: 430\n= refused 430 ARTICLE\nS: 220 0 <1@x>\n= unexpected"));
}

#[test]
fn articles_of_a_range_are_pipelined_and_missing_ones_refused() {
    check(
        "",
        "A: g 1
        A: g 2
        A: g 3
        A: g 4
        S: 200 hi
        C: GROUP g
        C: ARTICLE 1
        S: 211 2 1 4 g
        S: 423 gone
        = refused 423 ARTICLE
        C: ARTICLE 2
        S: 220 2 <2@x>
        S: .
        = head
        = done
        C: ARTICLE 3
        C: ARTICLE 4
        S: 430 gone
        = refused 430 ARTICLE
        S: 220 4 <4@x>
        S: .
        = head
        = done",
    );
}

#[test]
fn at_most_128_requests_are_sent_ahead() {
    let ask = |range| numbered(range, |number| format!("A: <{number}@x>"));
    let command = |range| numbered(range, |number| format!("C: ARTICLE <{number}@x>"));
    let missing_replies = |range| numbered(range, |_| "S: 430\n= refused 430 ARTICLE".to_owned());
    let first = command(1..=128) + &missing_replies(1..=64) + &command(129..=192);
    check_later(&format!(
        "{}{first}{}{}{}",
        ask(1..=200),
        missing_replies(65..=128),
        command(193..=200),
        missing_replies(129..=200)
    ));
}

#[test]
fn article_number_is_sent_in_its_own_group_only() {
    check(
        "",
        "A: g 1
        A: g 2
        A: h 2
        A: <3@x>
        A: g 4
        S: 200 hi
        C: GROUP g
        C: ARTICLE 1
        S: 211 2 1 4 g
        S: 220 1 <1@x>
        S: .
        = head
        = done
        C: ARTICLE 2
        S: 220 2 <2@x>
        S: .
        = head
        = done
        C: GROUP h
        S: 211 2 1 4 h
        C: ARTICLE 2
        C: ARTICLE <3@x>
        S: 220 2 <h2@x>
        S: .
        = head
        = done
        S: 220 0 <3@x>
        S: .
        = head
        = done
        C: GROUP g
        S: 211 2 1 4 g
        C: ARTICLE 4
        S: 220 4 <4@x>
        S: four
        S: .
        = head
        = body four|
        = done",
    );
}

#[test]
fn rejected_group_keeps_the_selected_group() {
    check(
        "",
        "A: g 1
        A: h 1
        A: h 2
        A: g 2
        S: 200 hi
        C: GROUP g
        C: ARTICLE 1
        S: 211 2 1 4 g
        S: 220 1 <1@x>
        S: .
        = head
        = done
        C: GROUP h
        S: 411 no
        = refused 411 GROUP
        C: GROUP h
        S: 411 no
        = refused 411 GROUP
        C: ARTICLE 2
        S: 220 2 <2@x>
        S: .
        = head
        = done",
    );
}

#[test]
fn rejected_first_group_refuses_its_articles_only() {
    check(
        "",
        "A: h 1
        A: <1@x>
        S: 200 hi
        C: GROUP h
        C: ARTICLE 1
        S: 411 no
        S: 412 no group
        = refused 411 GROUP
        C: ARTICLE <1@x>
        S: 220 0 <1@x>
        S: .
        = head
        = done",
    );
}

#[test]
fn rejected_group_in_an_open_session_refuses_its_articles_only() {
    for (next, verb, code) in [("<2@x>", "ARTICLE", 220), ("head <2@x>", "HEAD", 221)] {
        check_later(&format!(
            "A: h 1
            A: {next}
            C: GROUP h
            S: 411 no
            = refused 411 GROUP
            C: {verb} <2@x>
            S: {code} 0 <2@x>
            S: two
            S: .
            = head
            = body two|
            = done"
        ));
    }
}

#[test]
fn replies_before_the_connection_closes_are_delivered() {
    // The replies from before the connection was closed are valid.
    check_later(
        "A: <1@x>
        A: <2@x>
        C: ARTICLE <1@x>
        C: ARTICLE <2@x>
        S: 220 0 <1@x>
        S: .
        S: 400 idle
        X:
        = head
        = done
        = refused 400 ARTICLE",
    );
    check_later(
        "A: <1@x>
        A: <2@x>
        C: ARTICLE <1@x>
        C: ARTICLE <2@x>
        S: 400 bye
        X:
        = refused 400 ARTICLE
        = cut",
    );
    check_later("A: <1@x>\nC: ARTICLE <1@x>\nX:\n= cut");
    check("", "A: g 1\nS: 200 hi\nC: GROUP g\nC: ARTICLE 1\nS: 400 bye\nX:\n= refused 400 GROUP");
}

#[test]
fn closed_connection_gets_no_further_commands() {
    check(
        "",
        "A: <1@x>
        A: <2@x>
        S: 200 hi
        C: ARTICLE <1@x>
        S: 400 bye
        X:
        = refused 400 ARTICLE
        = cut",
    );
    // The same if the next reply cannot be predicted.
    for (reply, next) in [("220 1 <1@x>", "A: <2@x>"), ("what", "A: head <2@x>"), ("400 bye", "A: over h")] {
        check(
            "",
            &format!(
                "A: g 1
                {next}
                S: 200 hi
                C: GROUP g
                C: ARTICLE 1
                S: 411 no
                S: {reply}
                S: 430 gone
                S: .
                = refused 411 GROUP
                = cut"
            ),
        );
    }
}

/// docs/spec/faults.md, row 101: data after the terminator belongs neither to the article nor to the next request.
#[test]
fn data_after_the_terminator_belongs_to_no_article() {
    let prefix = "A: <a@b>\nS: 200 hi\nC: ARTICLE <a@b>\nS: 220 0 <a@b>\nS: x\nS: .";
    let got = "= head\n= body x|\n= done";
    for more in ["S: evil", "S: .", "S: 220 0 <a@b>\nS: x\nS: .", r"S: \x00\xFF"] {
        check("", &format!("{prefix}\n{more}\n{got}"));
    }
    for more in ["evil", ".", "220 0 <a@b>", "", "HTTP/1.0 200 ok"] {
        check_later(&format!("A: <1@x>\nC: ARTICLE <1@x>\nS: {more}\nS: 220 0 <1@x>\nS: .\n= unexpected"));
    }
}

#[test]
fn login_is_not_repeated_in_an_open_session() {
    check_later("A: <1@x>\nC: ARTICLE <1@x>\nS: 480 who?\n= refused 480 ARTICLE");
    let login = "S: 480 who?\nC: AUTHINFO USER me\nS: 281 in\nC: ARTICLE <0@x>";
    let first = FIRST.replacen('\n', "\nA: <1@x>\n", 1);
    let first = first.replacen("C: ARTICLE <0@x>\n", &format!("C: ARTICLE <0@x>\n{login}\n"), 1);
    check("login tls", &format!("{first}\nC: ARTICLE <1@x>\nS: 480 who?\n= refused 480 ARTICLE"));
}
