//! Arbitrary bytes as the replies of an FTP server, for several requests over one session: no panic and a bounded number
//! of steps; the same result wherever the bytes are cut; a secret password is sent only after a reply that asks for it
//! and is never shown; each request becomes ready, receives data and ends at most once; a transfer starts only in the
//! directory of its request.
//!
//! The first byte selects the session, the second one the requests.
#![no_main]

use std::collections::VecDeque;

use fetch_url_core::{Url, parse};
use fetch_url_proto::ftp::{
    Command, CwdMethod, DataMode, FtpRequest, IacEscaping, ListVerb, Login, Pipelining, RequestOptions,
    Session, SessionError, SessionStep, Verb,
};
use fetch_url_proto::text::{Reply, ReplyReader};
use fetch_url_proto::{RecvBuffer, WireError};
use libfuzzer_sys::fuzz_target;

/// It does not begin with a hexadecimal digit, which could end an escape such as `\x8c`.
const SECRET: &[u8] = b"sesame";
/// Maximum number of steps of a request beside those that follow a reply.
const MAX_STEPS: usize = 64;
/// Maximum number of steps that follow a reply.
const MAX_STEPS_PER_REPLY: usize = 4;

const URLS: [[&str; 3]; 4] = [
    ["ftp://h/a/b", "ftp://h/a/c", "ftp://h/a/d/e"],
    ["ftp://h/a/", "ftp://h/b/c;type=a", "ftp://h/a/b"],
    ["ftp://h/a", "ftp://h/a/b/", "ftp://h/"],
    ["ftp://h/b/a/c", "ftp://h/x", "ftp://h/b/y;type=d"],
];

fuzz_target!(|data: &[u8]| {
    let [session, requests, replies @ ..] = data else { return };
    let play = |length: usize| Play::new(*session, replies).run(*requests, replies.chunks(length));
    let whole = play(replies.len().max(1));
    for length in [1, 2, 7] {
        assert_eq!(play(length), whole, "{length}");
    }
});

fn pipelining(choice: u8) -> Pipelining {
    [Pipelining::Off, Pipelining::AfterLogin, Pipelining::BeforeGreeting][usize::from(choice & 3) % 3]
}

fn login(choice: u8) -> Login {
    let account = (choice & 0x10 != 0).then_some(SECRET);
    let login = match choice >> 2 & 3 {
        0 => Login::anonymous(b"me@", account),
        1 => Login::new(b"me", None, account),
        _ => Login::new(b"me", Some(SECRET), account),
    };
    let login = login.expect("no forbidden byte");
    if choice & 0x20 == 0 { login } else { login.with_protection() }
}

fn request(text: &str, choice: u8) -> FtpRequest {
    let options = RequestOptions {
        method: if choice & 0x04 == 0 { CwdMethod::MultiCwd } else { CwdMethod::SingleCwd },
        stat_only: choice & 0x08 != 0,
        ascii: false,
        list: false,
        list_verb: if choice & 0x10 == 0 { ListVerb::Mlsd } else { ListVerb::Nlst },
        queries_time_of_text: false,
    };
    let parsed = parse(text).expect("a URL");
    let Url::Ftp(url) = parsed.url else { panic!("{text}") };
    FtpRequest::new(&url, &options).expect("no forbidden byte")
}

fn data_mode(choice: u8) -> DataMode {
    match choice >> 5 & 3 {
        0 => DataMode::Passive,
        1 => DataMode::PasvOnly,
        2 => DataMode::Active {
            eprt: Some("|1|127.0.0.1|9|".to_owned()),
            port: Some("127,0,0,1,0,9".to_owned()),
        },
        _ => DataMode::Active { eprt: None, port: Some("127,0,0,1,0,9".to_owned()) },
    }
}

/// The server as the replies describe it: which commands are pending, and what its directory is.
#[derive(Default)]
struct Server {
    /// The greeting is the first `None`.
    pending: VecDeque<Option<Command>>,
    /// The accepted CWDs since the login or since the last CWD to `login_dir`.
    cwds: Vec<Vec<u8>>,
    login_dir: Option<Vec<u8>>,
    last_code: u16,
}

impl Server {
    fn reply(&mut self, reply: &Reply) {
        self.last_code = reply.code;
        let is_first_of_two = matches!(self.pending.front(), Some(Some(command)) if command.verb().is_transfer())
            && reply.code < 200;
        let Some(Some(command)) = (if is_first_of_two { None } else { self.pending.pop_front() }) else {
            return;
        };
        let argument = command.argument().unwrap_or_default();
        match (command.verb(), reply.code) {
            (Verb::Cwd, 200..=299) if self.login_dir.as_deref() == Some(argument) => self.cwds.clear(),
            (Verb::Cwd, 200..=299) => self.cwds.push(argument.to_vec()),
            (Verb::Pwd, 257) => {
                let text = reply.lines.last().expect("a line");
                self.login_dir = text.split(|&byte| byte == b'"').nth(1).map(<[u8]>::to_vec);
            }
            _ => {}
        }
    }
}

/// The current request.
#[derive(Default)]
struct Progress {
    is_ready: bool,
    has_received: bool,
    is_started: bool,
}

struct Play {
    session: Session,
    server: Server,
    log: Vec<String>,
    hides_secret: bool,
    has_secret_login: bool,
    is_stepwise: bool,
}

