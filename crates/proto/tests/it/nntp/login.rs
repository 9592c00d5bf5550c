//! Logins to news servers: with and without TLS, rejected at each step, and cases in which no login is sent.

use crate::nntp::transcript::check;
use fetch_url_proto::nntp::{ListForm, Login, NewsRequest, Session, SessionOptions};
use fetch_url_proto::{Machine, RecvBuffer, Step};

#[test]
fn requested_login_is_sent_and_the_request_repeated() {
    let prefix = "A: <a@b>\nS: 200 hi\nC: ARTICLE <a@b>\nS: 480 who?";
    let given = "C: AUTHINFO USER me\nS: 381 and?\nC: AUTHINFO PASS canary\nS: 281 in";
    let got = "C: ARTICLE <a@b>\nS: 220 0 <a@b>\nS: x\nS: .\n= head\n= body x|\n= done";
    for terms in ["login tls", "login clear"] {
        check(terms, &format!("{prefix}\n{given}\n{got}"));
        check(terms, &format!("{prefix}\nC: AUTHINFO USER me\nS: 281 in\n{got}"));
        // The login is sent once.
        let again = "C: ARTICLE <a@b>\nS: 502 not you\n= refused 502 ARTICLE";
        check(terms, &format!("{prefix}\n{given}\n{again}"));
    }
    check("login", &format!("{prefix}\nC: STARTTLS\nS: 382\n= secure\n{given}\n{got}"));
    // No login is sent unless the server requires it.
    check("login tls", &format!("A: <a@b>\nS: 200 hi\n{got}"));
}

#[test]
fn group_and_article_are_repeated_after_a_login() {
    check(
        "login tls",
        "A: g 7
        S: 200 hi
        C: GROUP g
        C: ARTICLE 7
        S: 480 who?
        S: 480 who?
        C: AUTHINFO USER me
        S: 381 and?
        C: AUTHINFO PASS canary
        S: 281 in
        C: GROUP g
        C: ARTICLE 7
        S: 211 1 7 7 g
        S: 220 7 <a@b>
        S: x
        S: .
        = head
        = body x|
        = done",
    );
    // GROUP is permitted, but ARTICLE requires a login.
    check(
        "login tls",
        "A: g 7
        S: 200 hi
        C: GROUP g
        C: ARTICLE 7
        S: 211 1 7 7 g
        S: 480 who?
        C: AUTHINFO USER me
        S: 281 in
        C: GROUP g
        C: ARTICLE 7
        S: 211 1 7 7 g
        S: 423 gone
        = refused 423 ARTICLE",
    );
}

#[test]
fn rejected_login_fails_the_request() {
    let prefix = "A: <a@b>\nS: 200 hi\nC: ARTICLE <a@b>\nS: 480 who?\nC: AUTHINFO USER me";
    for terms in ["login tls", "login clear"] {
        for code in ["400", "481", "482", "500", "502", "503"] {
            check(terms, &format!("{prefix}\nS: {code} no\n= refused {code} AUTHINFO USER"));
            let pass = "S: 381 and?\nC: AUTHINFO PASS canary";
            check(terms, &format!("{prefix}\n{pass}\nS: {code} no\n= refused {code} AUTHINFO PASS"));
        }
        for bad in ["200 hi", "382 x", "281x", "hello"] {
            check(terms, &format!("{prefix}\nS: {bad}\n= unexpected"));
        }
        let twice = "S: 381 and?\nC: AUTHINFO PASS canary\nS: 381 and?\n= unexpected";
        check(terms, &format!("{prefix}\n{twice}"));
        check(terms, &format!("{prefix}\nS: 381 and?\nC: AUTHINFO PASS canary\nX:\n= cut"));
    }
}

#[test]
fn login_without_tls_is_not_sent_in_plaintext() {
    let prefix = "A: <a@b>\nS: 200 hi\nC: ARTICLE <a@b>\nS: 480 who?\nC: STARTTLS";
    for code in ["400", "480", "483", "500", "502", "580", "423"] {
        check("login", &format!("{prefix}\nS: {code} no\n= refused {code} STARTTLS"));
    }
    let prefix = "A: <a@b>\nS: 200 hi\nC: STARTTLS\nS: 500 no\nC: ARTICLE <a@b>\nS: 480 who?";
    check("login try", &format!("{prefix}\n= refused 480 ARTICLE"));
}

#[test]
fn later_requests_send_no_login_in_plaintext() {
    for code in ["411", "423", "430", "480", "502", "580"] {
        check(
            "login",
            &format!(
                "A: g 1
                A: g 2
                S: 200 hi
                C: GROUP g
                C: ARTICLE 1
                S: 480 who?
                S: 480 who?
                C: STARTTLS
                S: {code} no
                X:
                = refused {code} STARTTLS
                = cut"
            ),
        );
    }
}

