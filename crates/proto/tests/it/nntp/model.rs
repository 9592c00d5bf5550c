//! Random sequences of requests to servers of many kinds: each answer belongs to its request, and commands that a
//! server must not receive are never sent.

use fetch_url_proto::nntp::{
    ArticleAddress, ArticlePart, GroupName, ListForm, Login, MessageId, NewsRequest, Session, SessionOptions,
    StartTls,
};
use fetch_url_proto::{Event, Machine, RecvBuffer, Step};

const RUNS: u64 = 4000;
/// The groups and the numbers of their articles. The message-id of article 4 of group `g` is `g4@x`.
const GROUPS: [(&str, &[u64]); 3] = [("e", &[]), ("g", &[1, 2, 4, 5, 7]), ("h", &[2, 3, 4])];

/// A pseudo-random generator with a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }
}

/// The properties of a server, and its state.
#[derive(Debug)]
struct Server {
    allows_clear: bool,
    compresses: bool,
    has_tls: bool,
    /// Replies 430 where other servers reply 423.
    replies_430: bool,
    knows_keywords: bool,
    names_articles: bool,
    overview: Option<&'static str>,
    has_capabilities: bool,
    requires_login: bool,
    requires_mode_reader: bool,
    requires_tls: bool,

    selected: Option<&'static str>,
    is_deflated: bool,
    is_logged_in: bool,
    is_reader: bool,
    is_secure: bool,
    commands: Vec<String>,
}

impl Server {
    fn random(random: &mut Random) -> Self {
        Self {
            allows_clear: random.one_in(2),
            compresses: random.one_in(2),
            has_tls: random.one_in(2),
            replies_430: random.one_in(3),
            knows_keywords: !random.one_in(3),
            names_articles: !random.one_in(4),
            overview: [Some("OVER"), Some("XOVER"), None]
                [usize::try_from(random.below(3)).expect("it is small")],
            has_capabilities: random.one_in(2),
            requires_login: random.one_in(3),
            requires_mode_reader: random.one_in(4),
            requires_tls: random.one_in(4),
            selected: None,
            is_deflated: false,
            is_logged_in: false,
            is_reader: false,
            is_secure: random.one_in(3),
            commands: Vec::new(),
        }
    }

    fn assert_at_most_once(&self, command: &str) {
        let times = self.commands.iter().filter(|commands| *commands == command).count();
        assert!(times <= 1, "{command} {times} times: {self:#?}");
    }

    /// Returns the reply to a command.
    fn reply(&mut self, command: &str) -> String {
        self.commands.push(command.to_owned());
        match command {
            "CAPABILITIES" if !self.has_capabilities => return "500 what\r\n".to_owned(),
            "CAPABILITIES" => return self.capabilities(),
            "STARTTLS" => return self.start_tls(),
            "MODE READER" => {
                assert!(!self.is_logged_in && !self.is_deflated, "{self:#?}");
                self.is_reader = true;
                return "200 hi\r\n".to_owned();
            }
            "COMPRESS DEFLATE" => {
                assert!(!self.is_deflated && self.has_capabilities && self.compresses, "{self:#?}");
                self.is_deflated = true;
                return "206 go on\r\n".to_owned();
            }
            _ if command.starts_with("AUTHINFO") => return self.log_in(command),
            _ if self.requires_mode_reader && !self.is_reader => "500 what\r\n",
            _ if self.requires_tls && !self.is_secure => "483 TLS\r\n",
            _ if self.requires_login && !self.is_logged_in => "480 who\r\n",
            _ => return self.answer(command),
        }
        .to_owned()
    }

    fn capabilities(&self) -> String {
        let over = if self.overview == Some("OVER") { "OVER\r\n" } else { "" };
        let compress = if self.compresses && !self.is_deflated { "COMPRESS DEFLATE\r\n" } else { "" };
        format!("101 list\r\nVERSION 2\r\nREADER\r\n{over}{compress}.\r\n")
    }

    fn start_tls(&mut self) -> String {
        self.assert_at_most_once("STARTTLS");
        assert!(!self.is_secure && !self.is_deflated && !self.is_logged_in, "{self:#?}");
        self.is_secure = self.has_tls;
        self.selected = None;
        if self.has_tls { "382 go on\r\n" } else { "580 no\r\n" }.to_owned()
    }

    fn log_in(&mut self, command: &str) -> String {
        self.assert_at_most_once("AUTHINFO PASS canary");
        assert!((self.is_secure || self.allows_clear) && !self.is_deflated, "{self:#?}");
        if self.requires_tls && !self.is_secure {
            return "483 TLS\r\n".to_owned();
        }
        if command == "AUTHINFO USER me" {
            return "381 and?\r\n".to_owned();
        }
        assert_eq!(command, "AUTHINFO PASS canary");
        (self.is_logged_in, self.selected) = (true, None);
        "281 in\r\n".to_owned()
    }

