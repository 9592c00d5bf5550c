//! How a connection to a news server begins: greeting, TLS, login, MODE READER, capabilities, compression.

mod dialogue;

use dialogue::{check, login};
use fetch_url_proto::nntp::{StartTls, Terms};

fn plain() -> Terms {
    Terms::default()
}

fn with_tls(start_tls: StartTls) -> Terms {
    let mut terms = Terms::default();
    terms.start_tls = start_tls;
    terms
}

/// A login, which may not go out in the clear.
fn known() -> Terms {
    let mut terms = Terms::default();
    terms.login = Some(login("me", "canary"));
    terms
}

fn known_in_tls() -> Terms {
    let mut terms = known();
    terms.is_secure = true;
    terms
}

fn known_in_the_clear() -> Terms {
    let mut terms = known();
    terms.clear_login = true;
    terms
}

#[test]
fn greetings() {
    for greeting in ["200 posting", "201 (no posting)", "200", "201 ", "200\tx"] {
        check(
            &plain(),
            &format!(
                "A: <a@b>
                S: {greeting}
                C: ARTICLE <a@b>
                S: 430 no such article
                = refused 430 ARTICLE"
            ),
        );
    }
    for greeting in ["400 later", "502 not you", "480 who?", "500 what", "403 down"] {
        let code = &greeting[..3];
        check(&plain(), &format!("A: <a@b>\nS: {greeting}\nX:\n= refused {code}"));
        check(&known_in_tls(), &format!("A: <a@b>\nS: {greeting}\n= refused {code}"));
        check(&with_tls(StartTls::Must), &format!("A: <a@b>\nS: {greeting}\n= refused {code}"));
    }
    for greeting in
        ["100 help", "220 ftp ready", "381 x", "hello", "", "2000 x", "200-ready", "HTTP/1.1 400 no"]
    {
        check(&plain(), &format!("A: <a@b>\nS: {greeting}\n= unexpected"));
    }
    check(&plain(), "A: <a@b>\nX:\n= cut");
    check(&plain(), "A: <a@b>\ns: 200 rea\nX:\n= cut");
    let endless = "x".repeat(5000);
    check(&plain(), &format!("A: <a@b>\ns: 200 {endless}\n= limit"));
    check(&plain(), &format!("A: <a@b>\nS: 200 {endless}\n= limit"));
}

#[test]
fn tls_comes_first() {
    for start_tls in [StartTls::Must, StartTls::Try] {
        check(
            &with_tls(start_tls),
            "A: <a@b>
            S: 200 hi
            C: STARTTLS
            S: 382 go on
            = secure
            C: ARTICLE <a@b>
            S: 220 0 <a@b>
            S: x
            S: .
            = head
            = body x|
            = done",
        );
        let mut terms = with_tls(start_tls);
        terms.is_secure = true;
        check(&terms, "A: <a@b>\nS: 200 hi\nC: ARTICLE <a@b>\nS: 430\n= refused 430 ARTICLE");
        for bad in ["200 no", "281 in", "what"] {
            let dialogue = format!("A: <a@b>\nS: 200 hi\nC: STARTTLS\nS: {bad}\n= unexpected");
            check(&with_tls(start_tls), &dialogue);
        }
        let bye = "A: <a@b>\nS: 200 hi\nC: STARTTLS\nS: 400 bye\n= refused 400 STARTTLS";
        check(&with_tls(start_tls), bye);
    }
}

/// What came with the reply, before the handshake, is nobody's answer (RFC 4642 §2.2.2).
#[test]
fn nothing_is_known_from_before_tls() {
    check(
        &with_tls(StartTls::Must),
        "A: groups
        S: 200 hi
        C: STARTTLS
        S: 382 go on
        S: 215 injected
        S: evil 1 1 y
        S: .
        = secure
        C: CAPABILITIES
        S: 500 what
        C: LIST ACTIVE
        S: 215 list
        S: .
        = head
        = done",
    );
    // GROUP and CAPABILITIES count for nothing any more.
    check(
        &known(),
        "A: over g
        S: 200 hi
        C: CAPABILITIES
        C: GROUP g
        S: 101 list
        S: READER
        S: .
        S: 211 1 1 1 g
        C: XOVER 1-1
        S: 480 who?
        C: STARTTLS
        S: 382 go on
        = secure
        C: AUTHINFO USER me
        S: 381 and?
        C: AUTHINFO PASS canary
        S: 281 in
        C: CAPABILITIES
        C: GROUP g
        S: 101 list
        S: READER
        S: OVER
        S: .
        S: 211 2 1 2 g
        C: OVER 1-2
        S: 224 list
        S: .
        = head
        = done",
    );
}

