//! Random sequences of requests to servers of many kinds: each answer belongs to its request, and commands that a
//! server must not receive are never sent.

use fetch_url_proto::nntp::{
    ArticleAt, ArticlePart, GroupName, ListForm, Login, MessageId, NewsRequest, Session, SessionOptions,
    StartTls,
};
use fetch_url_proto::{Event, Machine, RecvBuffer, Step};

const RUNS: u64 = 4000;
/// The groups and the numbers of their articles. The message-id of article 4 of group `g` is `g4@x`.
const GROUPS: [(&str, &[u64]); 3] = [("e", &[]), ("g", &[1, 2, 4, 5, 7]), ("h", &[2, 3, 4])];

/// A pseudo-random generator with a fixed seed.
struct Dice(u64);

impl Dice {
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
    is_sn: bool,
    knows_keywords: bool,
    names_articles: bool,
    overview: Option<&'static str>,
    tells_capabilities: bool,
    wants_login: bool,
    wants_reader: bool,
    wants_tls: bool,

    selected: Option<&'static str>,
    is_deflated: bool,
    is_known: bool,
    is_reader: bool,
    is_secure: bool,
    heard: Vec<String>,
}

impl Server {
    fn any(dice: &mut Dice) -> Self {
        Self {
            allows_clear: dice.one_in(2),
            compresses: dice.one_in(2),
            has_tls: dice.one_in(2),
            is_sn: dice.one_in(3),
            knows_keywords: !dice.one_in(3),
            names_articles: !dice.one_in(4),
            overview: [Some("OVER"), Some("XOVER"), None]
                [usize::try_from(dice.below(3)).expect("it is small")],
            tells_capabilities: dice.one_in(2),
            wants_login: dice.one_in(3),
            wants_reader: dice.one_in(4),
            wants_tls: dice.one_in(4),
            selected: None,
            is_deflated: false,
            is_known: false,
            is_reader: false,
            is_secure: dice.one_in(3),
            heard: Vec::new(),
        }
    }

    fn once(&self, command: &str) {
        let times = self.heard.iter().filter(|heard| *heard == command).count();
        assert!(times <= 1, "{command} {times} times: {self:#?}");
    }

