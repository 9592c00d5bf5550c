//! The start of a connection to a news server: greeting, TLS, MODE READER, capabilities, compression.

use crate::nntp::transcript::check;

#[test]
fn greeting_200_or_201_opens_the_session_and_others_fail() {
    for greeting in ["200 posting", "201 (no posting)", "200", "201 ", "200\tx"] {
        check(
            "",
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
        check("", &format!("A: <a@b>\nS: {greeting}\nX:\n= refused {code}"));
        check("login tls", &format!("A: <a@b>\nS: {greeting}\n= refused {code}"));
        check("must", &format!("A: <a@b>\nS: {greeting}\n= refused {code}"));
    }
    for greeting in
        ["100 help", "220 ftp ready", "381 x", "hello", "", "2000 x", "200-ready", "HTTP/1.1 400 no"]
    {
        check("", &format!("A: <a@b>\nS: {greeting}\n= unexpected"));
    }
    check("", "A: <a@b>\nX:\n= cut");
    check("", "A: <a@b>\ns: 200 rea\nX:\n= cut");
    let endless = "x".repeat(5000);
    check("", &format!("A: <a@b>\ns: 200 {endless}\n= limit"));
    check("", &format!("A: <a@b>\nS: 200 {endless}\n= limit"));
}

#[test]
fn starttls_is_sent_before_the_first_request() {
    for start_tls in ["must", "try"] {
        check(
            start_tls,
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
        check(
            &format!("{start_tls} tls"),
            "A: <a@b>\nS: 200 hi\nC: ARTICLE <a@b>\nS: 430\n= refused 430 ARTICLE",
        );
        for bad in ["200 no", "281 in", "what"] {
            let dialogue = format!("A: <a@b>\nS: 200 hi\nC: STARTTLS\nS: {bad}\n= unexpected");
            check(start_tls, &dialogue);
        }
        let bye = "A: <a@b>\nS: 200 hi\nC: STARTTLS\nS: 400 bye\n= refused 400 STARTTLS";
        check(start_tls, bye);
    }
}

/// Data that arrived with the reply to STARTTLS, before the handshake, is discarded (RFC 4642 §2.2.2).
#[test]
fn replies_before_tls_are_discarded() {
    check(
        "must",
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
    // The replies to GROUP and CAPABILITIES that arrived before TLS are discarded.
    check(
        "login",
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
fn rejected_starttls_fails_only_if_tls_is_required() {
    let rest = "C: ARTICLE <a@b>\nS: 430\n= refused 430 ARTICLE";
    for code in ["500", "502", "503", "580", "483", "423", "430"] {
        let opening = format!("A: <a@b>\nS: 200 hi\nC: STARTTLS\nS: {code} no");
        check("try", &format!("{opening}\n{rest}"));
        check("must", &format!("{opening}\n= refused {code} STARTTLS"));
    }
    // STARTTLS is not sent again after a refusal.
    check(
        "try",
        "A: <a@b>\nS: 200 hi\nC: STARTTLS\nS: 502 no\nC: ARTICLE <a@b>\nS: 483 TLS!\n= refused 483 ARTICLE",
    );
}

#[test]
fn no_request_is_sent_in_plaintext_if_tls_is_required() {
    for code in ["500", "502", "580", "411", "420", "423", "430"] {
        let dialogue =
            format!("A: g 1\nA: g 2\nS: 200 hi\nC: STARTTLS\nS: {code} no\n= refused {code} STARTTLS");
        check("must", &format!("{dialogue}\nX:\n= cut"));
    }
}

#[test]
fn reply_483_sends_starttls_and_repeats_the_request() {
    check(
        "",
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
        "",
        "A: <a@b>\nS: 200 hi\nC: ARTICLE <a@b>\nS: 483\nC: STARTTLS\nS: 580 no\n= refused 580 STARTTLS",
    );
    check("tls", "A: <a@b>\nS: 200 hi\nC: ARTICLE <a@b>\nS: 483 more\n= refused 483 ARTICLE");
}

#[test]
fn mode_reader_is_sent_once_after_a_rejected_command() {
    for code in ["401", "480", "500"] {
        let prefix = format!("A: <a@b>\nS: 200 hi\nC: ARTICLE <a@b>\nS: {code} no\nC: MODE READER");
        let again = "C: ARTICLE <a@b>\nS: 220 0 <a@b>\nS: .\n= head\n= done";
        for reply in ["200 hi", "201 hi", "500 what", "480 who?", "403 down"] {
            check("", &format!("{prefix}\nS: {reply}\n{again}"));
        }
        let again = format!("C: ARTICLE <a@b>\nS: {code} no\n= refused {code} ARTICLE");
        check("", &format!("{prefix}\nS: 200 hi\n{again}"));
        for bye in ["400", "502"] {
            check("", &format!("{prefix}\nS: {bye} never\nX:\n= refused {bye} MODE READER"));
        }
        check("", &format!("{prefix}\nS: 281 x\n= unexpected"));
    }
    for code in ["403", "501", "502", "503"] {
        let dialogue =
            format!("A: <a@b>\nS: 200 hi\nC: ARTICLE <a@b>\nS: {code} no\n= refused {code} ARTICLE");
        check("", &dialogue);
    }
}

/// INN, as Debian configures it: STARTTLS is offered to readers only (RFC 3977 §5.3).
#[test]
fn starttls_refused_with_401_is_repeated_after_mode_reader() {
    let prefix = "A: g 1\nS: 200 hi (transit mode)\nC: STARTTLS\nS: 401 MODE-READER\nC: MODE READER";
    let tls = "C: STARTTLS\nS: 382 go on";
    let article = "C: GROUP g\nC: ARTICLE 1\nS: 211 1 1 1 g\nS: 220 1\nS: .\n= head\n= done";
    for terms in ["must", "try", "must login"] {
        for reply in ["200 hi (reader)", "201 hi", "500 what"] {
            let secure = format!("{prefix}\nS: {reply}\n{tls}\n= secure\nC: MODE READER\nS: 200 hi");
            check(terms, &format!("{secure}\n{article}"));
        }
        check(terms, &format!("{prefix}\nS: 502 never\nX:\n= refused 502 MODE READER"));
        check(terms, &format!("{prefix}\nS: 281 x\n= unexpected"));
    }
    // STARTTLS is sent twice at most. Without TLS, only `try` continues.
    for code in ["401", "500", "502", "580"] {
        let refused = format!("{prefix}\nS: 200 hi\nC: STARTTLS\nS: {code} no");
        check("must", &format!("{refused}\n= refused {code} STARTTLS"));
        check("must login", &format!("{refused}\n= refused {code} STARTTLS"));
        check("try", &format!("{refused}\n{article}"));
    }
}

/// Replies that arrive with the reply to STARTTLS are discarded, also the one to the second MODE READER.
#[test]
fn login_is_sent_only_after_tls_and_mode_reader() {
    check(
        "must login",
        "A: groups
        S: 200 hi (transit mode)
        C: STARTTLS
        S: 401 MODE-READER
        C: MODE READER
        S: 200 hi
        C: STARTTLS
        S: 382 go on
        S: 200 injected
        = secure
        C: MODE READER
        S: 200 hi
        C: AUTHINFO USER me
        S: 381 and?
        C: AUTHINFO PASS canary
        S: 281 in
        C: CAPABILITIES
        S: 101 list
        S: READER
        S: .
        C: LIST ACTIVE
        S: 215 list
        S: .
        = head
        = done",
    );
    // A login after 480 starts TLS, which a server in transit mode refuses at first.
    check(
        "login",
        "A: <a@b>
        S: 200 hi
        C: ARTICLE <a@b>
        S: 480 who?
        C: STARTTLS
        S: 401 MODE-READER
        C: MODE READER
        S: 200 hi
        C: STARTTLS
        S: 382 go on
        = secure
        C: MODE READER
        S: 200 hi
        C: AUTHINFO USER me
        S: 281 in
        C: ARTICLE <a@b>
        S: 430
        = refused 430 ARTICLE",
    );
}

#[test]
fn capabilities_are_requested_again_after_mode_reader() {
    let transit = "C: CAPABILITIES\nS: 101 list\nS: IHAVE\nS: MODE-READER\nS: .";
    let reader = "C: MODE READER\nS: 200 hi";
    let capabilities = "S: 101 list\nS: READER\nS: OVER\nS: COMPRESS DEFLATE\nS: .";
    let deflate = "C: COMPRESS DEFLATE\nS: 206\n= deflate";
    let list = "C: LIST ACTIVE\nS: 215 list\nS: .\n= head\n= done";
    check(
        "",
        &format!(
            "A: groups\nS: 200 hi\n{transit}\n{reader}\nC: CAPABILITIES\n{capabilities}\n{deflate}\n{list}"
        ),
    );
    // The server does not switch modes although it offers it.
    check("", &format!("A: groups\nS: 200 hi\n{transit}\nC: MODE READER\nS: 500 what\n{list}"));
    check(
        "",
        &format!(
            "A: over g
            S: 200 hi
            C: CAPABILITIES
            C: GROUP g
            S: 101 list
            S: MODE-READER
            S: .
            S: 401 MODE-READER
            {reader}
            C: CAPABILITIES
            C: GROUP g
            {capabilities}
            S: 211 300 1 300 g
            {deflate}
            C: OVER 1-300
            S: 224 list
            S: .
            = head
            = done"
        ),
    );
}

#[test]
fn supported_compression_is_enabled_before_a_list() {
    let prefix = "A: groups\nS: 200 hi\nC: CAPABILITIES\nS: 101 list\nS: VERSION 2";
    let list = "C: LIST ACTIVE\nS: 215 list\nS: g 1 1 y\nS: .\n= head\n= group g 1-1 y\n= done";
    check(
        "",
        &format!("{prefix}\nS: compress lz deflate\nS: .\nC: COMPRESS DEFLATE\nS: 206\n= deflate\n{list}"),
    );
    for code in ["403", "500", "502", "503"] {
        let refused = format!("S: COMPRESS DEFLATE\nS: .\nC: COMPRESS DEFLATE\nS: {code} no");
        check("", &format!("{prefix}\n{refused}\n{list}"));
    }
    for other in ["COMPRESS LZ", "COMPRESS", "COMPRESSION DEFLATE", "XZVER", "..COMPRESS DEFLATE"] {
        check("", &format!("{prefix}\nS: {other}\nS: .\n{list}"));
    }
    check("", &format!("{prefix}\nS: COMPRESS DEFLATE\nS: .\nC: COMPRESS DEFLATE\nS: 200 ok\n= unexpected"));
    check(
        "",
        &format!(
            "{prefix}\nS: COMPRESS DEFLATE\nS: .\nC: COMPRESS DEFLATE\nS: 400 bye\n= refused 400 COMPRESS DEFLATE"
        ),
    );
}

/// RFC 8054 §2.2.2: no login, STARTTLS or MODE READER follows compression.
#[test]
fn no_login_or_starttls_follows_compression() {
    let prefix = "A: groups
        S: 200 hi
        C: CAPABILITIES
        S: 101 list
        S: COMPRESS DEFLATE
        S: .
        C: COMPRESS DEFLATE
        S: 206
        = deflate
        C: LIST ACTIVE";
    for terms in ["", "try tls"] {
        for code in ["401", "480", "483"] {
            check(terms, &format!("{prefix}\nS: {code} no\n= refused {code} LIST ACTIVE\nL: none"));
        }
        let list = "C: LIST\nS: 215 list\nS: .\n= head\n= done";
        check(terms, &format!("{prefix}\nS: 500 what\n{list}"));
    }
}

/// A session that may still need a login does not enable compression before it.
#[test]
fn compression_is_not_enabled_before_a_possible_login() {
    let prefix = "A: groups\nA: groups\nS: 200 hi";
    let capabilities = "C: CAPABILITIES\nS: 101 list\nS: COMPRESS DEFLATE\nS: .";
    let list = "C: LIST ACTIVE\nS: 215 list\nS: .\n= head\n= done";
    let login = "C: MODE READER\nS: 200 reader\nC: AUTHINFO USER me\nS: 281 in";
    let deflate = "C: COMPRESS DEFLATE\nS: 206\n= deflate";
    check("login tls", &format!("{prefix}\n{login}\n{capabilities}\n{deflate}\n{list}\n{list}"));
    // In plaintext a login may still be required.
    check("login", &format!("{prefix}\n{capabilities}\n{list}\n{deflate}\n{list}"));
    check("tls plain", &format!("{prefix}\n{capabilities}\n{list}\n{list}"));
}

#[test]
fn rejected_capabilities_do_not_fail_the_request() {
    let prefix = "A: groups\nS: 200 hi\nC: CAPABILITIES";
    let list = "C: LIST ACTIVE\nS: 215 list\nS: .\n= head\n= done";
    for code in ["403", "480", "483", "500", "502"] {
        check("", &format!("{prefix}\nS: {code} no\n{list}"));
    }
    check("", &format!("{prefix}\nS: 400 bye\n= refused 400 CAPABILITIES"));
    check("", &format!("{prefix}\nS: 200 hi\n= unexpected"));
    check("", &format!("{prefix}\nS: 101 list\nS: VERSION 2\nX:\n= cut"));
    check("", &format!("{prefix}\nS: 101 list\nS: .\n{list}"));
    let (many, too_many) = ("S: X\n".repeat(1000), "S: X\n".repeat(1001));
    check("", &format!("{prefix}\nS: 101 list\n{many}S: .\n{list}"));
    check("", &format!("{prefix}\nS: 101 list\n{too_many}S: .\n= limit"));
}
