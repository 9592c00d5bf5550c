//! FTP's session played against transcripts: what it says, in which pieces, and what it makes of the
//! replies.
//!
//! A transcript has one line for each thing that happens, in order: `C` is one piece of commands
//! (` | ` between them), `S` a reply, and `=` names a step or a fault.

#![allow(clippy::expect_used, reason = "a test that cannot be set up has failed")]

use fetch_url_core::{Url, parse};
use fetch_url_proto::Inbox;
use fetch_url_proto::ftp::{
    Command, DataRoad, Errand, Fault, Iac, ListVerb, Login, Method, Pace, Session, Step, Wish,
};
use fetch_url_proto::text::{Reply, ReplyReader};

fn errand(url: &str, wish: &Wish) -> Errand {
    let parsed = parse(url).expect("it is a URL");
    let Url::Ftp(url) = parsed.url else { panic!("{url} is ftp") };
    Errand::new(&url, wish).expect("nothing is forbidden")
}

fn reply(text: &str) -> Reply {
    let mut inbox = Inbox::new();
    for line in text.split('\n') {
        inbox.push(line.as_bytes());
        inbox.push(b"\r\n");
    }
    ReplyReader::new().read(&mut inbox).expect("it is a reply").expect("it is whole")
}

/// One side of a transcript.
struct Play {
    session: Session,
    told: Vec<String>,
    offset: u64,
    ahead: bool,
}

impl Play {
    fn new(pace: Pace, login: Login) -> Self {
        Self { session: Session::new(pace, login), told: Vec::new(), offset: 0, ahead: false }
    }

    fn anonymous(pace: Pace) -> Self {
        Self::new(pace, Login::anonymous(b"me@", None).expect("nothing is forbidden"))
    }

    fn go(&mut self, url: &str, wish: &Wish) -> &mut Self {
        self.session.go(&errand(url, wish), &DataRoad::Passive).expect("it can be reached");
        self
    }

    /// Plays until the errand is done or fails; `replies` are the server's.
    fn run(&mut self, replies: &[&str]) -> &mut Self {
        let mut replies = replies.iter();
        let mut heard = None;
        loop {
            let step = match self.session.next(heard.take()) {
                Ok(step) => step,
                Err(fault) => {
                    self.told.push(format!("= {}", word(&fault)));
                    break;
                }
            };
            match step {
                Step::Say(commands) => {
                    let said: Vec<String> = commands.iter().map(ToString::to_string).collect();
                    self.told.push(format!("C {}", said.join(" | ")));
                }
                Step::Hear => match replies.next() {
                    Some(text) => heard = Some(reply(text)),
                    None => {
                        self.told.push("= silence".to_owned());
                        break;
                    }
                },
                Step::AskPassword => {
                    self.told.push("= ask".to_owned());
                    self.session.password(b"typed").expect("nothing is forbidden");
                }
                Step::Ready => {
                    let port = self.session.take_port();
                    let facts = self.session.facts();
                    self.told.push(format!("= ready {port:?} {:?}", facts.size));
                    self.session.transfer(self.offset, self.ahead);
                }
                Step::Receive => self.told.push("= receive".to_owned()),
                Step::Done => {
                    self.told.push("= done".to_owned());
                    break;
                }
            }
        }
        assert_eq!(replies.next(), None, "a reply was not heard: {:#?}", self.told);
        self
    }

    #[track_caller]
    fn told(&mut self, expected: &str) -> &mut Self {
        let expected: Vec<&str> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        assert_eq!(std::mem::take(&mut self.told), expected);
        self
    }
}

fn word(fault: &Fault) -> String {
    match fault {
        Fault::AccountNeeded(_) => "account needed".to_owned(),
        Fault::Broken(reply) => format!("broken {}", reply.code),
        Fault::Closing(_) => "closing".to_owned(),
        Fault::Forbidden(_) => "forbidden".to_owned(),
        Fault::OutOfReach => "out of reach".to_owned(),
        Fault::OutOfStep { asked, reply } => format!("out of step {asked:?} {}", reply.code),
        Fault::Refused { asked, is_way_home, reply } => {
            let command = asked.as_ref();
            let more = match command {
                Some(command) if command.has_iac() => " iac",
                Some(command) if command.argument() == Some(b"") => " null",
                _ if *is_way_home => " home",
                _ => "",
            };
            format!("refused {:?} {}{more}", command.map(Command::verb), reply.code)
        }
    }
}