/// docs/spec/faults.md, row 89: a rejected login is not sent again.
#[test]
fn rejected_login_is_not_sent_again() {
    for code in ["423", "430", "481", "502"] {
        check(
            "login tls",
            &format!(
                "A: <a@b>
                A: <c@d>
                S: 200 hi
                C: ARTICLE <a@b>
                S: 480 who?
                C: AUTHINFO USER me
                S: 381 and?
                C: AUTHINFO PASS canary
                S: {code} no
                X:
                = refused {code} AUTHINFO PASS
                = cut"
            ),
        );
    }
}

/// RFC 4643 §2.2: the server may require a login at any time.
#[test]
fn login_required_after_the_first_article_is_sent_after_the_pending_replies() {
    let prefix = "A: g 1
        A: g 2
        A: body g 3
        A: g 4
        S: 200 hi
        C: GROUP g
        C: ARTICLE 1
        S: 211 4 1 4 g
        S: 220 1 <1@x>
        S: one
        S: .
        = head
        = body one|
        = done
        C: ARTICLE 2
        C: BODY 3
        C: ARTICLE 4
        S: 480 who?";
    let login = "S: 222 3 <3@x>
        S: ..discarded
        S: .
        S: 480 who?
        C: AUTHINFO USER me
        S: 381 and?
        C: AUTHINFO PASS canary";
    let again = "S: 281 in
        C: GROUP g
        C: ARTICLE 2
        S: 211 4 1 4 g
        S: 220 2 <2@x>
        S: .
        = head
        = done
        C: BODY 3
        C: ARTICLE 4
        S: 222 3 <3@x>
        S: three
        S: .
        = head
        = body three|
        = done";
    check("login clear", &format!("{prefix}\n{login}\n{again}\nS: 423 no\n= refused 423 ARTICLE"));
    // The login is sent once.
    check("login clear", &format!("{prefix}\n{login}\n{again}\nS: 480 who?\n= refused 480 ARTICLE"));
    check("login clear", &format!("{prefix}\n{login}\nS: 481 no\nX:\n= refused 481 AUTHINFO PASS\n= cut"));
    check("login clear", &format!("{prefix}\nS: 220 3 <3@x>\n= unexpected"));
    check("login clear", &format!("{prefix}\nS: 400 bye\nX:\n= refused 400\n= cut"));
    // Without a login that may be sent, only this article is refused.
    let others = "S: 430 no\n= refused 430 BODY\nS: 430 no\n= refused 430 ARTICLE";
    check("", &format!("{prefix}\n= refused 480 ARTICLE\n{others}"));
}

#[test]
fn login_rejected_with_483_sends_starttls_and_repeats_the_login() {
    let prefix = "A: <a@b>
        S: 200 hi
        C: ARTICLE <a@b>
        S: 480 who?
        C: AUTHINFO USER me
        S: 483 TLS!
        C: STARTTLS";
    let again = "S: 382 go on\n= secure\nC: AUTHINFO USER me";
    let got = "C: ARTICLE <a@b>\nS: 430 no\n= refused 430 ARTICLE";
    check("login clear", &format!("{prefix}\n{again}\nS: 281 in\n{got}"));
    check("login clear", &format!("{prefix}\n{again}\nS: 483 no\n= refused 483 AUTHINFO USER"));
    check("login clear", &format!("{prefix}\nS: 580 no\n= refused 580 STARTTLS"));
}

#[test]
fn login_set_after_a_refusal_is_sent_for_the_repeated_request() {
    let refused = "A: <a@b>
        S: 200 hi
        C: ARTICLE <a@b>
        S: 480 who?
        C: MODE READER
        S: 200 hi
        C: ARTICLE <a@b>
        S: 480 who?
        = refused 480 ARTICLE
        L: me canary";
    let given = "C: AUTHINFO USER me
        S: 381 and?
        C: AUTHINFO PASS canary
        S: 281 in
        C: ARTICLE <a@b>
        S: 220 0 <a@b>
        S: .
        = head
        = done";
    // The state from before TLS is discarded.
    let again = "C: STARTTLS\nS: 382\n= secure\nC: MODE READER\nS: 200 hi";
    check("", &format!("{refused}\n{again}\n{given}"));
    check("", &format!("{refused}\nC: STARTTLS\nS: 500\n= refused 500 STARTTLS"));
    check("tls", &format!("{refused}\n{given}"));
}

#[test]
fn password_repeated_by_the_server_is_hidden() {
    let prefix =
        "A: <a@b>\nS: 200 hi\nC: ARTICLE <a@b>\nS: 480 who?\nC: AUTHINFO USER me\nS: 381 canary, me?";
    let pass = "C: AUTHINFO PASS canary";
    check(
        "login tls",
        &format!("{prefix}\n{pass}\nS: 481 canarycanary is wrong: canary\n= refused 481 AUTHINFO PASS"),
    );
    check(
        "login tls",
        &format!("{prefix}\n{pass}\nS: 281 canary\nC: ARTICLE <a@b>\nS: 430 canary\n= refused 430 ARTICLE"),
    );
}

