//! The fault table of logins, STARTTLS and certificates.

use crate::fault::row::FaultCert;
use crate::nntp::fault_configs::{SECRET, answer, answer_and_close, correct, end_at, sn, stall};
use crate::nntp::faults::NntpFault;
use crate::nntp::rule::{NntpAction, NntpTrigger};
use crate::server::plain_or_tls_connection::Ending::{Close, Reset};

/// The faults of a server while TLS starts or a client logs in, and unusual but correct behaviour (exit
/// status 0).
#[rustfmt::skip] // a table
pub static NNTP_LOGIN_FAULTS: &[NntpFault] = &[
    // Logins (RFC 4643). In plaintext only with --insecure-auth.
    NntpFault::login("login", 0, correct).encrypted(),
    NntpFault::login("login_news", 0, correct).at("news:private@test.invalid").encrypted(),
    NntpFault::login("login_news_plaintext", 67, correct).at("news:private@test.invalid").plain(),
    NntpFault::login("login_plaintext", 67, correct).plain(),
    NntpFault::login("login_plaintext_483", 67, |s| correct(s).requires_tls_for_login()).or(&[35]).plain(),
    NntpFault::login("login_plaintext_allowed", 0, correct).with(&["-u", "alice:secret-7", "--insecure-auth"]).plain(),
    NntpFault::login("login_plaintext_allowed_483", 67, |s| correct(s).requires_tls_for_login()).or(&[35]).with(&["-u", "alice:secret-7", "--insecure-auth"]).plain(),
    NntpFault::login("login_first", 0, |s| correct(s).requires_login()).encrypted(),
    NntpFault::login("login_first_plaintext", 67, |s| correct(s).requires_login()).plain(),
    NntpFault::login("login_wrong", 67, correct).with(&["-u", "alice:wrong"]).encrypted(),
    NntpFault::login("login_unknown", 67, correct).with(&["-u", "bob:secret-7"]).encrypted(),
    NntpFault::login("login_none", 67, correct).with(&[]).all_transports(),
    NntpFault::login("login_user_481", 67, |s| answer(s, "AUTHINFO USER", "481 No\r\n")).encrypted(),
    NntpFault::login("login_user_482", 67, |s| answer(s, "AUTHINFO USER", "482 Out of sequence\r\n")).or(&[8]).encrypted(),
    NntpFault::login("login_user_483", 67, |s| answer(s, "AUTHINFO USER", "483 In TLS\r\n")).or(&[35]).encrypted(),
    NntpFault::login("login_user_502", 67, |s| answer(s, "AUTHINFO USER", "502 No\r\n")).or(&[9]).encrypted(),
    NntpFault::login("login_user_500", 67, |s| correct(s).without("AUTHINFO")).or(&[1, 8]).encrypted(),
    NntpFault::login("login_user_480", 67, |s| answer(s, "AUTHINFO USER", "480 Who?\r\n")).or(&[8]).encrypted(),
    NntpFault::login("login_user_400", 92, |s| answer_and_close(s, "AUTHINFO USER", "400 Full\r\n")).encrypted(),
    NntpFault::login("login_user_garbage", 8, |s| answer(s, "AUTHINFO USER", "who?\r\n")).encrypted(),
    NntpFault::login("login_user_stall", 28, |s| stall(s, "AUTHINFO USER")).encrypted(),
    NntpFault::login("login_user_close", 52, |s| end_at(s, "AUTHINFO USER", Close)).or(&[18]).encrypted(),
    NntpFault::login("login_user_enough", 0, |s| correct(s).account("alice", "")).encrypted(),
    NntpFault::login("login_pass_381", 8, |s| answer(s, "AUTHINFO PASS", "381 Again\r\n")).or(&[67]).encrypted(),
    NntpFault::login("login_pass_482", 67, |s| answer(s, "AUTHINFO PASS", "482 Out of sequence\r\n")).or(&[8]).encrypted(),
    NntpFault::login("login_pass_502", 67, |s| answer(s, "AUTHINFO PASS", "502 No\r\n")).or(&[9]).encrypted(),
    NntpFault::login("login_pass_200", 8, |s| answer(s, "AUTHINFO PASS", "200 In\r\n")).encrypted(),
    NntpFault::login("login_pass_stall", 28, |s| stall(s, "AUTHINFO PASS")).encrypted(),
    NntpFault::login("login_loop", 67, |s| answer(s, "AUTHINFO PASS", "281 In\r\n")).or(&[8]).encrypted(),
    NntpFault::login("login_echoed", 67, |s| answer(s, "AUTHINFO PASS", &format!("481 {SECRET} is wrong\r\n"))).encrypted(),
    // STARTTLS (row 40).
    NntpFault::new("starttls_unknown", 35, |s| correct(s).without("STARTTLS")).start_tls(),
    NntpFault::new("starttls_unknown_to_sn", 35, sn).at("fetch.test/10").start_tls(),
    NntpFault::new("starttls_580", 35, |s| answer(s, "STARTTLS", "580 Can not\r\n")).start_tls(),
    NntpFault::new("starttls_502", 35, |s| answer(s, "STARTTLS", "502 Not here\r\n")).or(&[9]).start_tls(),
    NntpFault::new("starttls_500", 35, |s| answer(s, "STARTTLS", "500 What?\r\n")).start_tls(),
    NntpFault::new("starttls_501", 35, |s| answer(s, "STARTTLS", "501 Syntax\r\n")).or(&[8]).start_tls(),
    NntpFault::new("starttls_480", 35, |s| answer(s, "STARTTLS", "480 Who?\r\n")).or(&[67]).start_tls(),
    NntpFault::new("starttls_400", 92, |s| answer_and_close(s, "STARTTLS", "400 Full\r\n")).or(&[35]).start_tls(),
    NntpFault::new("starttls_200", 35, |s| answer(s, "STARTTLS", "200 ok\r\n")).or(&[8]).start_tls(),
    NntpFault::new("starttls_garbage", 8, |s| answer(s, "STARTTLS", "yes\r\n")).or(&[35]).start_tls(),
    NntpFault::new("starttls_injected", 35, |s| correct(s).inject_after_starttls(INJECTED)).or(&[0, 8]).start_tls(),
    NntpFault::new("starttls_injected_many", 35, |s| correct(s).inject_after_starttls("200 in\r\n".repeat(50))).or(&[0, 8]).start_tls(),
    NntpFault::new("starttls_injected_byte", 35, |s| correct(s).inject_after_starttls("x")).or(&[0, 8]).start_tls(),
    NntpFault::new("starttls_stall", 28, |s| stall(s, "STARTTLS")).start_tls(),
    NntpFault::new("starttls_close", 52, |s| end_at(s, "STARTTLS", Close)).or(&[18, 35]).start_tls(),
    NntpFault::new("starttls_in_name_only", 35, |s| answer(s, "STARTTLS", "382 Go\r\n")).or(&[28]).start_tls(),
    NntpFault::new("starttls_handshake_stall", 28, |s| answer(s, "STARTTLS", "382 Go\r\n").stall_at("STARTTLS", s.stall)).or(&[35]).start_tls(),
    NntpFault::new("starttls_handshake_close", 35, |s| answer_and_close(s, "STARTTLS", "382 Go\r\n")).or(&[52]).start_tls(),
    NntpFault::new("starttls_capabilities_hidden", 0, |s| answer(s, "CAPABILITIES", "101 ok\r\nVERSION 2\r\nREADER\r\n.\r\n")).or(&[35]).start_tls(),
    NntpFault::login("starttls_stripped", 35, |s| correct(s).without("STARTTLS")).start_tls(),
    // STARTTLS that is offered, but not required. A login uses it anyway.
    NntpFault::new("offered", 0, correct).offered(),
    NntpFault::new("offered_580", 0, |s| answer(s, "STARTTLS", "580 Can not\r\n")).or(&[35]).offered(),
    NntpFault::new("offered_injected", 0, |s| correct(s).inject_after_starttls(INJECTED)).or(&[8, 35]).offered(),
    NntpFault::login("offered_to_a_login", 0, correct).or(&[67]).offered(),
    NntpFault::login("offered_to_a_login_by_483", 0, |s| correct(s).requires_tls_for_login()).or(&[67]).offered(),
    NntpFault::login("offered_to_a_login_580", 67, |s| answer(s, "STARTTLS", "580 Can not\r\n")).or(&[35]).offered(),
    NntpFault::login("offered_to_a_login_injected", 35, |s| correct(s).inject_after_starttls(INJECTED)).or(&[0, 8, 67]).offered(),
    NntpFault::login("offered_to_a_login_in_name_only", 35, |s| answer(s, "STARTTLS", "382 Go\r\n")).or(&[28, 67]).offered(),
    NntpFault::login("offered_by_the_wrong_name", 60, correct).or(&[67]).encrypted().presenting(FaultCert::WrongName).offered(),
    // Certificates (row 42), and nntps.
    NntpFault::new("expired", 60, correct).encrypted().presenting(FaultCert::Expired),
    NntpFault::new("self_signed", 60, correct).encrypted().presenting(FaultCert::SelfSigned),
    NntpFault::new("wrong_name", 60, correct).encrypted().presenting(FaultCert::WrongName),
    NntpFault::login("login_to_the_wrong_name", 60, correct).encrypted().presenting(FaultCert::WrongName),
    NntpFault::news("news_wrong_name", 60, correct).encrypted().presenting(FaultCert::WrongName),
    NntpFault::new("tls_plaintext_reply", 35, |s| answer(s, NntpTrigger::Accept, "200 plaintext\r\n").on(NntpTrigger::Accept, NntpAction::Pause(s.stall))).tls(),
    NntpFault::new("tls_handshake_stall", 28, |s| stall(s, NntpTrigger::Accept)).or(&[35]).tls(),
    NntpFault::new("tls_handshake_close", 35, |s| end_at(s, NntpTrigger::Accept, Close)).or(&[52]).tls(),
    NntpFault::new("tls_handshake_reset", 35, |s| end_at(s, NntpTrigger::Accept, Reset)).or(&[52]).tls(),
];

/// Replies to all commands of a session, sent before TLS starts.
const INJECTED: &str = "101 ok\r\nVERSION 2\r\nREADER\r\n.\r\n200 ok\r\n211 3 1 3 fetch.test\r\n\
                        220 1 <plain@test.invalid>\r\nSubject: forged\r\n\r\nforged\r\n.\r\n";