const HELLO: [&str; 3] = ["220 hello", "331 password", "230 in"];
const FILE: [&str; 4] = ["200 I", "213 10", "213 19941201123456", "229 ok (|||2000|)"];

#[test]
fn one_by_one_as_the_rfc_has_it() {
    let replies = [&HELLO[..], &["250 a", "250 b"], &FILE, &["150 here", "226 done"]].concat();
    Play::anonymous(Pace::OneByOne).go("ftp://h/a/b/c", &Wish::default()).run(&replies).told(
        "C USER anonymous
         C PASS ***
         C CWD a
         C CWD b
         C TYPE I
         C SIZE c
         C MDTM c
         C EPSV
         = ready Some(2000) Some(10)
         C RETR c
         = receive
         = done",
    );
}

#[test]
fn together_in_few_pieces() {
    let replies = [&HELLO[..], &["250 a", "250 b"], &FILE, &["150 here", "226 done"]].concat();
    Play::anonymous(Pace::Together).go("ftp://h/a/b/c", &Wish::default()).run(&replies).told(
        "C USER anonymous
         C PASS ***
         C CWD a | CWD b | TYPE I | SIZE c | MDTM c | EPSV
         = ready Some(2000) Some(10)
         C RETR c
         = receive
         = done",
    );
    // The port is asked for first, so that its reply is not the last to come.
    let (rest, end) = (["250 a", "250 b", "200 I", "213 10", "213 19941201123456"], ["150 here", "226 done"]);
    let replies = [&HELLO[..], &["229 ok (|||2000|)"], &rest, &end].concat();
    Play::anonymous(Pace::Ahead).go("ftp://h/a/b/c", &Wish::default()).run(&replies).told(
        "C USER anonymous | PASS *** | EPSV | CWD a | CWD b | TYPE I | SIZE c | MDTM c
         = ready Some(2000) Some(10)
         C RETR c
         = receive
         = done",
    );
    // A secret waits until it is asked for.
    let login = Login::new(b"me", Some(b"secret"), None).expect("nothing is forbidden");
    Play::new(Pace::Ahead, login).go("ftp://h/a/b/c", &Wish::default()).run(&replies).told(
        "C USER me
         C PASS *** | EPSV | CWD a | CWD b | TYPE I | SIZE c | MDTM c
         = ready Some(2000) Some(10)
         C RETR c
         = receive
         = done",
    );
}

#[test]
fn logins() {
    let me = |password: Option<&[u8]>, account: Option<&[u8]>| {
        Login::new(b"me", password, account).expect("nothing is forbidden")
    };
    let rest = ["229 ok (|||2000|)", "150 here", "226 done"];
    let end = "= ready Some(2000) None\nC NLST\n= receive\n= done";
    let play = |login, replies: &[&str], told: &str| {
        let replies = [&["220 hello"], replies, &rest].concat();
        let told = format!("{told}\n{end}");
        Play::new(Pace::OneByOne, login).go("ftp://h", &Wish::default()).run(&replies).told(&told);
    };
    play(me(Some(b"x"), None), &["230 in"], "C USER me\nC EPSV");
    play(me(None, None), &["230 in"], "C USER me\nC EPSV");
    play(me(None, None), &["331 pw", "230 in"], "C USER me\n= ask\nC PASS ***\nC EPSV");
    play(me(Some(b"x"), None), &["331 pw", "202 not needed"], "C USER me\nC PASS ***\nC EPSV");
    play(
        me(Some(b"x"), Some(b"a")),
        &["331 pw", "332 acct", "230 in"],
        "C USER me\nC PASS ***\nC ACCT ***\nC EPSV",
    );
    play(me(None, Some(b"a")), &["332 acct", "230 in"], "C USER me\nC ACCT ***\nC EPSV");
}