#[test]
fn password_in_a_malformed_reply_is_hidden() {
    let prefix = "A: <a@b>\nS: 200 hi\nC: ARTICLE <a@b>\nS: 480 who?\nC: AUTHINFO USER me\nS: 381 and?";
    for reply in ["299 canary", "381 canary", "canary", "48 canary"] {
        let dialogue = format!("{prefix}\nC: AUTHINFO PASS canary\nS: {reply}\n= unexpected");
        check("login tls", &dialogue);
    }
}

#[test]
fn password_in_unrequested_data_is_hidden() {
    for more in ["canary".to_owned(), format!("{}canary", "x".repeat(77))] {
        let mut terms = SessionOptions::default();
        terms.is_secure = true;
        terms.login = Login::new(b"me", b"canary").ok();
        let (mut session, mut buffer) = (Session::new(terms), RecvBuffer::new());
        session.add_request(NewsRequest::Groups(None, ListForm::Entries));
        let last = format!("281 in\r\n{more}\r\n");
        let lines = ["200 hi\r\n", "200 reader\r\n", "381 and?\r\n", &last];
        let mut lines = lines.iter();
        let error = loop {
            match session.step(&mut buffer) {
                Ok(Step::NeedMore) => {
                    buffer.push(lines.next().expect("nothing more is asked for").as_bytes())
                }
                Ok(_) => {}
                Err(error) => break error.to_string(),
            }
        };
        // The error contains no part of the password either.
        assert!(error.contains("pending command") && !error.contains("can"), "{error}");
    }
}

#[test]
fn mode_reader_never_follows_a_login() {
    let login = "C: AUTHINFO USER me\nS: 281 in";
    let opening = "A: <a@b>\nS: 200 hi\nC: ARTICLE <a@b>\nS: 480 who?";
    for code in ["401", "480", "500"] {
        let again = format!("C: ARTICLE <a@b>\nS: {code} no\n= refused {code} ARTICLE");
        check("login tls", &format!("{opening}\n{login}\n{again}"));
    }
}

/// STARTTLS, login and MODE READER in one session, each once.
#[test]
fn starttls_login_and_mode_reader_are_each_sent_once() {
    check(
        "login",
        "A: <a@b>
        S: 200 hi
        C: ARTICLE <a@b>
        S: 500 what
        C: MODE READER
        S: 200 hi
        C: ARTICLE <a@b>
        S: 483 TLS!
        C: STARTTLS
        S: 382 go on
        = secure
        C: MODE READER
        S: 200 hi
        C: ARTICLE <a@b>
        S: 480 who?
        C: AUTHINFO USER me
        S: 381 and?
        C: AUTHINFO PASS canary
        S: 281 in
        C: ARTICLE <a@b>
        S: 220 0 <a@b>
        S: .
        = head
        = done",
    );
}

/// At every step the server may close the session or send an invalid reply.
#[test]
fn closed_session_or_invalid_reply_is_an_error_at_every_step() {
    let dialogue = "A: over g
        S: 200 hi
        C: CAPABILITIES
        C: GROUP g
        S: 500 what
        S: 500 what
        C: MODE READER
        S: 200 hi
        C: CAPABILITIES
        C: GROUP g
        S: 500 what
        S: 483 TLS!
        C: STARTTLS
        S: 382 go on
        = secure
        C: MODE READER
        S: 200 hi
        C: CAPABILITIES
        C: GROUP g
        S: 500 what
        S: 480 who?
        C: AUTHINFO USER me
        S: 381 and?
        C: AUTHINFO PASS canary
        S: 281 in
        C: CAPABILITIES
        C: GROUP g
        S: 101 list
        S: COMPRESS DEFLATE
        S: .
        S: 211 999 1 999 g
        C: COMPRESS DEFLATE
        S: 206 go on
        = deflate
        C: OVER 1-999
        S: 500 what
        C: XOVER 1-999
        S: 224 list
        S: .
        = head
        = done";
    check("login", dialogue);
    let lines: Vec<&str> = dialogue.lines().map(str::trim).collect();
    let replies = lines.iter().enumerate().filter(|(_, line)| line.starts_with("S: ") && line.len() > 4);
    for (at, _) in replies.filter(|(_, line)| line.as_bytes()[3].is_ascii_digit()) {
        let before = lines[..at].join("\n");
        let replies =
            lines[..at].iter().filter(|line| line.starts_with("S: ") && line.as_bytes()[3].is_ascii_digit());
        let commands = lines[..at].iter().filter(|line| line.starts_with("C: "));
        let prefix = commands
            .map(|line| line[3..].trim_end_matches(char::is_numeric))
            .nth(replies.count().wrapping_sub(1));
        let prefix = prefix.unwrap_or_default();
        let verbs = ["GROUP", "AUTHINFO USER", "AUTHINFO PASS", "OVER", "XOVER"];
        let verb = verbs.into_iter().find(|verb| prefix.starts_with(verb)).unwrap_or(prefix);
        let refused = format!("= refused 400 {verb}");
        check("login", &format!("{before}\nS: 400 bye\nX:\n{}", refused.trim_end()));
        check("login", &format!("{before}\nS: what?\n= unexpected"));
        check("login", &format!("{before}\nX:\n= cut"));
    }
}
