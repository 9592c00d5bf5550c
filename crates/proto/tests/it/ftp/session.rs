//! FTP sessions against scripted replies: which commands are sent, in which batches, and how replies are handled.
//!
//! A log has one line for each step, in order: `C` is a batch of commands, joined by ` | `, and `=` is another step or an
//! error.

use fetch_url_core::{Url, parse};
use fetch_url_proto::RecvBuffer;
use fetch_url_proto::ftp::{
    Command, CwdMethod, DataMode, FtpRequest, IacEscaping, ListVerb, Login, Pipelining, RequestOptions,
    Session, SessionError, SessionStep,
};
use fetch_url_proto::text::{Reply, ReplyReader};

pub(super) fn request(url: &str, options: &RequestOptions) -> FtpRequest {
    let parsed = parse(url).expect("a URL");
    let Url::Ftp(url) = parsed.url else { panic!("not an ftp URL: {url}") };
    FtpRequest::new(&url, options).expect("no forbidden byte")
}

fn reply(text: &str) -> Reply {
    let mut buffer = RecvBuffer::new();
    for line in text.split('\n') {
        buffer.push(line.as_bytes());
        buffer.push(b"\r\n");
    }
    ReplyReader::new().read_reply(&mut buffer).expect("a reply").expect("a complete reply")
}

/// A session and the log of its steps.
pub(super) struct Scenario {
    pub(super) session: Session,
    pub(super) log: Vec<String>,
    pub(super) offset: u64,
    pub(super) ahead: bool,
}

impl Scenario {
    pub(super) fn new(pipelining: Pipelining, login: Login) -> Self {
        Self { session: Session::new(pipelining, login), log: Vec::new(), offset: 0, ahead: false }
    }

    pub(super) fn anonymous(pipelining: Pipelining) -> Self {
        Self::new(pipelining, Login::anonymous(b"me@", None).expect("no forbidden byte"))
    }

    pub(super) fn start(&mut self, url: &str) -> &mut Self {
        self.start_with(url, &RequestOptions::default())
    }

    fn start_with(&mut self, url: &str, options: &RequestOptions) -> &mut Self {
        self.session
            .start_request(&request(url, options), &DataMode::Passive)
            .expect("a reachable directory");
        self
    }

    /// Runs the session with the replies of a server until the request is complete or fails.
    pub(super) fn run(&mut self, replies: &[&str]) -> &mut Self {
        let mut replies = replies.iter();
        let mut received = None;
        loop {
            let step = match self.session.next_step(received.take()) {
                Ok(step) => step,
                Err(error) => {
                    self.log.push(format!("= {}", error_text(&error)));
                    break;
                }
            };
            match step {
                SessionStep::Send(commands) => {
                    let sent: Vec<String> = commands.iter().map(ToString::to_string).collect();
                    self.log.push(format!("C {}", sent.join(" | ")));
                }
                SessionStep::AwaitReply => match replies.next() {
                    Some(text) => received = Some(reply(text)),
                    None => {
                        self.log.push("= no reply".to_owned());
                        break;
                    }
                },
                SessionStep::AskPassword => {
                    self.log.push("= ask".to_owned());
                    self.session.provide_password(b"typed").expect("no forbidden byte");
                }
                SessionStep::Ready => {
                    let port = self.session.take_port();
                    let metadata = self.session.metadata();
                    self.log.push(format!("= ready {port:?} {:?}", metadata.size));
                    self.session.start_transfer(self.offset, self.ahead);
                }
                SessionStep::ReceiveData => self.log.push("= receive".to_owned()),
                SessionStep::Done => {
                    self.log.push("= done".to_owned());
                    break;
                }
            }
        }
        assert_eq!(replies.next(), None, "unused reply: {:#?}", self.log);
        self
    }

    #[track_caller]
    pub(super) fn assert_log(&mut self, expected: &str) -> &mut Self {
        let expected: Vec<&str> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        assert_eq!(std::mem::take(&mut self.log), expected);
        self
    }
}

fn error_text(error: &SessionError) -> String {
    match error {
        SessionError::AccountNeeded(_) => "account needed".to_owned(),
        SessionError::TransferFailed(reply) => format!("transfer failed {}", reply.code),
        SessionError::Closing(_) => "closing".to_owned(),
        SessionError::Forbidden(_) => "forbidden".to_owned(),
        SessionError::UnreachableDir => "unreachable directory".to_owned(),
        SessionError::UnexpectedReply { command, reply } => {
            format!("unexpected reply {command:?} {}", reply.code)
        }
        SessionError::Rejected { command, is_return_to_login_dir, reply } => {
            let detail = match command {
                Some(command) if command.contains_iac() => " iac",
                Some(command) if command.argument() == Some(b"") => " null",
                _ if *is_return_to_login_dir => " login dir",
                _ => "",
            };
            format!("rejected {:?} {}{detail}", command.as_ref().map(Command::verb), reply.code)
        }
    }
}

