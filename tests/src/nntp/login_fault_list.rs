//! The faults of logins, STARTTLS and certificates as data.

use crate::ftp::rule::Ending::{Close, Reset};
use crate::nntp::fault_sites::{SECRET, answer, answer_and_close, ended, honest, silent, sn};
use crate::nntp::faults::{NntpFault, NntpFaultCert};
use crate::nntp::rule::{NntpAct, NntpOn};

/// The faults on the way into TLS and to a login, and some oddities that are none (exit status 0).
#[rustfmt::skip] // a table
pub static NNTP_LOGIN_FAULTS: &[NntpFault] = &[
    // Logins (RFC 4643): in clear never, unless one insists.
    NntpFault::login("login", 0, honest).secured(),
    NntpFault::login("login_news", 0, honest).at("news:private@test.invalid").secured(),
    NntpFault::login("login_news_in_clear", 67, honest).at("news:private@test.invalid").plain(),
    NntpFault::login("login_in_clear", 67, honest).plain(),
    NntpFault::login("login_in_clear_by_483", 67, |s| honest(s).logins_under_tls()).or(&[35]).plain(),
    NntpFault::login("login_in_clear_insisted", 0, honest).with(&["-u", "alice:secret-7", "--insecure-auth"]).plain(),
    NntpFault::login("login_in_clear_insisted_483", 67, |s| honest(s).logins_under_tls()).or(&[35]).with(&["-u", "alice:secret-7", "--insecure-auth"]).plain(),
    NntpFault::login("login_first", 0, |s| honest(s).login_first()).secured(),
    NntpFault::login("login_first_in_clear", 67, |s| honest(s).login_first()).plain(),
    NntpFault::login("login_wrong", 67, honest).with(&["-u", "alice:wrong"]).secured(),
    NntpFault::login("login_unknown", 67, honest).with(&["-u", "bob:secret-7"]).secured(),
    NntpFault::login("login_none", 67, honest).with(&[]).all_ways(),
    NntpFault::login("login_user_481", 67, |s| answer(s, "AUTHINFO USER", "481 No\r\n")).secured(),
    NntpFault::login("login_user_482", 67, |s| answer(s, "AUTHINFO USER", "482 Out of sequence\r\n")).or(&[8]).secured(),
    NntpFault::login("login_user_483", 67, |s| answer(s, "AUTHINFO USER", "483 In TLS\r\n")).or(&[35]).secured(),
    NntpFault::login("login_user_502", 67, |s| answer(s, "AUTHINFO USER", "502 No\r\n")).or(&[9]).secured(),
    NntpFault::login("login_user_500", 67, |s| honest(s).no("AUTHINFO")).or(&[1, 8]).secured(),
    NntpFault::login("login_user_480", 67, |s| answer(s, "AUTHINFO USER", "480 Who?\r\n")).or(&[8]).secured(),
    NntpFault::login("login_user_400", 92, |s| answer_and_close(s, "AUTHINFO USER", "400 Full\r\n")).secured(),
    NntpFault::login("login_user_garbage", 8, |s| answer(s, "AUTHINFO USER", "who?\r\n")).secured(),
    NntpFault::login("login_user_stall", 28, |s| silent(s, "AUTHINFO USER")).secured(),
    NntpFault::login("login_user_close", 52, |s| ended(s, "AUTHINFO USER", Close)).or(&[18]).secured(),
    NntpFault::login("login_user_enough", 0, |s| honest(s).account("alice", "")).secured(),
    NntpFault::login("login_pass_381", 8, |s| answer(s, "AUTHINFO PASS", "381 Again\r\n")).or(&[67]).secured(),
    NntpFault::login("login_pass_482", 67, |s| answer(s, "AUTHINFO PASS", "482 Out of sequence\r\n")).or(&[8]).secured(),
    NntpFault::login("login_pass_502", 67, |s| answer(s, "AUTHINFO PASS", "502 No\r\n")).or(&[9]).secured(),
    NntpFault::login("login_pass_200", 8, |s| answer(s, "AUTHINFO PASS", "200 In\r\n")).secured(),
    NntpFault::login("login_pass_stall", 28, |s| silent(s, "AUTHINFO PASS")).secured(),
    NntpFault::login("login_loop", 67, |s| answer(s, "AUTHINFO PASS", "281 In\r\n")).or(&[8]).secured(),
    NntpFault::login("login_echoed", 67, |s| answer(s, "AUTHINFO PASS", &format!("481 {SECRET} is wrong\r\n"))).secured(),
    // STARTTLS (row 40).
    NntpFault::new("starttls_unknown", 35, |s| honest(s).no("STARTTLS")).starttls(),
    NntpFault::new("starttls_unknown_to_sn", 35, sn).at("fetch.test/10").starttls(),
    NntpFault::new("starttls_580", 35, |s| answer(s, "STARTTLS", "580 Can not\r\n")).starttls(),
    NntpFault::new("starttls_502", 35, |s| answer(s, "STARTTLS", "502 Not here\r\n")).or(&[9]).starttls(),
    NntpFault::new("starttls_500", 35, |s| answer(s, "STARTTLS", "500 What?\r\n")).starttls(),
    NntpFault::new("starttls_501", 35, |s| answer(s, "STARTTLS", "501 Syntax\r\n")).or(&[8]).starttls(),
    NntpFault::new("starttls_480", 35, |s| answer(s, "STARTTLS", "480 Who?\r\n")).or(&[67]).starttls(),
    NntpFault::new("starttls_400", 92, |s| answer_and_close(s, "STARTTLS", "400 Full\r\n")).or(&[35]).starttls(),
    NntpFault::new("starttls_200", 35, |s| answer(s, "STARTTLS", "200 ok\r\n")).or(&[8]).starttls(),
    NntpFault::new("starttls_garbage", 8, |s| answer(s, "STARTTLS", "yes\r\n")).or(&[35]).starttls(),
    NntpFault::new("starttls_injected", 35, |s| honest(s).inject_after_starttls(INJECTED)).or(&[0, 8]).starttls(),
    NntpFault::new("starttls_injected_many", 35, |s| honest(s).inject_after_starttls("200 in\r\n".repeat(50))).or(&[0, 8]).starttls(),
    NntpFault::new("starttls_injected_octet", 35, |s| honest(s).inject_after_starttls("x")).or(&[0, 8]).starttls(),
    NntpFault::new("starttls_stall", 28, |s| silent(s, "STARTTLS")).starttls(),
    NntpFault::new("starttls_close", 52, |s| ended(s, "STARTTLS", Close)).or(&[18, 35]).starttls(),
    NntpFault::new("starttls_in_name_only", 35, |s| answer(s, "STARTTLS", "382 Go\r\n")).or(&[28]).starttls(),
    NntpFault::new("starttls_handshake_stall", 28, |s| answer(s, "STARTTLS", "382 Go\r\n").stall_at("STARTTLS", s.stall)).or(&[35]).starttls(),
    NntpFault::new("starttls_handshake_close", 35, |s| answer_and_close(s, "STARTTLS", "382 Go\r\n")).or(&[52]).starttls(),
    NntpFault::new("starttls_capabilities_hidden", 0, |s| answer(s, "CAPABILITIES", "101 ok\r\nVERSION 2\r\nREADER\r\n.\r\n")).or(&[35]).starttls(),
    NntpFault::login("starttls_stripped", 35, |s| honest(s).no("STARTTLS")).starttls(),
    // STARTTLS that is offered, and not insisted on: a login waits for it all the same.
    NntpFault::new("offered", 0, honest).offered(),
    NntpFault::new("offered_580", 0, |s| answer(s, "STARTTLS", "580 Can not\r\n")).or(&[35]).offered(),
    NntpFault::new("offered_injected", 0, |s| honest(s).inject_after_starttls(INJECTED)).or(&[8, 35]).offered(),
    NntpFault::login("offered_to_a_login", 0, honest).or(&[67]).offered(),
    NntpFault::login("offered_to_a_login_by_483", 0, |s| honest(s).logins_under_tls()).or(&[67]).offered(),
    NntpFault::login("offered_to_a_login_580", 67, |s| answer(s, "STARTTLS", "580 Can not\r\n")).or(&[35]).offered(),
    NntpFault::login("offered_to_a_login_injected", 35, |s| honest(s).inject_after_starttls(INJECTED)).or(&[0, 8, 67]).offered(),
    NntpFault::login("offered_to_a_login_in_name_only", 35, |s| answer(s, "STARTTLS", "382 Go\r\n")).or(&[28, 67]).offered(),
    NntpFault::login("offered_by_the_wrong_name", 60, honest).or(&[67]).showing(NntpFaultCert::WrongName).offered(),
    // What the server shows (row 42), and nntps.
    NntpFault::new("expired", 60, honest).showing(NntpFaultCert::Expired),
    NntpFault::new("self_signed", 60, honest).showing(NntpFaultCert::SelfSigned),
    NntpFault::new("wrong_name", 60, honest).showing(NntpFaultCert::WrongName),
    NntpFault::login("login_to_the_wrong_name", 60, honest).showing(NntpFaultCert::WrongName),
    NntpFault::news("news_wrong_name", 60, honest).showing(NntpFaultCert::WrongName),
    NntpFault::new("tls_in_clear", 35, |s| answer(s, NntpOn::Accept, "200 in clear\r\n").on(NntpOn::Accept, NntpAct::Pause(s.stall))).tls(),
    NntpFault::new("tls_handshake_stall", 28, |s| silent(s, NntpOn::Accept)).or(&[35]).tls(),
    NntpFault::new("tls_handshake_close", 35, |s| ended(s, NntpOn::Accept, Close)).or(&[52]).tls(),
    NntpFault::new("tls_handshake_reset", 35, |s| ended(s, NntpOn::Accept, Reset)).or(&[52]).tls(),
];

/// A whole dialogue, said before TLS began.
const INJECTED: &str = "101 ok\r\nVERSION 2\r\nREADER\r\n.\r\n200 ok\r\n211 3 1 3 fetch.test\r\n\
                        220 1 <plain@test.invalid>\r\nSubject: forged\r\n\r\nforged\r\n.\r\n";
