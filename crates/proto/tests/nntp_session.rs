//! Articles from a news server: one, and many asked for ahead.

mod dialogue;

use std::fmt::Write as _;
use std::ops::RangeInclusive;

use dialogue::{check, login};
use fetch_url_proto::nntp::Terms;

fn plain() -> Terms {
    Terms::default()
}

/// What follows one article by its id, which was asked for first.
const FIRST: &str = "A: <0@x>
    S: 200 hi
    C: ARTICLE <0@x>
    S: 220 0 <0@x>
    S: zero
    S: .
    = head
    = body zero|
    = done";

/// Errands behind the first; each line of `rest` that begins with `A` is one.
#[track_caller]
fn check_later(rest: &str) {
    let (asks, rest): (Vec<&str>, Vec<&str>) = rest.lines().partition(|line| line.trim().starts_with("A:"));
    let first = FIRST.replacen('\n', &format!("\n{}\n", asks.join("\n")), 1);
    check(&plain(), &format!("{first}\n{}", rest.join("\n")));
}

#[test]
fn one_article_by_its_id() {
    for named in ["0 <a@b>", "17 <a@b>", "0 <a@b> article follows", "0", "", "0 <a@B>", "0 a@b"] {
        check(
            &plain(),
            &format!(
                "A: <a@b>
                S: 200 hi
                C: ARTICLE <a@b>
                S: 220 {named}
                S: Subject: x
                S:
                S: text
                S: .
                = head
                = body Subject: x||text|
                = done"
            ),
        );
    }
    for code in ["400", "403", "412", "420", "423", "430", "501", "502", "503"] {
        let dialogue =
            format!("A: <a@b>\nS: 200 hi\nC: ARTICLE <a@b>\nS: {code} no\n= refused {code} ARTICLE");
        check(&plain(), &dialogue);
    }
}

#[test]
fn one_article_by_its_number() {
    for group in ["211 3 5 9 g", "211 3 5 9", "211 3 5 9 G", "211 03 05 09 g selected"] {
        check(
            &plain(),
            &format!(
                "A: g 7
                S: 200 hi
                C: GROUP g
                C: ARTICLE 7
                S: {group}
                S: 220 7 <a@b>
                S: text
                S: .
                = head
                = body text|
                = done"
            ),
        );
    }
    let asked = "A: g 7\nS: 200 hi\nC: GROUP g\nC: ARTICLE 7";
    for code in ["423", "430", "420", "403", "400"] {
        check(&plain(), &format!("{asked}\nS: 211 3 5 9 g\nS: {code} no\n= refused {code} ARTICLE"));
    }
    // The article of no group: INN says 412, sn closes the connection.
    check(&plain(), &format!("{asked}\nS: 411 no\nS: 412 no group\n= refused 411 GROUP"));
    check(&plain(), &format!("{asked}\nS: 411 no\nX:\n= refused 411 GROUP"));
    check(&plain(), &format!("{asked}\nS: 411 no\ns: 41\nX:\n= refused 411 GROUP"));
    // An empty group says 423 or 420.
    check(&plain(), &format!("{asked}\nS: 211 0 1 0 g\nS: 423 no\n= refused 423 ARTICLE"));
}

#[test]
fn another_article_is_none() {
    for named in ["1 <c@d>", "0 <aa@b>", "0 <>", "0 <a@b"] {
        let dialogue =
            format!("A: <a@b>\nS: 200 hi\nC: ARTICLE <a@b>\nS: 220 {named}\nS: evil\nS: .\n= unexpected");
        check(&plain(), &dialogue);
    }
    let asked = "A: g 7\nS: 200 hi\nC: GROUP g\nC: ARTICLE 7";
    for named in ["8 <a@b>", "0 <a@b>", "77", "-7 <a@b>", "99999999999999999999999 <a@b>", "<a@b>"] {
        let dialogue = format!("{asked}\nS: 211 3 5 9 g\nS: 220 {named}\nS: evil\nS: .\n= unexpected");
        check(&plain(), &dialogue);
    }
    check(&plain(), &format!("{asked}\nS: 211 3 5 9 h\nS: 220 7 <a@b>\nS: evil\nS: .\n= unexpected"));
    // An article though there is no such group: the refusal is the answer, and nobody knows what comes then.
    check(&plain(), &format!("{asked}\nS: 411 no\nS: 220 7 <a@b>\nS: evil\nS: .\n= refused 411 GROUP"));
}