    /// Returns the reply to a command.
    fn reply(&mut self, command: &str) -> String {
        self.heard.push(command.to_owned());
        match command {
            "CAPABILITIES" if !self.tells_capabilities => return "500 what\r\n".to_owned(),
            "CAPABILITIES" => return self.capabilities(),
            "STARTTLS" => return self.start_tls(),
            "MODE READER" => {
                assert!(!self.is_known && !self.is_deflated, "{self:#?}");
                self.is_reader = true;
                return "200 hi\r\n".to_owned();
            }
            "COMPRESS DEFLATE" => {
                assert!(!self.is_deflated && self.tells_capabilities && self.compresses, "{self:#?}");
                self.is_deflated = true;
                return "206 go on\r\n".to_owned();
            }
            _ if command.starts_with("AUTHINFO") => return self.log_in(command),
            _ if self.wants_reader && !self.is_reader => "500 what\r\n",
            _ if self.wants_tls && !self.is_secure => "483 TLS\r\n",
            _ if self.wants_login && !self.is_known => "480 who\r\n",
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
        self.once("STARTTLS");
        assert!(!self.is_secure && !self.is_deflated && !self.is_known, "{self:#?}");
        self.is_secure = self.has_tls;
        self.selected = None;
        if self.has_tls { "382 go on\r\n" } else { "580 no\r\n" }.to_owned()
    }

    fn log_in(&mut self, command: &str) -> String {
        self.once("AUTHINFO PASS canary");
        assert!((self.is_secure || self.allows_clear) && !self.is_deflated, "{self:#?}");
        if self.wants_tls && !self.is_secure {
            return "483 TLS\r\n".to_owned();
        }
        if command == "AUTHINFO USER me" {
            return "381 and?\r\n".to_owned();
        }
        assert_eq!(command, "AUTHINFO PASS canary");
        (self.is_known, self.selected) = (true, None);
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
            return if self.is_sn { "430 no\r\n" } else { "423 no\r\n" }.to_owned();
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
fn errand(dice: &mut Dice) -> (NewsRequest, Option<String>) {
    let (name, numbers) = [GROUPS[0], GROUPS[1], GROUPS[2], ("none", &[][..])]
        [usize::try_from(dice.below(4)).expect("it is small")];
    let group = GroupName::new(name.as_bytes()).expect("a group");
    let (part, verb) =
        [(ArticlePart::Article, "ARTICLE"), (ArticlePart::Body, "BODY"), (ArticlePart::Head, "HEAD")]
            [usize::try_from(dice.below(3)).expect("it is small")];
    let number = dice.below(8);
    let article = numbers.contains(&number).then(|| text_of(name, number, verb));
    let subjects = |first, last| {
        let wanted = numbers.iter().filter(|number| (first..=last).contains(*number));
        wanted.map(|number| format!("{name}{number} ")).collect::<String>()
    };
    match dice.below(10) {
        0 => (NewsRequest::Group(group), (name != "none").then(String::new)),
        1 => {
            (NewsRequest::Overview(group, None, ListForm::Entries), (name != "none").then(|| subjects(0, 9)))
        }
        2 => {
            let (first, last) = (dice.below(5), dice.below(9));
            let ask = NewsRequest::Overview(group, Some((first, last)), ListForm::Entries);
            (ask, (name != "none").then(|| subjects(first, last)))
        }
        3 => (NewsRequest::Groups(None, ListForm::Entries), Some("e g h ".to_owned())),
        4..=6 => {
            let id = MessageId::new(format!("{name}{number}@x").as_bytes()).expect("an id");
            (NewsRequest::Article(ArticleAt::Id(id), part), article)
        }
        _ => (NewsRequest::Article(ArticleAt::Number(group, number), part), article),
    }
}

fn terms(dice: &mut Dice, server: &Server) -> SessionOptions {
    let mut terms = SessionOptions::default();
    terms.is_secure = server.is_secure;
    terms.clear_login = server.allows_clear;
    terms.start_tls = if dice.one_in(3) { StartTls::Try } else { StartTls::Never };
    terms.login = (!dice.one_in(3)).then(|| Login::new(b"me", b"canary").expect("nothing is forbidden"));
    // TLS and MODE READER are not possible after compression, so a server that requires them gets no compression.
    terms.plain_lists = server.wants_tls || server.wants_reader;
    terms
}

#[derive(Debug, PartialEq)]
enum Answer {
    Found(String),
    Refused(u32),
    /// The session cannot continue.
    Over,
}

fn answers(server: &mut Server, terms: SessionOptions, asks: &[NewsRequest], dice: &mut Dice) -> Vec<Answer> {
    let mut session = Session::new(terms);
    asks.iter().for_each(|ask| session.add_request(ask.clone()));
    let (mut buffer, mut line) = (RecvBuffer::new(), b"200 hi\r\n".to_vec());
    let (mut answers, mut found) = (Vec::new(), String::new());
    while answers.len() < asks.len() {
        match session.step(&mut buffer) {
            Ok(Step::NeedMore) => {
                let length = usize::try_from(dice.below(40)).expect("it is small") + 1;
                let piece: Vec<u8> = line.drain(..length.min(line.len())).collect();
                assert!(!piece.is_empty(), "both wait: {server:#?}");
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
            Err(_) => answers.push(Answer::Over),
        }
        if answers.last() == Some(&Answer::Over) {
            break;
        }
    }
    answers
}

fn word(entry: &fetch_url_proto::Entry) -> String {
    match &entry.details {
        fetch_url_proto::Details::Article(facts) => {
            let subject = String::from_utf8_lossy(&facts.subject);
            assert!(subject.ends_with(&facts.number.to_string()));
            format!("{subject} ")
        }
        _ => format!("{} ", String::from_utf8_lossy(&entry.name)),
    }
}

#[test]
fn every_answer_is_the_one_to_its_question() {
    let mut dice = Dice(1);
    for run in 0..RUNS {
        let mut server = Server::any(&mut dice);
        let terms = terms(&mut dice, &server);
        let can_log_in = terms.login.is_some() && (server.allows_clear || server.is_secure || server.has_tls);
        let can_have_tls = server.is_secure || server.has_tls;
        let is_open = (!server.wants_tls || can_have_tls) && (!server.wants_login || can_log_in);
        let (asks, truths): (Vec<NewsRequest>, Vec<Option<String>>) =
            (0..=dice.below(9)).map(|_| errand(&mut dice)).unzip();
        let answers = answers(&mut server, terms, &asks, &mut dice);
        for ((ask, truth), answer) in asks.iter().zip(&truths).zip(&answers) {
            let is_right = match (truth, answer) {
                (Some(truth), Answer::Found(found)) => truth == found,
                (None, Answer::Refused(411 | 412 | 423 | 430)) => true,
                (_, Answer::Refused(480 | 483 | 500 | 580) | Answer::Over) => !is_open,
                _ => false,
            };
            assert!(is_right, "{run}: {ask:?}\n{truth:?}\n{answer:?}\n{server:#?}");
        }
        assert!(!is_open || answers.len() == asks.len(), "{run}: {server:#?}");
    }
}