#[test]
fn logins_that_fail() {
    let play = |pace, replies: &[&str], fault: &str| {
        let login = Login::new(b"me", Some(b"x"), None).expect("nothing is forbidden");
        let mut play = Play::new(pace, login);
        play.go("ftp://h", &Wish::default()).run(replies);
        assert_eq!(play.told.last().map(String::as_str), Some(fault), "{replies:?}");
    };
    for pace in [Pace::OneByOne, Pace::Together] {
        play(pace, &["421 too many"], "= closing");
        play(pace, &["120 in an hour"], "= refused None 120");
        play(pace, &["500 no"], "= refused None 500");
        play(pace, &["230 in"], "= out of step None 230");
        play(pace, &["220 hello", "530 no"], "= refused Some(User) 530");
        play(pace, &["220 hello", "220 hello"], "= out of step Some(User) 220");
        play(pace, &["220 hello", "331 pw", "421 bye"], "= closing");
    }
    play(Pace::OneByOne, &["220 hello", "331 pw", "530 no"], "= refused Some(Pass) 530");
    // What went out behind the password is answered, too.
    play(Pace::Ahead, &["220 hello", "331 pw", "530 no", "530 log in"], "= refused Some(Pass) 530");
    play(Pace::Ahead, &["220 hello", "331 pw", "530 no", "421 bye"], "= refused Some(Pass) 530");
    play(Pace::OneByOne, &["220 hello", "331 pw", "331 pw"], "= out of step Some(Pass) 331");
    play(Pace::OneByOne, &["220 hello", "331 pw", "332 acct"], "= account needed");
}

#[test]
fn a_login_that_needs_no_password_after_all() {
    let replies = ["220 hello", "230 in", "230 already", "229 ok (|||2000|)", "150 here", "226 done"];
    Play::anonymous(Pace::Ahead).go("ftp://h", &Wish::default()).run(&replies).told(
        "C USER anonymous | PASS *** | EPSV
         = ready Some(2000) None
         C NLST
         = receive
         = done",
    );
    let replies = ["220 hello", "230 in", "229 ok (|||2000|)", "150 here", "226 done"];
    Play::anonymous(Pace::Together).go("ftp://h", &Wish::default()).run(&replies).told(
        "C USER anonymous
         C EPSV
         = ready Some(2000) None
         C NLST
         = receive
         = done",
    );
}

#[test]
fn the_data_connection_is_asked_for_by_older_words() {
    let play = |replies: &[&str]| {
        let replies = [&HELLO[..], replies].concat();
        let mut play = Play::anonymous(Pace::OneByOne);
        play.go("ftp://h", &Wish::default()).run(&replies);
        play.told.split_off(2)
    };
    let end = ["150 here", "226 done"];
    for refused in ["500 what", "502 no", "522 no", "229 ok (|||0|)", "229 garbage"] {
        let replies = [&[refused, "227 ok (1,2,3,4,7,208)"], &end[..]].concat();
        assert_eq!(
            play(&replies),
            ["C EPSV", "C PASV", "= ready Some(2000) None", "C NLST", "= receive", "= done"],
            "{refused}"
        );
        for garbage in ["227 ok (1,2,3,4,5)", "227 ok (1,2,3,4,256,1)", "227 ok (1,2,3,4,0,0)", "227"] {
            let told = play(&[refused, garbage]);
            assert_eq!(told.last().map(String::as_str), Some("= out of step Some(Pasv) 227"), "{garbage}");
        }
        assert_eq!(play(&[refused, "502 no"]).last().map(String::as_str), Some("= refused Some(Pasv) 502"));
    }
    assert_eq!(play(&["425 later"]).last().map(String::as_str), Some("= refused Some(Epsv) 425"));
}

#[test]
fn the_server_may_be_made_to_connect() {
    let road = DataRoad::Active {
        extended: Some("|1|127.0.0.1|9|".to_owned()),
        plain: Some("127,0,0,1,0,9".to_owned()),
    };
    let mut play = Play::anonymous(Pace::OneByOne);
    play.session.go(&errand("ftp://h", &Wish::default()), &road).expect("it can be reached");
    let replies = [&HELLO[..], &["500 what", "200 ok", "150 here", "226 done"]].concat();
    play.run(&replies).told(
        "C USER anonymous
         C PASS ***
         C EPRT |1|127.0.0.1|9|
         C PORT 127,0,0,1,0,9
         = ready None None
         C NLST
         = receive
         = done",
    );
}

#[test]
fn a_file_goes_on_where_it_broke_off() {
    let mut play = Play::anonymous(Pace::Together);
    play.offset = 4;
    let replies = [&HELLO[..], &FILE, &["350 from 4", "150 here", "226 done"]].concat();
    play.go("ftp://h/c", &Wish::default()).run(&replies);
    assert_eq!(play.told[4..], ["C REST 4 | RETR c", "= receive", "= done"]);
    assert!(!play.session.began_at_start());

    let mut play = Play::anonymous(Pace::OneByOne);
    play.offset = 4;
    let replies = [&HELLO[..], &FILE, &["502 no", "150 here", "226 done"]].concat();
    play.go("ftp://h/c", &Wish::default()).run(&replies);
    assert!(play.session.began_at_start());
}