pub(super) const HELLO: [&str; 3] = ["220 (vsFTPd 3.0.3)", "331 password", "230 in"];
pub(super) const FILE: [&str; 4] = ["200 I", "213 10", "213 19941201123456", "229 ok (|||2000|)"];

#[test]
fn without_pipelining_each_command_waits_for_its_reply() {
    let replies = [&HELLO[..], &["250 a", "250 b"], &FILE, &["150 here", "226 done"]].concat();
    Scenario::anonymous(Pipelining::Off).start("ftp://h/a/b/c").run(&replies).assert_log(
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
fn pipelining_sends_commands_in_few_batches() {
    let replies = [&HELLO[..], &["250 a", "250 b"], &FILE, &["150 here", "226 done"]].concat();
    Scenario::anonymous(Pipelining::AfterLogin).start("ftp://h/a/b/c").run(&replies).assert_log(
        "C USER anonymous
         C PASS ***
         C CWD a | CWD b | TYPE I | SIZE c | MDTM c | EPSV
         = ready Some(2000) Some(10)
         C RETR c
         = receive
         = done",
    );
    // EPSV is sent first, so that its reply is not the last one.
    let (rest, end) = (["250 a", "250 b", "200 I", "213 10", "213 19941201123456"], ["150 here", "226 done"]);
    let replies = [&HELLO[..], &["229 ok (|||2000|)"], &rest, &end].concat();
    Scenario::anonymous(Pipelining::BeforeGreeting).start("ftp://h/a/b/c").run(&replies).assert_log(
        "C USER anonymous | PASS *** | EPSV | CWD a | CWD b | TYPE I | SIZE c | MDTM c
         = ready Some(2000) Some(10)
         C RETR c
         = receive
         = done",
    );
    // A secret password is sent only after the server has asked for it.
    let login = Login::new(b"me", Some(b"secret"), None).expect("no forbidden byte");
    Scenario::new(Pipelining::BeforeGreeting, login).start("ftp://h/a/b/c").run(&replies).assert_log(
        "C USER me
         C PASS *** | EPSV | CWD a | CWD b | TYPE I | SIZE c | MDTM c
         = ready Some(2000) Some(10)
         C RETR c
         = receive
         = done",
    );
}

#[test]
fn login_commands_follow_the_replies() {
    let me = |password: Option<&[u8]>, account: Option<&[u8]>| {
        Login::new(b"me", password, account).expect("no forbidden byte")
    };
    let rest = ["229 ok (|||2000|)", "150 here", "226 done"];
    let end = "= ready Some(2000) None\nC NLST\n= receive\n= done";
    let play = |login, replies: &[&str], log: &str| {
        let replies = [&["220 hello"], replies, &rest].concat();
        let log = format!("{log}\n{end}");
        Scenario::new(Pipelining::Off, login).start("ftp://h").run(&replies).assert_log(&log);
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
fn rejected_or_unexpected_login_replies_are_errors() {
    let play = |pipelining, replies: &[&str], fault: &str| {
        let login = Login::new(b"me", Some(b"x"), None).expect("no forbidden byte");
        let mut scenario = Scenario::new(pipelining, login);
        scenario.start("ftp://h").run(replies);
        assert_eq!(scenario.log.last().map(String::as_str), Some(fault), "{replies:?}");
    };
    for pipelining in [Pipelining::Off, Pipelining::AfterLogin] {
        play(pipelining, &["421 too many"], "= closing");
        play(pipelining, &["120 in an hour"], "= rejected None 120");
        play(pipelining, &["500 no"], "= rejected None 500");
        play(pipelining, &["200 in"], "= unexpected reply None 200");
        play(pipelining, &["220 hello", "530 no"], "= rejected Some(User) 530");
        play(pipelining, &["220 hello", "220 hello"], "= unexpected reply Some(User) 220");
        play(pipelining, &["220 hello", "331 pw", "421 bye"], "= closing");
    }
    play(Pipelining::Off, &["220 hello", "331 pw", "530 no"], "= rejected Some(Pass) 530");
    // The commands that were sent after the password are answered, too.
    play(
        Pipelining::BeforeGreeting,
        &["220 hello", "331 pw", "530 no", "530 log in"],
        "= rejected Some(Pass) 530",
    );
    play(
        Pipelining::BeforeGreeting,
        &["220 hello", "331 pw", "530 no", "421 bye"],
        "= rejected Some(Pass) 530",
    );
    play(Pipelining::Off, &["220 hello", "331 pw", "331 pw"], "= unexpected reply Some(Pass) 331");
    play(Pipelining::Off, &["220 hello", "331 pw", "332 acct"], "= account needed");
}

#[test]
fn password_is_not_sent_when_user_is_enough() {
    let replies = ["220 hello", "230 in", "230 already", "229 ok (|||2000|)", "150 here", "226 done"];
    Scenario::anonymous(Pipelining::BeforeGreeting).start("ftp://h").run(&replies).assert_log(
        "C USER anonymous | PASS *** | EPSV
         = ready Some(2000) None
         C NLST
         = receive
         = done",
    );
    let replies = ["220 hello", "230 in", "229 ok (|||2000|)", "150 here", "226 done"];
    Scenario::anonymous(Pipelining::AfterLogin).start("ftp://h").run(&replies).assert_log(
        "C USER anonymous
         C EPSV
         = ready Some(2000) None
         C NLST
         = receive
         = done",
    );
}

#[test]
fn rejected_epsv_falls_back_to_pasv() {
    let play = |replies: &[&str]| {
        let replies = [&HELLO[..], replies].concat();
        let mut scenario = Scenario::anonymous(Pipelining::Off);
        scenario.start("ftp://h").run(&replies);
        scenario.log.split_off(2)
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
            let log = play(&[refused, garbage]);
            assert_eq!(
                log.last().map(String::as_str),
                Some("= unexpected reply Some(Pasv) 227"),
                "{garbage}"
            );
        }
        assert_eq!(play(&[refused, "502 no"]).last().map(String::as_str), Some("= rejected Some(Pasv) 502"));
    }
    assert_eq!(play(&["425 later", "502 no"]).last().map(String::as_str), Some("= rejected Some(Pasv) 502"));
}

#[test]
fn rejected_eprt_falls_back_to_port_in_active_mode() {
    let mode =
        DataMode::Active { eprt: Some("|1|127.0.0.1|9|".to_owned()), port: Some("127,0,0,1,0,9".to_owned()) };
    let mut scenario = Scenario::anonymous(Pipelining::Off);
    scenario
        .session
        .start_request(&request("ftp://h", &RequestOptions::default()), &mode)
        .expect("a reachable directory");
    let replies = [&HELLO[..], &["500 what", "200 ok", "150 here", "226 done"]].concat();
    scenario.run(&replies).assert_log(
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
fn transfer_with_offset_sends_rest_and_reports_its_rejection() {
    let mut scenario = Scenario::anonymous(Pipelining::AfterLogin);
    scenario.offset = 4;
    let replies = [&HELLO[..], &FILE, &["350 from 4", "150 here", "226 done"]].concat();
    scenario.start("ftp://h/c").run(&replies);
    assert_eq!(scenario.log[4..], ["C REST 4 | RETR c", "= receive", "= done"]);
    assert!(!scenario.session.was_rest_rejected());

    let mut scenario = Scenario::anonymous(Pipelining::Off);
    scenario.offset = 4;
    let replies = [&HELLO[..], &FILE, &["502 no", "150 here", "226 done"]].concat();
    scenario.start("ftp://h/c").run(&replies);
    assert!(scenario.session.was_rest_rejected());
}

#[test]
fn rejected_size_and_mdtm_do_not_fail_the_request() {
    for refusal in ["550 no", "500 what", "213 many", "450 later", "202 not here"] {
        let replies =
            [&HELLO[..], &["200 I", refusal, refusal, "229 ok (|||2000|)", "150 here", "226 done"]].concat();
        let mut scenario = Scenario::anonymous(Pipelining::AfterLogin);
        scenario.start("ftp://h/c").run(&replies);
        assert_eq!(scenario.log.last().map(String::as_str), Some("= done"), "{refusal}");
        assert_eq!(scenario.session.metadata().size, None, "{refusal}");
    }
}

#[test]
fn rejected_command_ends_the_request() {
    let play = |pipelining, replies: &[&str]| {
        let replies = [&HELLO[..], replies].concat();
        let mut scenario = Scenario::anonymous(pipelining);
        scenario.start("ftp://h/a/%FF/c").run(&replies);
        scenario.log.pop().unwrap_or_default()
    };
    assert_eq!(play(Pipelining::Off, &["550 no"]), "= rejected Some(Cwd) 550");
    assert_eq!(play(Pipelining::Off, &["250 ok", "550 no"]), "= rejected Some(Cwd) 550 iac");
    // With pipelining, the replies after the first rejection are read and ignored.
    let later_replies = ["250 ok", "200 I", "550 no", "550 no", "229 ok (|||2000|)"];
    assert_eq!(
        play(Pipelining::AfterLogin, &[&["550 no"], &later_replies[..]].concat()),
        "= rejected Some(Cwd) 550"
    );
    assert_eq!(play(Pipelining::Off, &["250 ok", "250 ok", "504 no"]), "= rejected Some(Type) 504");
    let to_retr = ["250 ok", "250 ok", "200 I", "213 10", "213 19941201123456", "229 ok (|||2000|)"];
    for (last, log) in [
        (&["550 no"][..], "= rejected Some(Retr) 550"),
        (&["226 done"], "= unexpected reply Some(Retr) 226"),
        (&["150 here", "426 broken"], "= transfer failed 426"),
        (&["150 here", "451 disk"], "= transfer failed 451"),
        (&["150 here", "150 here"], "= unexpected reply Some(Retr) 150"),
        (&["150 here", "421 bye"], "= closing"),
        (&["150 here"], "= no reply"),
    ] {
        assert_eq!(play(Pipelining::AfterLogin, &[&to_retr[..], last].concat()), log, "{last:?}");
    }
}

#[test]
fn unexpected_reply_codes_are_errors() {
    let to = |replies: &[&str]| {
        let replies = [&HELLO[..], replies].concat();
        let mut scenario = Scenario::anonymous(Pipelining::Off);
        scenario.start("ftp://h/a/c").run(&replies);
        scenario.log.pop().unwrap_or_default()
    };
    assert_eq!(to(&["330 in"]), "= unexpected reply Some(Cwd) 330");
    assert_eq!(to(&["150 x"]), "= unexpected reply Some(Cwd) 150");
    assert_eq!(to(&["250 ok", "350 ok"]), "= unexpected reply Some(Type) 350");
    // A reply to SIZE or MDTM never fails the request; without pipelining, any positive reply is accepted for it.
    assert_eq!(to(&["250 ok", "200 I", "200 ok", "250 x"]), "= no reply");
    assert_eq!(to(&["250 ok", "200 I", "331 ok"]), "= unexpected reply Some(Size) 331");
    assert_eq!(to(&["250 ok", "200 I", "213 1", "213 1", "150 x"]), "= unexpected reply Some(Epsv) 150");
}

#[test]
fn listing_commands_follow_url_and_options() {
    let options = |list_verb| RequestOptions { list_verb, ..RequestOptions::default() };
    for (url, verb, sent) in [
        ("ftp://h", ListVerb::Nlst, "C NLST"),
        ("ftp://h/", ListVerb::Nlst, "C NLST"),
        ("ftp://h/d;type=d", ListVerb::Nlst, "C NLST d"),
        ("ftp://h", ListVerb::Mlsd, "C MLSD"),
        ("ftp://h/;type=d", ListVerb::List, "C LIST"),
    ] {
        let replies = [&HELLO[..], &["229 ok (|||2000|)", "150 here", "226 done"]].concat();
        Scenario::anonymous(Pipelining::AfterLogin).start_with(url, &options(verb)).run(&replies).assert_log(
            &format!(
                "C USER anonymous
             C PASS ***
             C EPSV
             = ready Some(2000) None
             {sent}
             = receive
             = done"
            ),
        );
    }
}

/// A late 226 of an earlier transfer looks like the reply of an empty directory.
#[test]
fn listing_that_ends_without_150_is_empty_only_if_noop_is_answered_next() {
    for (replies, end) in [
        (&["226 none", "200 ok"][..], "= done"),
        (&["226 none", "220 ok"], "= done"),
        (&["250 none", "502 what"], "= done"),
        (&["226 late", "150 here"], "= unexpected reply Some(Noop) 150"),
        (&["226 late", "226 none"], "= unexpected reply Some(Noop) 226"),
        (&["226 late", "450 none"], "= unexpected reply Some(Noop) 450"),
        (&["226 late", "550 none"], "= unexpected reply Some(Noop) 550"),
    ] {
        let options = RequestOptions { list_verb: ListVerb::Nlst, ..RequestOptions::default() };
        for pipelining in [Pipelining::Off, Pipelining::AfterLogin] {
            let mut scenario = Scenario::anonymous(pipelining);
            let replies = [&HELLO[..], &["229 ok (|||2000|)"], replies].concat();
            scenario.start_with("ftp://h", &options).run(&replies);
            let log = &scenario.log[scenario.log.len() - 4..];
            assert_eq!(log, ["= ready Some(2000) None", "C NLST", "C NOOP", end], "{replies:?}");
        }
    }
}

#[test]
fn empty_cwd_argument_is_sent_and_its_rejection_reported() {
    let mut scenario = Scenario::anonymous(Pipelining::Off);
    scenario.start("ftp://h//etc/motd").run(&[&HELLO[..], &["501 what"]].concat());
    assert_eq!(scenario.log.pop().as_deref(), Some("= rejected Some(Cwd) 501 null"));
    let options = RequestOptions { method: CwdMethod::NoCwd, ..RequestOptions::default() };
    let mut line = Vec::new();
    request("ftp://h//etc/motd", &options)
        .commands()
        .expect("no forbidden byte")
        .last()
        .expect("one")
        .write_line(&mut line, IacEscaping::Plain);
    assert_eq!(line, b"RETR /etc/motd\r\n");
}

#[test]
fn transfer_is_sent_with_size_and_mdtm_when_the_data_connection_is_open() {
    let mut scenario = Scenario::anonymous(Pipelining::AfterLogin);
    scenario.ahead = true;
    let replies = [&HELLO[..], &FILE, &["150 here", "226 done", "229 ok (|||2001|)"]].concat();
    scenario.start("ftp://h/c").run(&replies[..replies.len() - 1]).log.clear();
    let ahead =
        scenario.session.next_step(Some(reply("229 ok (|||2001|)"))).expect("it is the reply to EPSV");
    assert_eq!((ahead, scenario.session.take_port()), (SessionStep::Done, Some(2001)));
    scenario
        .session
        .start_request(&request("ftp://h/d", &RequestOptions::default()), &DataMode::AlreadyOpening)
        .expect("a reachable directory");
    scenario.session.start_transfer(0, true);
    scenario.run(&["213 10", "213 19941201123456", "150 here", "226 done"]).assert_log(
        "C SIZE d | MDTM d | RETR d | EPSV
         = receive
         = done",
    );
    assert_eq!(scenario.session.metadata().size, Some(10));
}

/// Returns the commands that a session sends while the replies arrive in two parts, and whether it completed.
fn commands_sent_to(bytes: &[u8], cut: usize) -> (Vec<String>, bool) {
    let mut scenario = Scenario::anonymous(Pipelining::AfterLogin);
    scenario.start("ftp://h/a/b/c");
    let (mut reader, mut buffer) = (ReplyReader::new(), RecvBuffer::new());
    buffer.push(&bytes[..cut]);
    let (mut received, mut is_second) = (None, false);
    loop {
        match scenario.session.next_step(received.take()).expect("no error") {
            SessionStep::Send(commands) => scenario.log.extend(commands.iter().map(ToString::to_string)),
            SessionStep::AwaitReply => loop {
                received = reader.read_reply(&mut buffer).expect("replies");
                match received {
                    Some(_) => break,
                    None if is_second => return (scenario.log, false),
                    None => buffer.push(&bytes[cut..]),
                }
                is_second = true;
            },
            SessionStep::Ready => scenario.session.start_transfer(0, false),
            SessionStep::ReceiveData => scenario.log.push("receive".to_owned()),
            SessionStep::Done => return (scenario.log, true),
            SessionStep::AskPassword => panic!("a password is known"),
        }
    }
}

#[test]
fn commands_do_not_depend_on_how_replies_are_split() {
    let server =
        b"220-hello\r\n 220 not yet\r\n220 now\r\n331 who?\r\n230-in\r\n230 in\r\n250 a\r\n250 b\r\n\
        200 I\r\n213 10\r\n213 19941201123456\r\n229 ok (|||2000|)\r\n150 here\r\n226 done\r\n";
    let (expected, is_done) = commands_sent_to(server, server.len());
    assert!(is_done && expected.len() == 10, "{expected:?}");
    for cut in 0..server.len() {
        assert_eq!(commands_sent_to(server, cut), (expected.clone(), true), "cut at {cut}");
        // The session waits for missing replies, and sends nothing that depends on them.
        let (sent, is_done) = commands_sent_to(&server[..cut], cut);
        assert!(!is_done && expected.starts_with(&sent), "ends at {cut}: {sent:?}");
    }
}