#[test]
fn tls_that_is_refused() {
    let rest = "C: ARTICLE <a@b>\nS: 430\n= refused 430 ARTICLE";
    for code in ["500", "502", "503", "580", "483", "423", "430"] {
        let opening = format!("A: <a@b>\nS: 200 hi\nC: STARTTLS\nS: {code} no");
        check(&with_tls(StartTls::Try), &format!("{opening}\n{rest}"));
        check(&with_tls(StartTls::Must), &format!("{opening}\n= refused {code} STARTTLS"));
    }
    // It is not asked for once more.
    check(
        &with_tls(StartTls::Try),
        "A: <a@b>\nS: 200 hi\nC: STARTTLS\nS: 502 no\nC: ARTICLE <a@b>\nS: 483 TLS!\n= refused 483 ARTICLE",
    );
}

#[test]
fn tls_that_must_be_is_never_gone_without() {
    for code in ["500", "502", "580", "411", "420", "423", "430"] {
        let dialogue =
            format!("A: g 1\nA: g 2\nS: 200 hi\nC: STARTTLS\nS: {code} no\n= refused {code} STARTTLS");
        check(&with_tls(StartTls::Must), &format!("{dialogue}\nX:\n= cut"));
    }
}

#[test]
fn a_server_that_wants_tls() {
    check(
        &plain(),
        "A: g 1
        S: 200 hi
        C: GROUP g
        C: ARTICLE 1
        S: 483 TLS!
        S: 483 TLS!
        C: STARTTLS
        S: 382 go on
        = secure
        C: GROUP g
        C: ARTICLE 1
        S: 483 TLS!!
        S: 412 no group
        = refused 483 GROUP",
    );
    check(
        &plain(),
        "A: <a@b>\nS: 200 hi\nC: ARTICLE <a@b>\nS: 483\nC: STARTTLS\nS: 580 no\n= refused 580 STARTTLS",
    );
    let mut terms = plain();
    terms.is_secure = true;
    check(&terms, "A: <a@b>\nS: 200 hi\nC: ARTICLE <a@b>\nS: 483 more\n= refused 483 ARTICLE");
}

#[test]
fn logins() {
    let asked = "A: <a@b>\nS: 200 hi\nC: ARTICLE <a@b>\nS: 480 who?";
    let given = "C: AUTHINFO USER me\nS: 381 and?\nC: AUTHINFO PASS canary\nS: 281 in";
    let got = "C: ARTICLE <a@b>\nS: 220 0 <a@b>\nS: x\nS: .\n= head\n= body x|\n= done";
    for terms in [known_in_tls(), known_in_the_clear()] {
        check(&terms, &format!("{asked}\n{given}\n{got}"));
        check(&terms, &format!("{asked}\nC: AUTHINFO USER me\nS: 281 in\n{got}"));
        // Once.
        let again = "C: ARTICLE <a@b>\nS: 502 not you\n= refused 502 ARTICLE";
        check(&terms, &format!("{asked}\n{given}\n{again}"));
    }
    check(&known(), &format!("{asked}\nC: STARTTLS\nS: 382\n= secure\n{given}\n{got}"));
    // Who is not asked says nothing.
    check(&known_in_tls(), &format!("A: <a@b>\nS: 200 hi\n{got}"));
}