    fn answer(&mut self, command: &str) -> String {
        let (verb, argument) = command.split_once(' ').unwrap_or((command, ""));
        match verb {
            "GROUP" => self.group(argument),
            "ARTICLE" | "BODY" | "HEAD" => self.article(verb, argument),
            "OVER" | "XOVER" if self.overview.is_none_or(|known| known != verb) => "500 what\r\n".to_owned(),
            "OVER" | "XOVER" => self.lines(argument),
            "LIST" if argument == "ACTIVE" && !self.knows_keywords => "501 what\r\n".to_owned(),
            "LIST" => "215 list\r\ne 0 1 y\r\ng 7 1 y\r\nh 4 2 y\r\n.\r\n".to_owned(),
            _ => panic!("{command}: {self:#?}"),
        }
    }

    fn group(&mut self, name: &str) -> String {
        let Some((name, numbers)) = GROUPS.into_iter().find(|(known, _)| *known == name) else {
            return "411 no such group\r\n".to_owned();
        };
        self.selected = Some(name);
        let (low, high) = (numbers.first().unwrap_or(&1), numbers.last().unwrap_or(&0));
        format!("211 {} {low} {high} {name}\r\n", numbers.len())
    }

    fn article(&self, verb: &str, argument: &str) -> String {
        let code = match verb {
            "ARTICLE" => 220,
            "BODY" => 222,
            _ => 221,
        };
        let (name, number, shown) = if let Some(id) = argument.strip_prefix('<') {
            let Some((name, number)) = of_id(id.trim_end_matches('>')) else {
                return "430 no\r\n".to_owned();
            };
            (name, number, 0)
        } else {
            let Some(name) = self.selected else { return "412 no group\r\n".to_owned() };
            let number = argument.parse().expect("a number");
            (name, number, number)
        };
        let numbers = GROUPS.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, numbers)| numbers);
        if !numbers.contains(&number) {
            return if self.replies_430 { "430 no\r\n" } else { "423 no\r\n" }.to_owned();
        }
        let named = if self.names_articles { format!(" {shown} <{name}{number}@x>") } else { String::new() };
        let text = text_of(name, number, verb).replace("\r\n.", "\r\n..");
        format!("{code}{named}\r\n{text}.\r\n")
    }

    fn lines(&self, range: &str) -> String {
        let Some(name) = self.selected else { return "412 no group\r\n".to_owned() };
        let (first, last) = range.split_once('-').expect("two numbers");
        let (first, last): (u64, u64) = (first.parse().expect("a number"), last.parse().expect("a number"));
        let numbers = GROUPS.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, numbers)| numbers);
        let lines: String = numbers
            .iter()
            .filter(|number| (first..=last).contains(number))
            .map(|number| format!("{number}\t{name}{number}\tme\r\n"))
            .collect();
        if lines.is_empty() { "423 none\r\n".to_owned() } else { format!("224 list\r\n{lines}.\r\n") }
    }
}

/// Returns the group and the number of a message-id, if the article exists.
fn of_id(id: &str) -> Option<(&'static str, u64)> {
    let all = GROUPS.iter().flat_map(|(name, numbers)| numbers.iter().map(move |number| (*name, *number)));
    all.into_iter().find(|(name, number)| id == format!("{name}{number}@x"))
}

fn text_of(name: &str, number: u64, verb: &str) -> String {
    let (head, body) = (format!("Subject: {name}{number}\r\n"), format!("text\r\n.{name}{number}\r\n"));
    match verb {
        "ARTICLE" => format!("{head}\r\n{body}"),
        "BODY" => body,
        _ => head,
    }
}

/// Returns a random request and its correct answer, or `None` if the object does not exist.
fn random_request(random: &mut Random) -> (NewsRequest, Option<String>) {
    let (name, numbers) = [GROUPS[0], GROUPS[1], GROUPS[2], ("none", &[][..])]
        [usize::try_from(random.below(4)).expect("it is small")];
    let group = GroupName::new(name.as_bytes()).expect("a group");
    let (part, verb) =
        [(ArticlePart::Article, "ARTICLE"), (ArticlePart::Body, "BODY"), (ArticlePart::Head, "HEAD")]
            [usize::try_from(random.below(3)).expect("it is small")];
    let number = random.below(8);
    let article = numbers.contains(&number).then(|| text_of(name, number, verb));
    let subjects = |first, last| {
        let wanted = numbers.iter().filter(|number| (first..=last).contains(*number));
        wanted.map(|number| format!("{name}{number} ")).collect::<String>()
    };
    match random.below(10) {
        0 => (NewsRequest::Group(group), (name != "none").then(String::new)),
        1 => {
            (NewsRequest::Overview(group, None, ListForm::Entries), (name != "none").then(|| subjects(0, 9)))
        }
        2 => {
            let (first, last) = (random.below(5), random.below(9));
            let request = NewsRequest::Overview(group, Some((first, last)), ListForm::Entries);
            (request, (name != "none").then(|| subjects(first, last)))
        }
        3 => (NewsRequest::Groups(None, ListForm::Entries), Some("e g h ".to_owned())),
        4..=6 => {
            let id = MessageId::new(format!("{name}{number}@x").as_bytes()).expect("an id");
            (NewsRequest::Article(ArticleAddress::Id(id), part), article)
        }
        _ => (NewsRequest::Article(ArticleAddress::Number(group, number), part), article),
    }
}