#[test]
fn parts() {
    for (ask, verb, code) in
        [("body <a@b>", "BODY", 222), ("head <a@b>", "HEAD", 221), ("<a@b>", "ARTICLE", 220)]
    {
        let asked = format!("A: {ask}\nS: 200 hi\nC: {verb} <a@b>");
        check(&plain(), &format!("{asked}\nS: {code} 0 <a@b>\nS: x\nS: .\n= head\n= body x|\n= done"));
        check(&plain(), &format!("{asked}\nS: {code} 0 <a@b>\nS: .\n= head\n= done"));
        check(&plain(), &format!("{asked}\nS: 430 no\n= refused 430 {verb}"));
        for other in [211, 220, 221, 222, 223, 224, 200, 100, 381] {
            if other != code {
                check(&plain(), &format!("{asked}\nS: {other} 0 <a@b>\nS: x\nS: .\n= unexpected"));
            }
        }
    }
}

#[test]
fn octets_come_as_they_are() {
    check(
        &plain(),
        r"A: <a@b>
        S: 200 hi
        C: ARTICLE <a@b>
        S: 220 0 <a@b>
        S: ..
        S: ...
        S: ..a
        S: .a
        S: a.
        s: b\n.\nc\r.\rd\n
        S: .\r
        S: \x00\xFF\xE9
        S:
        S: .
        = head
        = body .|..|.a|.a|a.|b\n.\nc\r.\rd\n.\r|\x00\xff\xe9||
        = done",
    );
}

#[test]
fn an_article_without_its_dot() {
    let asked = "A: <a@b>\nS: 200 hi\nC: ARTICLE <a@b>\nS: 220 0 <a@b>";
    for (rest, body) in [
        ("S: x", "= body x|\n"),
        ("s: x", "= body x\n"),
        ("S: x\ns: .", "= body x|\n"),
        ("S: x\ns: .\\r", "= body x|\n"),
        ("S: x\ns: .\\n", "= body x|.\\n\n"),
        ("s: x\\n.\\n", "= body x\\n.\\n\n"),
        ("s: x\nS: .", "= body x.|\n"),
        ("S: ..", "= body .|\n"),
    ] {
        check(&plain(), &format!("{asked}\n{rest}\nX:\n= head\n{body}= cut"));
    }
    check(&plain(), &format!("{asked}\nX:\n= head\n= cut"));
}

/// SECURITY 101: it is no part of the article, and no answer to what is asked next.
#[test]
fn octets_behind_the_dot() {
    let asked = "A: <a@b>\nS: 200 hi\nC: ARTICLE <a@b>\nS: 220 0 <a@b>\nS: x\nS: .";
    let got = "= head\n= body x|\n= done";
    for more in ["S: evil", "S: .", "S: 220 0 <a@b>\nS: x\nS: .", r"S: \x00\xFF"] {
        check(&plain(), &format!("{asked}\n{more}\n{got}"));
    }
    for more in ["evil", ".", "220 0 <a@b>", "", "HTTP/1.0 200 ok"] {
        check_later(&format!("A: <1@x>\nC: ARTICLE <1@x>\nS: {more}\nS: 220 0 <1@x>\nS: .\n= unexpected"));
    }
}

