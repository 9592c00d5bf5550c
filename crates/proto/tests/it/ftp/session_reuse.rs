//! Sessions that serve several requests: which commands are not repeated, and what a rejection leaves.

use fetch_url_proto::ftp::{DataMode, Login, Pipelining, RequestOptions, SessionError, SessionStep};

use super::session::{FILE, HELLO, Scenario, request};

#[test]
fn session_serves_several_requests_without_repeating_commands() {
    let mut scenario = Scenario::anonymous(Pipelining::AfterLogin);
    let replies = [&HELLO[..], &["250 a"], &FILE, &["150 here", "226 done"]].concat();
    scenario.start("ftp://h/a/c").run(&replies).log.clear();
    // The same directory needs neither CWD nor TYPE; the EPSV of the next transfer is sent ahead.
    scenario.ahead = true;
    let replies = [&FILE[1..], &["150 here", "226 done"]].concat();
    scenario.start("ftp://h/a/d").run(&replies).assert_log(
        "C SIZE d | MDTM d | EPSV
         = ready Some(2000) Some(10)
         C RETR d | EPSV
         = receive
         = done",
    );
    assert!(scenario.session.is_next_port_pending());
    scenario.ahead = false;
    let replies = ["229 ok (|||2001|)", "250 b", "213 7", "213 19941201123456", "150 here", "226 done"];
    scenario.start("ftp://h/a/b/e").run(&replies).assert_log(
        "C CWD b | SIZE e | MDTM e
         = ready Some(2001) Some(7)
         C RETR e
         = receive
         = done",
    );
    assert!(!scenario.session.is_next_port_pending());
    // A listing is transferred as ASCII, the default of RFC 959.
    let replies = ["200 A", "229 ok (|||2002|)", "150 here", "226 done"];
    scenario.start("ftp://h/a/b/").run(&replies).assert_log(
        "C TYPE A | EPSV
         = ready Some(2002) None
         C NLST
         = receive
         = done",
    );
    // Another directory is unreachable: the path of the login directory is unknown.
    let elsewhere = request("ftp://h/x", &RequestOptions::default());
    assert_eq!(scenario.session.cwds_needed(&elsewhere), None);
    assert_eq!(
        scenario.session.start_request(&elsewhere, &DataMode::Passive),
        Err(SessionError::UnreachableDir)
    );
    assert_eq!(scenario.session.next_step(None), Ok(SessionStep::Done));
}

#[test]
fn session_returns_to_the_login_directory_for_another_path() {
    let login = Login::anonymous(b"me@", None).expect("no forbidden byte");
    let mut scenario = Scenario::new(Pipelining::AfterLogin, login);
    scenario.session = scenario.session.querying_login_dir();
    let replies = [&HELLO[..], &["257 \"/pub\" it is", "250 a"], &FILE, &["150 here", "226 done"]].concat();
    scenario.start("ftp://h/a/c").run(&replies);
    assert_eq!(scenario.log[2], "C PWD | CWD a | TYPE I | SIZE c | MDTM c | EPSV");
    scenario.log.clear();
    assert_eq!(scenario.session.cwds_needed(&request("ftp://h/x/c", &RequestOptions::default())), Some(2));
    let replies = [&["250 home", "250 x"], &FILE[1..], &["150 here", "226 done"]].concat();
    scenario.start("ftp://h/x/c").run(&replies);
    assert_eq!(scenario.log[0], "C CWD /pub | CWD x | SIZE c | MDTM c | EPSV");
}

#[test]
fn session_serves_another_request_after_a_rejection() {
    let mut scenario = Scenario::anonymous(Pipelining::AfterLogin);
    scenario.ahead = true;
    let replies = [&HELLO[..], &FILE, &["550 no"]].concat();
    scenario.start("ftp://h/c").run(&replies);
    assert_eq!(scenario.log.pop().as_deref(), Some("= rejected Some(Retr) 550"));
    scenario.log.clear();
    let replies = ["229 ok (|||2003|)", "213 7", "213 19941201123456", "150 here", "226 done"];
    scenario.ahead = false;
    scenario.start("ftp://h/d").run(&replies).assert_log(
        "C SIZE d | MDTM d
         = ready Some(2003) Some(7)
         C RETR d
         = receive
         = done",
    );
}

/// The server may keep the offset for the next transfer.
#[test]
fn offset_is_unused_after_a_rejected_transfer_only() {
    let rest = |replies: &[&str]| {
        let mut scenario = Scenario::anonymous(Pipelining::AfterLogin);
        scenario.offset = 4;
        scenario.start("ftp://h/c").run(&[&HELLO[..], &FILE, replies].concat());
        scenario.session.has_unused_offset()
    };
    assert!(rest(&["350 from 4", "550 no"]));
    assert!(!rest(&["350 from 4", "150 here", "226 done"]));
    assert!(!rest(&["502 no REST", "550 no"]));
    let mut scenario = Scenario::anonymous(Pipelining::AfterLogin);
    scenario.start("ftp://h/c").run(&[&HELLO[..], &FILE, &["550 no"]].concat());
    assert!(!scenario.session.has_unused_offset());
}

#[test]
fn cwds_accepted_after_a_rejection_are_not_repeated() {
    let mut scenario = Scenario::anonymous(Pipelining::BeforeGreeting);
    let start = |scenario: &mut Scenario, url: &str| {
        let request = request(url, &RequestOptions::default());
        scenario.session.start_request(&request, &DataMode::PasvOnly).expect("a reachable directory");
    };
    start(&mut scenario, "ftp://h/a/b");
    let replies = [&HELLO[..], &["500 no PASV", "250 a", "200 I", "213 10", "213 19941201123456"]].concat();
    scenario.run(&replies);
    assert_eq!(scenario.log.pop().as_deref(), Some("= rejected Some(Pasv) 500"));
    scenario.log.clear();
    start(&mut scenario, "ftp://h/a/c");
    let replies = ["227 (127,0,0,1,7,208)", "200 I", "213 10", "213 19941201123456", "150 here", "226 done"];
    scenario.run(&replies).assert_log(
        "C PASV | TYPE I | SIZE c | MDTM c
         = ready Some(2000) Some(10)
         C RETR c
         = receive
         = done",
    );
}

#[test]
fn rejected_login_directory_makes_other_paths_unreachable() {
    let login = Login::anonymous(b"me@", None).expect("no forbidden byte");
    let mut scenario = Scenario::new(Pipelining::Off, login);
    scenario.session = scenario.session.querying_login_dir();
    let replies = [&HELLO[..], &["257 \"/pub\" it is", "250 a"], &FILE, &["150 here", "226 done"]].concat();
    scenario.start("ftp://h/a/c").run(&replies).log.clear();
    scenario.start("ftp://h/x/c").run(&["550 no"]);
    assert_eq!(scenario.log.pop().as_deref(), Some("= rejected Some(Cwd) 550 login dir"));
    assert_eq!(scenario.session.cwds_needed(&request("ftp://h/x/c", &RequestOptions::default())), None);
}