fn options(random: &mut Random, server: &Server) -> SessionOptions {
    let mut options = SessionOptions::default();
    options.is_secure = server.is_secure;
    options.allow_plaintext_login = server.allows_clear;
    options.start_tls = if random.one_in(3) { StartTls::Try } else { StartTls::Never };
    options.login = (!random.one_in(3)).then(|| Login::new(b"me", b"canary").expect("nothing is forbidden"));
    // TLS and MODE READER are not possible after compression, so a server that requires them gets no compression.
    options.uncompressed_lists = server.requires_tls || server.requires_mode_reader;
    options
}

#[derive(Debug, PartialEq)]
enum Answer {
    Found(String),
    Refused(u32),
    /// The session cannot continue.
    Closed,
}

fn answers(
    server: &mut Server,
    options: SessionOptions,
    requests: &[NewsRequest],
    random: &mut Random,
) -> Vec<Answer> {
    let mut session = Session::new(options);
    requests.iter().for_each(|request| session.add_request(request.clone()));
    let (mut buffer, mut line) = (RecvBuffer::new(), b"200 hi\r\n".to_vec());
    let (mut answers, mut found) = (Vec::new(), String::new());
    while answers.len() < requests.len() {
        match session.step(&mut buffer) {
            Ok(Step::NeedMore) => {
                let length = usize::try_from(random.below(40)).expect("it is small") + 1;
                let piece: Vec<u8> = line.drain(..length.min(line.len())).collect();
                assert!(!piece.is_empty(), "client and server both wait: {server:#?}");
                buffer.push(&piece);
            }
            Ok(Step::Send(bytes)) => {
                let text = std::str::from_utf8(&bytes).expect("text");
                text.split_terminator("\r\n").for_each(|command| line.extend(server.reply(command).bytes()));
            }
            Ok(Step::Done) => answers.push(Answer::Found(std::mem::take(&mut found))),
            Ok(Step::Emit(Event::Body(bytes))) => found.push_str(std::str::from_utf8(&bytes).expect("text")),
            Ok(Step::Emit(Event::Entry(entry))) => found.push_str(&word(&entry)),
            Ok(Step::Emit(Event::Rejected(refused))) => {
                assert_eq!(found, "");
                answers.push(Answer::Refused(refused.code.expect("a code")));
            }
            Ok(Step::Emit(Event::Head(_)) | Step::StartTls | Step::StartDeflate) => {}
            Ok(step) => panic!("{step:?}"),
            Err(_) => answers.push(Answer::Closed),
        }
        if answers.last() == Some(&Answer::Closed) {
            break;
        }
    }
    answers
}

fn word(entry: &fetch_url_proto::Entry) -> String {
    match &entry.details {
        fetch_url_proto::Details::Article(details) => {
            let subject = String::from_utf8_lossy(&details.subject);
            assert!(subject.ends_with(&details.number.to_string()));
            format!("{subject} ")
        }
        _ => format!("{} ", String::from_utf8_lossy(&entry.name)),
    }
}

#[test]
fn each_request_receives_its_own_answer_from_random_servers() {
    let mut random = Random(1);
    for run in 0..RUNS {
        let mut server = Server::random(&mut random);
        let options = options(&mut random, &server);
        let can_log_in =
            options.login.is_some() && (server.allows_clear || server.is_secure || server.has_tls);
        let can_have_tls = server.is_secure || server.has_tls;
        let can_succeed = (!server.requires_tls || can_have_tls) && (!server.requires_login || can_log_in);
        let (requests, all_expected): (Vec<NewsRequest>, Vec<Option<String>>) =
            (0..=random.below(9)).map(|_| random_request(&mut random)).unzip();
        let answers = answers(&mut server, options, &requests, &mut random);
        for ((request, expected), answer) in requests.iter().zip(&all_expected).zip(&answers) {
            let is_correct = match (expected, answer) {
                (Some(expected), Answer::Found(found)) => expected == found,
                (None, Answer::Refused(411 | 412 | 423 | 430)) => true,
                (_, Answer::Refused(480 | 483 | 500 | 580) | Answer::Closed) => !can_succeed,
                _ => false,
            };
            assert!(is_correct, "{run}: {request:?}\n{expected:?}\n{answer:?}\n{server:#?}");
        }
        assert!(!can_succeed || answers.len() == requests.len(), "{run}: {server:#?}");
    }
}