#[test]
fn several_at_once() {
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
fn replies_of_one_for_another_are_noticed() {
    let asked = "A: <1@x>\nA: body <2@x>\nC: ARTICLE <1@x>\nC: BODY <2@x>";
    check_later(&format!("{asked}\nS: 222 0 <2@x>\nS: .\n= unexpected"));
    check_later(&format!("{asked}\nS: 220 0 <2@x>\nS: .\n= unexpected"));
    check_later(&format!("{asked}\nS: 430\n= refused 430 ARTICLE\nS: 220 0 <1@x>\n= unexpected"));
}

#[test]
fn a_range_of_a_group() {
    check(
        &plain(),
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

fn numbered(range: RangeInclusive<u64>, line: impl Fn(u64) -> String) -> String {
    range.fold(String::new(), |mut lines, number| {
        let _ = writeln!(lines, "{}", line(number));
        lines
    })
}

#[test]
fn no_more_than_a_window_is_asked_for_ahead() {
    let ask = |range| numbered(range, |number| format!("A: <{number}@x>"));
    let command = |range| numbered(range, |number| format!("C: ARTICLE <{number}@x>"));
    let gone = |range| numbered(range, |_| "S: 430\n= refused 430 ARTICLE".to_owned());
    let first = command(1..=128) + &gone(1..=64) + &command(129..=192);
    check_later(&format!(
        "{}{first}{}{}{}",
        ask(1..=200),
        gone(65..=128),
        command(193..=200),
        gone(129..=200)
    ));
}

#[test]
fn a_number_never_goes_to_another_group() {
    check(
        &plain(),
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
fn a_group_that_is_not_there_leaves_the_one_before() {
    check(
        &plain(),
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
fn a_group_that_is_not_there_at_first() {
    check(
        &plain(),
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
fn a_group_that_is_not_there_later() {
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
fn the_server_closes() {
    // Everything it has said before counts.
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
    check(&plain(), "A: g 1\nS: 200 hi\nC: GROUP g\nC: ARTICLE 1\nS: 400 bye\nX:\n= refused 400 GROUP");
}

#[test]
fn what_a_closed_connection_never_asks_for_is_not_done() {
    check(
        &plain(),
        "A: <1@x>
        A: <2@x>
        S: 200 hi
        C: ARTICLE <1@x>
        S: 400 bye
        X:
        = refused 400 ARTICLE
        = cut",
    );
    // Nor where nobody knows what the server answers.
    for (reply, next) in [("220 1 <1@x>", "A: <2@x>"), ("what", "A: head <2@x>"), ("400 bye", "A: over h")] {
        check(
            &plain(),
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

#[test]
fn a_refusal_counts_though_garbage_follows() {
    for garbage in ["what", "", "999 x"] {
        let dialogue = format!(
            "A: g 1\nS: 200 hi\nC: GROUP g\nC: ARTICLE 1\nS: 411 no\nS: {garbage}\n= refused 411 GROUP"
        );
        check(&plain(), &dialogue);
    }
}

#[test]
fn replies_that_are_none() {
    let asked = "A: <a@b>\nS: 200 hi\nC: ARTICLE <a@b>";
    for garbage in
        ["", "22", "220x 0 <a@b>", "220-0 <a@b>", "2200 0", "600 x", "abc", " 220 0 <a@b>", r"\x00", r"\xFF"]
    {
        check(&plain(), &format!("{asked}\nS: {garbage}\nS: .\n= unexpected"));
    }
    let (long, too_long) = ("x".repeat(4000), "x".repeat(4100));
    check(&plain(), &format!("{asked}\nS: 430 {too_long}\n= limit"));
    check(&plain(), &format!("{asked}\ns: {too_long}\n= limit"));
    check(&plain(), &format!("{asked}\nS: 220 0 <a@b> {long}\nS: .\n= head\n= done"));
    // A bare LF ends a reply, too.
    check(&plain(), &format!("{asked}\ns: 430 no\\n\n= refused 430 ARTICLE"));
}

#[test]
fn endless_lines() {
    let (long, too_long) = ("x".repeat(60_000), "x".repeat(70_000));
    let asked = "A: <a@b>\nS: 200 hi\nC: ARTICLE <a@b>\nS: 220 0 <a@b>";
    check(&plain(), &format!("{asked}\nS: X: {long}\nS: .\n= head\n= body X: {long}|\n= done"));
    // Not in a header; a body is as long as it is.
    let body = format!("{asked}\nS: A: b\nS:\nS: {too_long}\nS: .\n= head\n= body A: b||{too_long}|\n= done");
    check(&plain(), &body);
    let of_body = "A: body <a@b>\nS: 200 hi\nC: BODY <a@b>\nS: 222 0 <a@b>";
    check(&plain(), &format!("{of_body}\nS: {too_long}\nS: .\n= head\n= body {too_long}|\n= done"));
}

/// Wherever the endless line is cut, the fault comes; how much of it came before is not told the same.
#[test]
fn an_endless_line_of_a_header() {
    use fetch_url_proto::{Event, Inbox, Machine, Step, WireError};
    for length in [1, 1000, 100_000] {
        let ask = fetch_url_proto::nntp::MessageId::new(b"a@b").expect("an id");
        let at = fetch_url_proto::nntp::ArticleAt::Id(ask);
        let mut session = fetch_url_proto::nntp::Session::new(plain());
        session.ask(fetch_url_proto::nntp::Ask::Article(at, fetch_url_proto::nntp::Part::Head));
        let mut inbox = Inbox::new();
        inbox.push(b"200 hi\r\n221 0 <a@b>\r\nA: b\r\nX: ");
        let mut got = 0;
        let end = loop {
            match session.step(&mut inbox) {
                Ok(Step::Need) => inbox.push(&vec![b'x'; length]),
                Ok(Step::Emit(Event::Body(octets))) => got += octets.len(),
                Ok(_) => {}
                Err(error) => break error,
            }
            assert!(got < 70_000);
        };
        assert!(matches!(end, WireError::Limit { .. }), "{end}");
    }
}

#[test]
fn who_is_known_already_is_not_asked_again() {
    let mut terms = plain();
    terms.is_secure = true;
    terms.login = Some(login("me", "canary"));
    let rest = "A: <1@x>\nC: ARTICLE <1@x>\nS: 480 who?\n= refused 480 ARTICLE";
    check_later(rest);
    let (ask, rest) = rest.split_once('\n').expect("two lines");
    check(&terms, &format!("{}\n{rest}", FIRST.replacen('\n', &format!("\n{ask}\n"), 1)));
}