impl Play {
    fn new(choice: u8, replies: &[u8]) -> Self {
        let mut session = Session::new(pipelining(choice), login(choice));
        if choice & 0x40 != 0 {
            session = session.querying_login_dir();
        }
        let server = Server { pending: VecDeque::from([None]), ..Server::default() };
        // A server that sends the secret itself is not a leak.
        let hides_secret = !replies.windows(SECRET.len()).any(|part| part == SECRET);
        let has_secret_login = choice >> 2 & 3 != 0;
        let is_stepwise = pipelining(choice) == Pipelining::Off;
        Self { session, server, log: Vec::new(), hides_secret, has_secret_login, is_stepwise }
    }

    fn run<'o>(mut self, choice: u8, mut pieces: impl Iterator<Item = &'o [u8]>) -> Vec<String> {
        let (mut reader, mut buffer) = (ReplyReader::new(), RecvBuffer::new());
        for url in URLS[usize::from(choice & 3)] {
            let request = request(url, choice);
            let needed = self.session.cwds_needed(&request);
            match self.session.start_request(&request, &data_mode(choice)) {
                Ok(()) => assert!(needed.is_some()),
                Err(error) => {
                    assert_eq!((error, needed), (SessionError::UnreachableDir, None));
                    continue;
                }
            }
            let mut next = || loop {
                match reader.read_reply(&mut buffer) {
                    Ok(Some(reply)) => return Ok(reply),
                    Ok(None) => match pieces.next() {
                        Some(piece) => buffer.push(piece),
                        None => buffer.mark_closed(),
                    },
                    Err(error) => return Err(error),
                }
            };
            if !self.run_request(&request, choice, &mut next) {
                break;
            }
        }
        let shown = format!("{:?} {:?}", self.log, self.session);
        assert!(!self.hides_secret || !shown.contains("sesame"), "{shown}");
        self.log
    }

    /// Returns `true` if the session can be used for another request.
    fn run_request(
        &mut self,
        request: &FtpRequest,
        choice: u8,
        next: &mut dyn FnMut() -> Result<Reply, WireError>,
    ) -> bool {
        let (mut received, mut progress, mut left) = (None, Progress::default(), MAX_STEPS);
        loop {
            left -= 1;
            assert!(left > 0, "too many steps: {:?}", self.log);
            match self.session.next_step(received.take()) {
                Ok(SessionStep::AwaitReply) => match next() {
                    Ok(reply) => {
                        self.server.reply(&reply);
                        (received, left) = (Some(reply), left + MAX_STEPS_PER_REPLY);
                    }
                    Err(error) => {
                        self.log.push(error.to_string());
                        return false;
                    }
                },
                Ok(SessionStep::Done) => {
                    assert!(progress.is_started, "{:?}", self.log);
                    self.log.push("done".to_owned());
                    return true;
                }
                Ok(SessionStep::Ready) if request.commands().is_ok_and(|all| !ends_with_transfer(&all)) => {
                    self.check_dir(request);
                    self.log.push(format!("metadata {:?}", self.session.metadata()));
                    return true;
                }
                Ok(step) => self.perform(step, request, choice, &mut progress),
                Err(error) => {
                    self.log.push(format!("{error:?}"));
                    return matches!(error, SessionError::Rejected { command: Some(_), .. });
                }
            }
        }
    }

    fn perform(&mut self, step: SessionStep, request: &FtpRequest, choice: u8, progress: &mut Progress) {
        match step {
            SessionStep::Send(commands) => self.check_sent(&commands, progress),
            SessionStep::AskPassword => {
                assert!((300..400).contains(&self.server.last_code), "{:?}", self.log);
                self.session.provide_password(SECRET).expect("no forbidden byte");
            }
            SessionStep::Ready => {
                assert!(!std::mem::replace(&mut progress.is_ready, true), "{:?}", self.log);
                assert!(self.server.pending.is_empty());
                self.check_dir(request);
                self.log.push(format!("ready {:?} {:?}", self.session.take_port(), self.session.metadata()));
                self.session.start_transfer(u64::from(choice & 0x80), choice & 0x40 != 0);
            }
            SessionStep::ReceiveData => {
                assert!(progress.is_started && !std::mem::replace(&mut progress.has_received, true));
                self.log.push("data".to_owned());
            }
            SessionStep::AwaitReply | SessionStep::Done => unreachable!(),
        }
    }

    /// A transfer command names a file relative to the directory, so the directory must be that of the request.
    fn check_dir(&self, request: &FtpRequest) {
        assert_eq!(self.server.cwds, request.cwds, "{:?}", self.log);
    }

    fn check_sent(&mut self, commands: &[Command], progress: &mut Progress) {
        assert!(!commands.is_empty() && (!self.is_stepwise || commands.len() == 1));
        for command in commands {
            let mut line = Vec::new();
            command.write_line(&mut line, IacEscaping::Plain);
            let text = line.strip_suffix(b"\r\n").expect("a line");
            assert!(!text.contains(&b'\r') && !text.contains(&b'\n'));
            // The password is sent only if the server asks for it, the account only after 332.
            let is_asked_for = match command.verb() {
                Verb::Pass if self.has_secret_login => (300..400).contains(&self.server.last_code),
                Verb::Acct => self.server.last_code == 332,
                _ => true,
            };
            assert!(is_asked_for, "{command} after {}: {:?}", self.server.last_code, self.log);
            if command.verb().is_transfer() {
                assert!(progress.is_ready && !std::mem::replace(&mut progress.is_started, true));
            }
            self.log.push(format!("{command:?}"));
            self.server.pending.push_back(Some(command.clone()));
        }
    }
}

fn ends_with_transfer(commands: &[Command]) -> bool {
    commands.last().is_some_and(|command| command.verb().is_transfer())
}
