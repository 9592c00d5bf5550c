//! Articles as news servers send them.

use crate::nntp::transcript::check;
use fetch_url_proto::nntp::{
    ArticleAddress, ArticlePart, GroupName, Login, MessageId, NewsRequest, Session, SessionOptions,
};
use fetch_url_proto::{Event, Machine, RecvBuffer, Step, WireError};

#[test]
fn article_is_requested_by_message_id() {
    for named in ["0 <a@b>", "17 <a@b>", "0 <a@b> article follows", "0", "", "0 <a@B>", "0 a@b"] {
        check(
            "",
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
        check("", &dialogue);
    }
}

#[test]
fn article_is_requested_by_group_and_number() {
    for group in ["211 3 5 9 g", "211 3 5 9", "211 3 5 9 G", "211 03 05 09 g selected"] {
        check(
            "",
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
    let prefix = "A: g 7\nS: 200 hi\nC: GROUP g\nC: ARTICLE 7";
    for code in ["423", "430", "420", "403", "400"] {
        check("", &format!("{prefix}\nS: 211 3 5 9 g\nS: {code} no\n= refused {code} ARTICLE"));
    }
    // For an article in no group, INN replies 412 and sn closes the connection.
    check("", &format!("{prefix}\nS: 411 no\nS: 412 no group\n= refused 411 GROUP"));
    check("", &format!("{prefix}\nS: 411 no\nX:\n= refused 411 GROUP"));
    check("", &format!("{prefix}\nS: 411 no\ns: 41\nX:\n= refused 411 GROUP"));
    // For an empty group, servers reply 423 or 420.
    check("", &format!("{prefix}\nS: 211 0 1 0 g\nS: 423 no\n= refused 423 ARTICLE"));
}

#[test]
fn reply_naming_another_article_is_unexpected() {
    for named in ["1 <c@d>", "0 <aa@b>", "0 <>", "0 <a@b"] {
        let dialogue =
            format!("A: <a@b>\nS: 200 hi\nC: ARTICLE <a@b>\nS: 220 {named}\nS: evil\nS: .\n= unexpected");
        check("", &dialogue);
    }
    let prefix = "A: g 7\nS: 200 hi\nC: GROUP g\nC: ARTICLE 7";
    for named in ["8 <a@b>", "0 <a@b>", "77", "-7 <a@b>", "99999999999999999999999 <a@b>", "<a@b>"] {
        let dialogue = format!("{prefix}\nS: 211 3 5 9 g\nS: 220 {named}\nS: evil\nS: .\n= unexpected");
        check("", &dialogue);
    }
    check("", &format!("{prefix}\nS: 211 3 5 9 h\nS: 220 7 <a@b>\nS: evil\nS: .\n= unexpected"));
    // An article after a 411 reply to GROUP: the request is rejected, and the session cannot continue.
    check("", &format!("{prefix}\nS: 411 no\nS: 220 7 <a@b>\nS: evil\nS: .\n= refused 411 GROUP"));
}

#[test]
fn part_of_an_article_sends_its_command_and_expects_its_code() {
    for (ask, verb, code) in
        [("body <a@b>", "BODY", 222), ("head <a@b>", "HEAD", 221), ("<a@b>", "ARTICLE", 220)]
    {
        let prefix = format!("A: {ask}\nS: 200 hi\nC: {verb} <a@b>");
        check("", &format!("{prefix}\nS: {code} 0 <a@b>\nS: x\nS: .\n= head\n= body x|\n= done"));
        check("", &format!("{prefix}\nS: {code} 0 <a@b>\nS: .\n= head\n= done"));
        check("", &format!("{prefix}\nS: 430 no\n= refused 430 {verb}"));
        for other in [211, 220, 221, 222, 223, 224, 200, 100, 381] {
            if other != code {
                check("", &format!("{prefix}\nS: {other} 0 <a@b>\nS: x\nS: .\n= unexpected"));
            }
        }
    }
}

#[test]
fn dot_stuffing_is_removed_and_other_bytes_are_unchanged() {
    check(
        "",
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
fn article_without_terminator_is_truncated() {
    let prefix = "A: <a@b>\nS: 200 hi\nC: ARTICLE <a@b>\nS: 220 0 <a@b>";
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
        check("", &format!("{prefix}\n{rest}\nX:\n= head\n{body}= cut"));
    }
    check("", &format!("{prefix}\nX:\n= head\n= cut"));
}

#[test]
fn refusal_is_reported_before_garbage_after_it() {
    for garbage in ["what", "", "999 x"] {
        let dialogue = format!(
            "A: g 1\nS: 200 hi\nC: GROUP g\nC: ARTICLE 1\nS: 411 no\nS: {garbage}\n= refused 411 GROUP"
        );
        check("", &dialogue);
    }
}

#[test]
fn malformed_reply_is_unexpected() {
    let prefix = "A: <a@b>\nS: 200 hi\nC: ARTICLE <a@b>";
    for garbage in
        ["", "22", "220x 0 <a@b>", "220-0 <a@b>", "2200 0", "600 x", "abc", " 220 0 <a@b>", r"\x00", r"\xFF"]
    {
        check("", &format!("{prefix}\nS: {garbage}\nS: .\n= unexpected"));
    }
    let (long, too_long) = ("x".repeat(4000), "x".repeat(4100));
    check("", &format!("{prefix}\nS: 430 {too_long}\n= limit"));
    check("", &format!("{prefix}\ns: {too_long}\n= limit"));
    check("", &format!("{prefix}\nS: 220 0 <a@b> {long}\nS: .\n= head\n= done"));
    // A bare LF ends a reply, too.
    check("", &format!("{prefix}\ns: 430 no\\n\n= refused 430 ARTICLE"));
}

#[test]
fn header_line_over_64_kib_exceeds_the_limit_and_body_line_does_not() {
    let (long, too_long) = ("x".repeat(60_000), "x".repeat(70_000));
    let prefix = "A: <a@b>\nS: 200 hi\nC: ARTICLE <a@b>\nS: 220 0 <a@b>";
    check("", &format!("{prefix}\nS: X: {long}\nS: .\n= head\n= body X: {long}|\n= done"));
    // The limit applies to header lines; lines of a body may have any length.
    let body =
        format!("{prefix}\nS: A: b\nS:\nS: {too_long}\nS: .\n= head\n= body A: b||{too_long}|\n= done");
    check("", &body);
    let of_body = "A: body <a@b>\nS: 200 hi\nC: BODY <a@b>\nS: 222 0 <a@b>";
    check("", &format!("{of_body}\nS: {too_long}\nS: .\n= head\n= body {too_long}|\n= done"));
}

/// Wherever an endless line is cut, the error is reported; the number of bytes delivered before it may differ.
#[test]
fn unterminated_header_line_over_64_kib_exceeds_the_limit_at_every_cut() {
    for length in [1, 1000, 100_000] {
        let ask = MessageId::new(b"a@b").expect("an id");
        let at = ArticleAddress::Id(ask);
        let mut session = Session::new(SessionOptions::default());
        session.add_request(NewsRequest::Article(at, ArticlePart::Head));
        let mut buffer = RecvBuffer::new();
        buffer.push(b"200 hi\r\n");
        let mut got = 0;
        let end = loop {
            match session.step(&mut buffer) {
                Ok(Step::Send(_)) => buffer.push(b"221 0 <a@b>\r\nA: b\r\nX: "),
                Ok(Step::NeedMore) => buffer.push(&vec![b'x'; length]),
                Ok(Step::Emit(Event::Body(bytes))) => got += bytes.len(),
                Ok(_) => {}
                Err(error) => break error,
            }
            assert!(got < 70_000);
        };
        assert!(matches!(end, WireError::LimitExceeded { .. }), "{end}");
    }
}

/// docs/spec/faults.md, row 9: an argument cannot add another one.
#[test]
fn arguments_with_separators_are_rejected() {
    for byte in *b"\r\n\0\t <>" {
        for name in [&[byte][..], &[b'a', byte, b'b'], &[b'a', byte], &[byte, b'a']] {
            assert!(GroupName::new(name).is_err() && MessageId::new(name).is_err(), "{name:?}");
        }
    }
    for byte in *b"\r\n\0" {
        let word = [b'a', byte];
        assert!(Login::new(&word, b"x").is_err() && Login::new(b"x", &word).is_err(), "{byte}");
    }
    assert!(GroupName::new(b"").is_err() && MessageId::new(b"").is_err());
    let long = |length| vec![b'a'; length];
    assert!(MessageId::new(&long(248)).is_ok() && MessageId::new(&long(249)).is_err());
    // The limit with command and line end is 512 bytes (RFC 3977 §3.1).
    assert!(GroupName::new(&long(497)).is_ok() && GroupName::new(&long(498)).is_err());
    let debug = format!("{:?}", Login::new(b"me", b"canary"));
    assert!(!debug.contains("canary"), "{debug}");
}