#[test]
fn facts_that_are_not_known_do_no_harm() {
    for refusal in ["550 no", "500 what", "213 many", "450 later", "202 not here"] {
        let replies =
            [&HELLO[..], &["200 I", refusal, refusal, "229 ok (|||2000|)", "150 here", "226 done"]].concat();
        let mut play = Play::anonymous(Pace::Together);
        play.go("ftp://h/c", &Wish::default()).run(&replies);
        assert_eq!(play.told.last().map(String::as_str), Some("= done"), "{refusal}");
        assert_eq!(play.session.facts().size, None, "{refusal}");
    }
}

#[test]
fn refusals_on_the_way() {
    let play = |pace, replies: &[&str]| {
        let replies = [&HELLO[..], replies].concat();
        let mut play = Play::anonymous(pace);
        play.go("ftp://h/a/%FF/c", &Wish::default()).run(&replies);
        play.told.pop().unwrap_or_default()
    };
    assert_eq!(play(Pace::OneByOne, &["550 no"]), "= refused Some(Cwd) 550");
    assert_eq!(play(Pace::OneByOne, &["250 ok", "550 no"]), "= refused Some(Cwd) 550 iac");
    // Together: whatever stands behind the first refusal is heard and counts for nothing.
    let behind = ["250 ok", "200 I", "550 no", "550 no", "229 ok (|||2000|)"];
    assert_eq!(play(Pace::Together, &[&["550 no"], &behind[..]].concat()), "= refused Some(Cwd) 550");
    assert_eq!(play(Pace::OneByOne, &["250 ok", "250 ok", "504 no"]), "= refused Some(Type) 504");
    let to_retr = ["250 ok", "250 ok", "200 I", "213 10", "213 19941201123456", "229 ok (|||2000|)"];
    for (last, told) in [
        (&["550 no"][..], "= refused Some(Retr) 550"),
        (&["226 done"], "= out of step Some(Retr) 226"),
        (&["150 here", "426 broken"], "= broken 426"),
        (&["150 here", "451 disk"], "= broken 451"),
        (&["150 here", "150 here"], "= out of step Some(Retr) 150"),
        (&["150 here", "421 bye"], "= closing"),
        (&["150 here"], "= silence"),
    ] {
        assert_eq!(play(Pace::Together, &[&to_retr[..], last].concat()), told, "{last:?}");
    }
}

#[test]
fn replies_to_another_command_are_noticed() {
    let to = |replies: &[&str]| {
        let replies = [&HELLO[..], replies].concat();
        let mut play = Play::anonymous(Pace::OneByOne);
        play.go("ftp://h/a/c", &Wish::default()).run(&replies);
        play.told.pop().unwrap_or_default()
    };
    assert_eq!(to(&["230 in"]), "= out of step Some(Cwd) 230");
    assert_eq!(to(&["150 x"]), "= out of step Some(Cwd) 150");
    assert_eq!(to(&["250 ok", "250 ok"]), "= out of step Some(Type) 250");
    // What is known of a file is never worth an error (asked alone, any answer is one to this).
    assert_eq!(to(&["250 ok", "200 I", "200 ok", "250 x"]), "= silence");
    assert_eq!(to(&["250 ok", "200 I", "331 ok"]), "= out of step Some(Size) 331");
    assert_eq!(to(&["250 ok", "200 I", "213 1", "213 1", "227 x"]), "= out of step Some(Epsv) 227");
}

#[test]
fn listings() {
    let wish = |list_by| Wish { list_by, ..Wish::default() };
    for (url, by, said) in [
        ("ftp://h", ListVerb::Nlst, "C NLST"),
        ("ftp://h/", ListVerb::Nlst, "C NLST"),
        ("ftp://h/d;type=d", ListVerb::Nlst, "C NLST d"),
        ("ftp://h", ListVerb::Mlsd, "C MLSD"),
        ("ftp://h/;type=d", ListVerb::List, "C LIST"),
    ] {
        let replies = [&HELLO[..], &["229 ok (|||2000|)", "150 here", "226 done"]].concat();
        Play::anonymous(Pace::Together).go(url, &wish(by)).run(&replies).told(&format!(
            "C USER anonymous
             C PASS ***
             C EPSV
             = ready Some(2000) None
             {said}
             = receive
             = done"
        ));
    }
    // An empty directory, without a data connection.
    let mut play = Play::anonymous(Pace::OneByOne);
    play.go("ftp://h", &wish(ListVerb::Nlst)).run(&[&HELLO[..], &["229 ok (|||2000|)", "226 none"]].concat());
    assert_eq!(play.told[3..], ["= ready Some(2000) None", "C NLST", "= done"]);
}