#[test]
fn a_login_with_a_group() {
    check(
        &known_in_tls(),
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
    // The group may be had, and its articles not.
    check(
        &known_in_tls(),
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
fn logins_that_are_refused() {
    let asked = "A: <a@b>\nS: 200 hi\nC: ARTICLE <a@b>\nS: 480 who?\nC: AUTHINFO USER me";
    for terms in [known_in_tls(), known_in_the_clear()] {
        for code in ["400", "481", "482", "500", "502", "503"] {
            check(&terms, &format!("{asked}\nS: {code} no\n= refused {code} AUTHINFO USER"));
            let pass = "S: 381 and?\nC: AUTHINFO PASS canary";
            check(&terms, &format!("{asked}\n{pass}\nS: {code} no\n= refused {code} AUTHINFO PASS"));
        }
        for bad in ["200 hi", "382 x", "281x", "hello"] {
            check(&terms, &format!("{asked}\nS: {bad}\n= unexpected"));
        }
        let twice = "S: 381 and?\nC: AUTHINFO PASS canary\nS: 381 and?\n= unexpected";
        check(&terms, &format!("{asked}\n{twice}"));
        check(&terms, &format!("{asked}\nS: 381 and?\nC: AUTHINFO PASS canary\nX:\n= cut"));
    }
}

#[test]
fn no_login_goes_out_in_the_clear() {
    let asked = "A: <a@b>\nS: 200 hi\nC: ARTICLE <a@b>\nS: 480 who?\nC: STARTTLS";
    for code in ["400", "480", "483", "500", "502", "580", "423"] {
        check(&known(), &format!("{asked}\nS: {code} no\n= refused {code} STARTTLS"));
    }
    let mut terms = known();
    terms.start_tls = StartTls::Try;
    let asked = "A: <a@b>\nS: 200 hi\nC: STARTTLS\nS: 500 no\nC: ARTICLE <a@b>\nS: 480 who?";
    check(&terms, &format!("{asked}\n= refused 480 ARTICLE"));
}

#[test]
fn no_login_goes_out_in_the_clear_for_the_next_ask() {
    for code in ["411", "423", "430", "480", "502", "580"] {
        check(
            &known(),
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

/// SECURITY 89: what was wrong once is not sent again.
#[test]
fn a_login_is_tried_once() {
    for code in ["423", "430", "481", "502"] {
        check(
            &known_in_tls(),
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

#[test]
fn a_login_that_wants_tls() {
    let asked = "A: <a@b>
        S: 200 hi
        C: ARTICLE <a@b>
        S: 480 who?
        C: AUTHINFO USER me
        S: 483 TLS!
        C: STARTTLS";
    let again = "S: 382 go on\n= secure\nC: AUTHINFO USER me";
    let got = "C: ARTICLE <a@b>\nS: 430 no\n= refused 430 ARTICLE";
    check(&known_in_the_clear(), &format!("{asked}\n{again}\nS: 281 in\n{got}"));
    check(&known_in_the_clear(), &format!("{asked}\n{again}\nS: 483 no\n= refused 483 AUTHINFO USER"));
    check(&known_in_the_clear(), &format!("{asked}\nS: 580 no\n= refused 580 STARTTLS"));
}

#[test]
fn a_login_that_somebody_is_asked_for() {
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
    check(&plain(), &format!("{refused}\nC: STARTTLS\nS: 382\n= secure\n{given}"));
    check(&plain(), &format!("{refused}\nC: STARTTLS\nS: 500\n= refused 500 STARTTLS"));
    let mut terms = plain();
    terms.is_secure = true;
    check(&terms, &format!("{refused}\n{given}"));
}

#[test]
fn secrets_that_a_server_repeats() {
    let asked = "A: <a@b>\nS: 200 hi\nC: ARTICLE <a@b>\nS: 480 who?\nC: AUTHINFO USER me\nS: 381 canary, me?";
    let pass = "C: AUTHINFO PASS canary";
    check(
        &known_in_tls(),
        &format!("{asked}\n{pass}\nS: 481 canarycanary is wrong: canary\n= refused 481 AUTHINFO PASS"),
    );
    check(
        &known_in_tls(),
        &format!("{asked}\n{pass}\nS: 281 canary\nC: ARTICLE <a@b>\nS: 430 canary\n= refused 430 ARTICLE"),
    );
}

#[test]
fn secrets_in_a_reply_that_is_none() {
    let asked = "A: <a@b>\nS: 200 hi\nC: ARTICLE <a@b>\nS: 480 who?\nC: AUTHINFO USER me\nS: 381 and?";
    for reply in ["299 canary", "381 canary", "canary", "48 canary"] {
        let dialogue = format!("{asked}\nC: AUTHINFO PASS canary\nS: {reply}\n= unexpected");
        check(&known_in_tls(), &dialogue);
    }
}

#[test]
fn mode_reader_once() {
    for code in ["401", "480", "500"] {
        let asked = format!("A: <a@b>\nS: 200 hi\nC: ARTICLE <a@b>\nS: {code} no\nC: MODE READER");
        let again = "C: ARTICLE <a@b>\nS: 220 0 <a@b>\nS: .\n= head\n= done";
        for reply in ["200 hi", "201 hi", "500 what", "480 who?", "403 down"] {
            check(&plain(), &format!("{asked}\nS: {reply}\n{again}"));
        }
        let again = format!("C: ARTICLE <a@b>\nS: {code} no\n= refused {code} ARTICLE");
        check(&plain(), &format!("{asked}\nS: 200 hi\n{again}"));
        for bye in ["400", "502"] {
            check(&plain(), &format!("{asked}\nS: {bye} never\nX:\n= refused {bye} MODE READER"));
        }
        check(&plain(), &format!("{asked}\nS: 281 x\n= unexpected"));
    }
    for code in ["403", "501", "502", "503"] {
        let dialogue =
            format!("A: <a@b>\nS: 200 hi\nC: ARTICLE <a@b>\nS: {code} no\n= refused {code} ARTICLE");
        check(&plain(), &dialogue);
    }
}

#[test]
fn mode_reader_never_follows_a_login() {
    let login = "C: AUTHINFO USER me\nS: 281 in";
    let opening = "A: <a@b>\nS: 200 hi\nC: ARTICLE <a@b>\nS: 480 who?";
    for code in ["401", "480", "500"] {
        let again = format!("C: ARTICLE <a@b>\nS: {code} no\n= refused {code} ARTICLE");
        check(&known_in_tls(), &format!("{opening}\n{login}\n{again}"));
    }
}

/// Every detour there is, each once.
#[test]
fn one_detour_after_another() {
    check(
        &known(),
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

#[test]
fn compression_for_a_list() {
    let asked = "A: groups\nS: 200 hi\nC: CAPABILITIES\nS: 101 list\nS: VERSION 2";
    let list = "C: LIST ACTIVE\nS: 215 list\nS: g 1 1 y\nS: .\n= head\n= group g 1-1 y\n= done";
    check(
        &plain(),
        &format!("{asked}\nS: compress lz deflate\nS: .\nC: COMPRESS DEFLATE\nS: 206\n= deflate\n{list}"),
    );
    for code in ["403", "500", "502", "503"] {
        let refused = format!("S: COMPRESS DEFLATE\nS: .\nC: COMPRESS DEFLATE\nS: {code} no");
        check(&plain(), &format!("{asked}\n{refused}\n{list}"));
    }
    for other in ["COMPRESS LZ", "COMPRESS", "COMPRESSION DEFLATE", "XZVER", "..COMPRESS DEFLATE"] {
        check(&plain(), &format!("{asked}\nS: {other}\nS: .\n{list}"));
    }
    check(
        &plain(),
        &format!("{asked}\nS: COMPRESS DEFLATE\nS: .\nC: COMPRESS DEFLATE\nS: 200 ok\n= unexpected"),
    );
    check(
        &plain(),
        &format!(
            "{asked}\nS: COMPRESS DEFLATE\nS: .\nC: COMPRESS DEFLATE\nS: 400 bye\n= refused 400 COMPRESS DEFLATE"
        ),
    );
}

/// RFC 8054 §2.2.2: neither a login nor TLS nor MODE READER goes through a compressed stream.
#[test]
fn no_detour_follows_compression() {
    let asked = "A: groups
        S: 200 hi
        C: CAPABILITIES
        S: 101 list
        S: COMPRESS DEFLATE
        S: .
        C: COMPRESS DEFLATE
        S: 206
        = deflate
        C: LIST ACTIVE";
    for terms in [plain(), known(), known_in_tls(), known_in_the_clear()] {
        for code in ["401", "480", "483"] {
            check(&terms, &format!("{asked}\nS: {code} no\n= refused {code} LIST ACTIVE\nL: none"));
        }
        let list = "C: LIST\nS: 215 list\nS: .\n= head\n= done";
        check(&terms, &format!("{asked}\nS: 500 what\n{list}"));
    }
    let mut terms = known_in_tls();
    terms.plain_lists = true;
    check(
        &terms,
        "A: groups
        S: 200 hi
        C: CAPABILITIES
        S: 101 list
        S: COMPRESS DEFLATE
        S: .
        C: LIST ACTIVE
        S: 480 who?
        C: AUTHINFO USER me
        S: 281 in
        C: CAPABILITIES
        S: 500 what
        C: LIST ACTIVE
        S: 215 list
        S: .
        = head
        = done",
    );
}

#[test]
fn capabilities() {
    let asked = "A: groups\nS: 200 hi\nC: CAPABILITIES";
    let list = "C: LIST ACTIVE\nS: 215 list\nS: .\n= head\n= done";
    for code in ["403", "480", "483", "500", "502"] {
        check(&plain(), &format!("{asked}\nS: {code} no\n{list}"));
    }
    check(&plain(), &format!("{asked}\nS: 400 bye\n= refused 400 CAPABILITIES"));
    check(&plain(), &format!("{asked}\nS: 200 hi\n= unexpected"));
    check(&plain(), &format!("{asked}\nS: 101 list\nS: VERSION 2\nX:\n= cut"));
    check(&plain(), &format!("{asked}\nS: 101 list\nS: .\n{list}"));
    let (many, too_many) = ("S: X\n".repeat(1000), "S: X\n".repeat(1001));
    check(&plain(), &format!("{asked}\nS: 101 list\n{many}S: .\n{list}"));
    check(&plain(), &format!("{asked}\nS: 101 list\n{too_many}S: .\n= limit"));
}
