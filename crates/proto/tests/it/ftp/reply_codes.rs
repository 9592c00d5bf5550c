//! Replies with an unusual code: which ones are accepted, and when.

use fetch_url_proto::ftp::{Login, Pipelining};

use super::session::Scenario;

/// RFC 959 §4.2: the first digit says whether a command succeeded.
#[test]
fn first_digit_of_a_reply_decides_without_pipelining() {
    let login = Login::new(b"me", Some(b"x"), None).expect("no forbidden byte");
    let end = ["213 10", "213 19941201123456", "227 ok (1,2,3,4,7,208)", "150 here", "226 done"];
    let log = "C CWD a\nC TYPE I\nC SIZE c\nC MDTM c\nC EPSV\nC PASV\n= ready Some(2000) Some(10)\n\
               C RETR c\n= receive\n= done";
    for epsv in ["200 ok", "227 x", "350 x", "425 no", "530 no"] {
        let mut replies = ["220 hello", "330 pw", "232 in", "257 a", "226 I"].to_vec();
        replies.extend(&end[..2]);
        replies.push(epsv);
        replies.extend(&end[2..]);
        let login = Login::new(b"me", Some(b"x"), None).expect("no forbidden byte");
        let log = format!("C USER me\nC PASS ***\n{log}");
        Scenario::new(Pipelining::Off, login).start("ftp://h/a/c").run(&replies).assert_log(&log);
    }
    let replies = [&["220 hello", "200 in", "200 a", "200 I"], &end[..2], &["229 ok (|||2000|)"], &end[3..]];
    let log = format!("C USER me\n{}", log.replace("C PASV\n", ""));
    Scenario::new(Pipelining::Off, login).start("ftp://h/a/c").run(&replies.concat()).assert_log(&log);
}

/// With pipelining, the reply could belong to another command. The driver then repeats the request one command at a
/// time.
#[test]
fn all_digits_of_a_reply_decide_with_pipelining() {
    let mut scenario = Scenario::anonymous(Pipelining::AfterLogin);
    scenario.start("ftp://h/a/c").run(&["220 hello", "331 pw", "230 in", "257 a"]);
    assert_eq!(scenario.log.last().map(String::as_str), Some("= unexpected reply Some(Cwd) 257"));
}

/// A server that greets with 230 needs no login: USER and PASS are not sent, or their replies are ignored.
#[test]
fn greeting_230_replaces_the_login() {
    let end = ["200 I", "213 10", "213 19941201123456", "229 ok (|||2000|)", "150 here", "226 done"];
    let log =
        "C TYPE I\nC SIZE c\nC MDTM c\nC EPSV\n= ready Some(2000) Some(10)\nC RETR c\n= receive\n= done";
    for password in [None, Some(&b"x"[..])] {
        let login = Login::new(b"me", password, None).expect("no forbidden byte");
        let replies = [&["230 in already"][..], &end].concat();
        Scenario::new(Pipelining::Off, login).start("ftp://h/c").run(&replies).assert_log(log);
    }
    let replies =
        ["230 in already", "503 logged in", "503 logged in", "229 ok (|||2000|)", "150 here", "226 done"];
    let log = "C USER anonymous | PASS *** | EPSV\n= ready Some(2000) None\nC NLST\n= receive\n= done";
    Scenario::anonymous(Pipelining::BeforeGreeting).start("ftp://h").run(&replies).assert_log(log);
}

#[test]
fn cwds_accepted_after_a_rejection_are_not_repeated() {
    let login = ["220 hello", "331 password", "230 in"];
    let replies = [&login[..], &["500 no PASV", "250 a", "200 I", "213 10", "213 19941201123456"]].concat();
    let mut scenario = Scenario::anonymous(Pipelining::BeforeGreeting);
    scenario.start_with_pasv("ftp://h/a/b").run(&replies);
    assert_eq!(scenario.log.pop().as_deref(), Some("= rejected Some(Pasv) 500"));
    scenario.log.clear();
    let replies = ["227 (127,0,0,1,7,208)", "200 I", "213 10", "213 19941201123456", "150 here", "226 done"];
    scenario.start_with_pasv("ftp://h/a/c").run(&replies).assert_log(
        "C PASV | TYPE I | SIZE c | MDTM c
         = ready Some(2000) Some(10)
         C RETR c
         = receive
         = done",
    );
}