#[test]
fn one_connection_for_several_urls() {
    let mut play = Play::anonymous(Pace::Together);
    let replies = [&HELLO[..], &["250 a"], &FILE, &["150 here", "226 done"]].concat();
    play.go("ftp://h/a/c", &Wish::default()).run(&replies).told.clear();
    // The same directory: neither CWD nor TYPE. And the next port is asked for ahead.
    play.ahead = true;
    let replies = [&FILE[1..], &["150 here", "226 done"]].concat();
    play.go("ftp://h/a/d", &Wish::default()).run(&replies).told(
        "C SIZE d | MDTM d | EPSV
         = ready Some(2000) Some(10)
         C RETR d | EPSV
         = receive
         = done",
    );
    assert!(play.session.has_asked_ahead());
    play.ahead = false;
    let replies = ["229 ok (|||2001|)", "250 b", "213 7", "213 19941201123456", "150 here", "226 done"];
    play.go("ftp://h/a/b/e", &Wish::default()).run(&replies).told(
        "C CWD b | SIZE e | MDTM e
         = ready Some(2001) Some(7)
         C RETR e
         = receive
         = done",
    );
    assert!(!play.session.has_asked_ahead());
    // A listing is text, by the default of RFC 959.
    let replies = ["200 A", "229 ok (|||2002|)", "150 here", "226 done"];
    play.go("ftp://h/a/b/", &Wish::default()).run(&replies).told(
        "C TYPE A | EPSV
         = ready Some(2002) None
         C NLST
         = receive
         = done",
    );
    // Another directory is out of reach: nobody knows what the login's is called.
    let elsewhere = errand("ftp://h/x", &Wish::default());
    assert_eq!(play.session.steps_to(&elsewhere), None);
    assert_eq!(play.session.go(&elsewhere, &DataRoad::Passive), Err(Fault::OutOfReach));
    assert_eq!(play.session.next(None), Ok(Step::Done));
}

#[test]
fn back_to_where_the_login_led() {
    let login = Login::anonymous(b"me@", None).expect("nothing is forbidden");
    let mut play = Play::new(Pace::Together, login);
    play.session = play.session.learning_home();
    let replies = [&HELLO[..], &["257 \"/pub\" it is", "250 a"], &FILE, &["150 here", "226 done"]].concat();
    play.go("ftp://h/a/c", &Wish::default()).run(&replies);
    assert_eq!(play.told[2], "C PWD | CWD a | TYPE I | SIZE c | MDTM c | EPSV");
    play.told.clear();
    assert_eq!(play.session.steps_to(&errand("ftp://h/x/c", &Wish::default())), Some(2));
    let replies = [&["250 home", "250 x"], &FILE[1..], &["150 here", "226 done"]].concat();
    play.go("ftp://h/x/c", &Wish::default()).run(&replies);
    assert_eq!(play.told[0], "C CWD /pub | CWD x | SIZE c | MDTM c | EPSV");
}

#[test]
fn after_a_refusal_the_session_serves_another_errand() {
    let mut play = Play::anonymous(Pace::Together);
    play.ahead = true;
    let replies = [&HELLO[..], &FILE, &["550 no"]].concat();
    play.go("ftp://h/c", &Wish::default()).run(&replies);
    assert_eq!(play.told.pop().as_deref(), Some("= refused Some(Retr) 550"));
    play.told.clear();
    let replies = ["229 ok (|||2003|)", "213 7", "213 19941201123456", "150 here", "226 done"];
    play.ahead = false;
    play.go("ftp://h/d", &Wish::default()).run(&replies).told(
        "C SIZE d | MDTM d
         = ready Some(2003) Some(7)
         C RETR d
         = receive
         = done",
    );
}

#[test]
fn a_null_argument_that_is_refused() {
    let mut play = Play::anonymous(Pace::OneByOne);
    play.go("ftp://h//etc/motd", &Wish::default()).run(&[&HELLO[..], &["501 what"]].concat());
    assert_eq!(play.told.pop().as_deref(), Some("= refused Some(Cwd) 501 null"));
    let wish = Wish { method: Method::NoCwd, ..Wish::default() };
    let mut line = Vec::new();
    errand("ftp://h//etc/motd", &wish)
        .commands()
        .expect("nothing is forbidden")
        .last()
        .expect("one")
        .write(&mut line, Iac::Plain);
    assert_eq!(line, b"RETR /etc/motd\r\n");
}

#[test]
fn what_is_known_of_a_file_need_not_be_waited_for() {
    let mut play = Play::anonymous(Pace::Together);
    play.ahead = true;
    let replies = [&HELLO[..], &FILE, &["150 here", "226 done", "229 ok (|||2001|)"]].concat();
    play.go("ftp://h/c", &Wish::default()).run(&replies[..replies.len() - 1]).told.clear();
    let ahead = play.session.next(Some(reply("229 ok (|||2001|)"))).expect("it is the reply to EPSV");
    assert_eq!((ahead, play.session.take_port()), (Step::Done, Some(2001)));
    play.session.go(&errand("ftp://h/d", &Wish::default()), &DataRoad::Begun).expect("it can be reached");
    play.session.transfer(0, true);
    play.run(&["213 10", "213 19941201123456", "150 here", "226 done"]).told(
        "C SIZE d | MDTM d | RETR d | EPSV
         = receive
         = done",
    );
    assert_eq!(play.session.facts().size, Some(10));
}

/// What a session says while the octets of a server arrive in two parts.
fn said_to(octets: &[u8], cut: usize) -> (Vec<String>, bool) {
    let mut play = Play::anonymous(Pace::Together);
    play.go("ftp://h/a/b/c", &Wish::default());
    let (mut reader, mut inbox) = (ReplyReader::new(), Inbox::new());
    inbox.push(&octets[..cut]);
    let (mut heard, mut is_second) = (None, false);
    loop {
        match play.session.next(heard.take()).expect("the server does what it should") {
            Step::Say(commands) => play.told.extend(commands.iter().map(ToString::to_string)),
            Step::Hear => loop {
                heard = reader.read(&mut inbox).expect("they are replies");
                match heard {
                    Some(_) => break,
                    None if is_second => return (play.told, false),
                    None => inbox.push(&octets[cut..]),
                }
                is_second = true;
            },
            Step::Ready => play.session.transfer(0, false),
            Step::Receive => play.told.push("receive".to_owned()),
            Step::Done => return (play.told, true),
            Step::AskPassword => panic!("a password is known"),
        }
    }
}

#[test]
fn however_the_replies_are_cut() {
    let server =
        b"220-hello\r\n 220 not yet\r\n220 now\r\n331 who?\r\n230-in\r\n230 in\r\n250 a\r\n250 b\r\n\
        200 I\r\n213 10\r\n213 19941201123456\r\n229 ok (|||2000|)\r\n150 here\r\n226 done\r\n";
    let (whole, is_done) = said_to(server, server.len());
    assert!(is_done && whole.len() == 10, "{whole:?}");
    for cut in 0..server.len() {
        assert_eq!(said_to(server, cut), (whole.clone(), true), "cut at {cut}");
        // What never comes is waited for, and nothing is said that depends on it.
        let (said, is_done) = said_to(&server[..cut], cut);
        assert!(!is_done && whole.starts_with(&said), "ends at {cut}: {said:?}");
    }
}

#[test]
fn a_way_home_that_is_closed() {
    let login = Login::anonymous(b"me@", None).expect("nothing is forbidden");
    let mut play = Play::new(Pace::OneByOne, login);
    play.session = play.session.learning_home();
    let replies = [&HELLO[..], &["257 \"/pub\" it is", "250 a"], &FILE, &["150 here", "226 done"]].concat();
    play.go("ftp://h/a/c", &Wish::default()).run(&replies).told.clear();
    play.go("ftp://h/x/c", &Wish::default()).run(&["550 no"]);
    assert_eq!(play.told.pop().as_deref(), Some("= refused Some(Cwd) 550 home"));
    assert_eq!(play.session.steps_to(&errand("ftp://h/x/c", &Wish::default())), None);
}
