//! Items behind a form (SEMANTICS.md §4, RFC 1738 §3.4.9): filled by `--form`, or by a person at the terminal; who
//! is never sent an answer; and answers that nobody else may see (SECURITY.md, rows 29, 36 and 39).

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;
use std::path::Path;

use fetch_url_tests::GopherAsk::{Ask, AskF, AskL, AskP, Choose, ChooseF, Note, Select};
use fetch_url_tests::{GopherForm, GopherItem, GopherServer, GopherSite, HttpReply, Terminal};
use serde_json::Value;
use support::{BINARY, Ran, fetch, fetch_in, names, serving, shell};

fn serve(site: GopherSite) -> GopherServer {
    GopherServer::start(site).expect("a server on loopback")
}

/// A server with this form at `/ask`, which answers with what it was told.
fn asking(form: GopherForm) -> GopherServer {
    serve(GopherSite::new().plus().item(GopherItem::text("/ask", "").form(form)))
}

/// A question of each kind.
fn long() -> GopherForm {
    let form =
        GopherForm::new().ask(Note, "Tell us about you.").ask(Ask, "Your name?").ask(Ask, "Town:\tParis");
    let form = form
        .ask(AskP, "Password")
        .ask(AskL, "A story")
        .ask(AskF, "Save as?")
        .ask(Choose, "Colour\tred\tdark green");
    form.ask(Select, "News?:0").ask(ChooseF, "A file").ask(Note, "Thank you.")
}

fn filled(server: &GopherServer, directory: &Path, answers: &[&str]) -> Ran {
    let url = server.url("0/ask");
    let words = answers.iter().flat_map(|answer| ["--form", answer]);
    fetch_in(directory, words.chain([url.as_str()]))
}

fn place() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

#[test]
fn every_kind_of_question() {
    let (server, here) = (asking(long()), place());
    fs::write(here.path().join("story"), "once\n\n.dot\r\nend").expect("a file");
    fs::write(here.path().join("file"), "one line\n").expect("a file");
    let answers = ["Your name?=Jo=e", "Password=geheim", "A story=@story", "Save as?=f", "Colour=dark green"];
    let ran = filled(&server, here.path(), &[&answers[..], &["News?=yes", "A file=@file"]].concat());
    ran.exits(0);
    let block = "+-1\r\nJo=e\r\nParis\r\ngeheim\r\n4\r\nonce\r\n\r\n..dot\r\nend\r\nf\r\ndark green\r\n1\r\n1\r\none line\r\n.\r\n";
    assert_eq!(server.dialogue(), ["/ask\t!\r\n".to_owned(), format!("/ask\t+\t1\r\n{block}")]);
    assert_eq!(server.answers()[0][3], b"once\n\n.dot\nend");
    assert_eq!(names(here.path()), ["file", "story"], "a form writes no file");
    assert!(ran.text().starts_with("Jo=e\nParis\ngeheim\n"), "{}", ran.text());
}

/// By text or by number, with or without what is only there to look good; the last one counts.
#[test]
fn names_of_questions() {
    let form = || GopherForm::new().ask(Note, "n").ask(Ask, "Your name?").ask(Ask, "Town:\tParis");
    for (answers, expected) in [
        (&["Your name?=a", "Town:=b"][..], ["a", "b"]),
        (&["1=a", "2=b"], ["a", "b"]),
        (&["2=b", "1=a"], ["a", "b"]),
        (&["your NAME=a", "town=b"], ["a", "b"]),
        (&["1=a", "1=c"], ["c", "Paris"]),
        (&["Your name?=a", "1=c"], ["c", "Paris"]),
        (&["1=", "2="], ["", ""]),
        (&["1=a=b"], ["a=b", "Paris"]),
        (&["1= a b ", "2=caf\u{e9}"], [" a b ", "caf\u{e9}"]),
        (&["1=.", "2=..b"], [".", "..b"]),
        (&["1=@@me", "2=@@@x"], ["@me", "@@x"]),
        (&["1=a@b", "2=+-1"], ["a@b", "+-1"]),
    ] {
        let server = asking(form());
        filled(&server, Path::new("/"), answers).exits(0);
        let told = server.answers().concat();
        assert_eq!(told, expected.map(|text| text.as_bytes().to_vec()), "{answers:?}");
    }
}

/// What does not fit is a mistake of the caller's: it is told, and nothing is sent.
#[test]
fn answers_that_do_not_fit() {
    let here = place();
    fs::write(here.path().join("lines"), "a\nb\n").expect("a file");
    fs::write(here.path().join("nul"), "a\0b").expect("a file");
    let form = || GopherForm::new().ask(Ask, "Name").ask(Choose, "Colour\tred\tgreen").ask(Select, "News:0");
    for (answers, words) in [
        (&["Nam=a"][..], "Nam"),
        (&["1=a", "4=b"], "4"),
        (&["0=a"], "0"),
        (&["2=red"], "Name"),
        (&["1=a"], "Colour"),
        (&["1=a", "2=blue"], "choices"),
        (&["1=a", "2="], "choices"),
        (&["1=a", "2=3"], "choices"),
        (&["1=a", "2=red", "3=maybe"], "0 or 1"),
        (&["1=a\nQUIT", "2=red"], "LF"),
        (&["1=a\r\n.\r\n", "2=red"], "CR"),
        (&["1=@lines", "2=red"], "LF"),
        (&["1=@nul", "2=red"], "NUL"),
        (&["1=@missing", "2=red"], "missing"),
        (&["1=@.", "2=red"], "."),
        (&["1"], "NAME=VALUE"),
        (&["=a"], ""),
    ] {
        let server = asking(form());
        let ran = filled(&server, here.path(), answers);
        assert!([2, 93, 78, 9, 23].contains(&ran.exit) && ran.stderr.contains(words), "{answers:?}: {ran:?}");
        assert!(server.answers().is_empty() && !server.dialogue().concat().contains("+-1"), "{answers:?}");
    }
    // By number where no text is the same.
    let server = asking(form());
    filled(&server, here.path(), &["1=a", "2=2", "3=on"]).exits(0);
    assert_eq!(server.answers(), [[b"a".to_vec(), b"green".to_vec(), b"1".to_vec()]]);
}

/// Where nobody can be asked, the form is shown with the numbers that answer it, and nothing is sent.
#[test]
fn nobody_answers() {
    let server = asking(long());
    let text = fetch([server.url("0/ask%09%09?")]).exits(0).text();
    for words in [
        "Tell us about you.",
        "1. Your name?",
        "2. Town",
        "Paris",
        "3. Password",
        "6. Colour",
        "8. A file",
        "Thank you.",
    ] {
        assert!(text.contains(words), "no {words:?} in {text}");
    }
    let ran = fetch(["--format", "json", &server.url("0/ask%09%09?")]);
    let entry: Value = serde_json::from_str(&ran.exits(0).text()).expect("JSON");
    assert_eq!(entry["attributes"]["ASK"].as_array().map(Vec::len), Some(10), "{entry}");
    // Row 39: nor does it hang, or ask where it cannot be seen.
    for line in ["setsid -w \"$F\" \"$1\" </dev/null", "echo me | \"$F\" \"$1\""] {
        let ran = shell(line, [server.url("0/ask%09%09?")]);
        assert_eq!((ran.exits(0).text().as_str(), ran.stderr.as_str()), (text.as_str(), ""), "{line}");
    }
    assert!(server.answers().is_empty() && server.dialogue().iter().all(|line| line == "/ask\t!\r\n"));
}

/// Whatever shape the answer is to have, the form is filled.
#[test]
fn in_every_format() {
    for format in ["text", "json", "raw"] {
        let form = GopherForm::new().ask(Ask, "Name").reply("0found\t/f\th\t70\r\n");
        let server = serve(GopherSite::new().plus().item(GopherItem::new('1', "/ask", "").form(form)));
        for path in ["1/ask", "1/ask%09%09?", "1/ask%09%09+"] {
            let ran = fetch(["--format", format, "--form", "Name=x", &server.url(path)]);
            assert!(ran.exits(0).text().contains("found"), "{format} {path}: {}", ran.text());
            assert_eq!(server.dialogue().last().map(String::as_str), Some("/ask\t+\t1\r\n+-1\r\nx\r\n.\r\n"));
        }
        let shown = fetch(["--format", format, &server.url("1/ask%09%09?")]);
        assert!(shown.exits(0).text().contains("Name"), "{format}: {}", shown.text());
    }
}

/// An item without a form gets no answer, and no server without Gopher+.
#[test]
fn no_form() {
    let item = GopherItem::text("/ask", "no form\r\n").about(&["x"]);
    for site in
        [GopherSite::new().plus().item(item.clone()), GopherSite::new().item(item), GopherSite::new().plus()]
    {
        let server = serve(site);
        for path in ["0/ask", "0/ask%09%09?"] {
            let ran = fetch(["--form", "1=geheim", &server.url(path)]);
            assert!(ran.exits(78).stdout.is_empty() && !ran.stderr.contains("geheim"), "{path}: {ran:?}");
        }
        assert!(!server.dialogue().concat().contains("geheim"), "{:?}", server.dialogue());
    }
    // A refusal of the answers is told with the server's words.
    let server = asking(GopherForm::new().ask(Ask, "Name"));
    let ran = fetch([server.url("0/ask%09%09+%091%0D%0A+-1%0D%0Aa%0D%0Ab%0D%0A.%0D%0A")]);
    ran.exits(78).says("1 lines too many");
}

/// Row 36: at the highest verbosity an answer is nowhere but on the wire.
#[test]
fn answers_are_not_shown() {
    let here = place();
    fs::write(here.path().join("word"), "Kanarienvogel").expect("a file");
    for (value, reply) in [("Password=Kanarienvogel", "thanks"), ("1=@word", "thanks")] {
        let server = asking(GopherForm::new().ask(AskP, "Password").reply(reply));
        let url = server.url("0/ask");
        for loud in ["-v", "-vv", "-vvv"] {
            let words = [
                loud, "--trace", "trace", "--events", "events", "-o", "out", "-w", "%{json}", "--form",
                value, &url,
            ];
            let ran = fetch_in(here.path(), words);
            ran.exits(0).says("/ask\\t!");
            let files = ["trace", "events", "out"]
                .map(|name| fs::read_to_string(here.path().join(name)).unwrap_or_default());
            let all = [&files.concat(), &ran.stderr, &ran.text()].map(|text| text.contains("Kanarienvogel"));
            assert_eq!(all, [false; 3], "{loud}: {} {files:?}", ran.stderr);
        }
        assert_eq!(server.answers().len(), 3);
    }
    // Nor when it is refused.
    let server = asking(GopherForm::new().ask(AskP, "Password").ask(Ask, "Name"));
    for words in [
        &["--form", "Password=Kanarienvogel"][..],
        &["--form", "Passwort=Kanarienvogel"],
        &["--form", "1=Kanarienvogel\n"],
    ] {
        let url = server.url("0/ask");
        let ran = fetch([words, &["-vvv", "--format", "json", &url]].concat());
        assert!(ran.exit != 0 && !format!("{ran:?}").contains("Kanarienvogel"), "{ran:?}");
    }
}

/// A server may lead to gopher where that was allowed; it cannot have a form filled there.
#[test]
fn no_answer_abroad() {
    let stranger = asking(GopherForm::new().ask(AskP, "Password"));
    let filled = stranger.url("0/ask%09%09+%091%0D%0A+-1%0D%0AMAIL%0D%0A.%0D%0A");
    let plain = stranger.url("0/ask%09%09?");
    let home = serving(move |request| {
        let target = if request.path() == "/filled" { &filled } else { &plain };
        HttpReply::new(302).header("Location", target)
    });
    fetch([home.url("/filled")]).exits(90);
    fetch(["--proto-redir", "+gopher", &home.url("/filled")]).exits(90);
    assert_eq!(stranger.connections(), 0, "not even asked for its form");
    // The form may be seen, and the caller's answers are for the server that he named.
    let shown = fetch(["--proto-redir", "+gopher", &home.url("/plain")]);
    assert!(shown.exits(0).text().contains("1. Password"), "{}", shown.text());
    let ran = fetch(["--proto-redir", "+gopher", "--form", "Password=geheim", &home.url("/plain")]);
    assert!(stranger.answers().is_empty(), "the caller's password went to a stranger: {ran:?}");
}

/// The program in a terminal of 80 columns, with nothing of the tests' own environment.
fn terminal(words: &[&str], url: &str) -> Terminal {
    let arguments = [&["-i", "PATH=/usr/bin:/bin", BINARY, "--retry", "0"], words, &[url]].concat();
    Terminal::run("env", &arguments, 80).expect("a terminal")
}

#[test]
fn a_person_is_asked() {
    let (server, here) = (asking(long()), place());
    let path = here.path().join("file");
    fs::write(&path, "one line\n").expect("a file");
    let mut person = terminal(&[], &server.url("0/ask%09%09?"));
    let mut say = |question: &str, answer: &str| {
        person.expect(question).expect("a question");
        if question == "Password" { person.type_secret(answer) } else { person.type_line(answer) }
            .expect("typed");
    };
    say("Your name?", "Joe");
    say("Paris", "");
    say("Password", "Kanarienvogel");
    say("A story", "once\n.hidden\n\nend\n.");
    say("Save as?", "f");
    say("Colour", "dark green");
    say("News?", "1");
    say("A file", "/nowhere/at/all");
    say("A file", path.to_str().expect("UTF-8"));
    assert_eq!(person.exit().expect("an end"), 0, "{}", person.screen());
    let told = server.answers().concat();
    let told: Vec<&str> = told.iter().filter_map(|answer| std::str::from_utf8(answer).ok()).collect();
    assert_eq!(
        told,
        ["Joe", "Paris", "Kanarienvogel", "once\n.hidden\n\nend", "f", "dark green", "1", "one line"]
    );
    let screen = person.screen();
    let place = |words: &str| screen.find(words).unwrap_or_else(|| panic!("no {words:?} in {screen}"));
    assert!(place("Tell us about you.") < place("Your name?") && place("red") < place("Colour"), "{screen}");
    // The server repeats all it was told: that is the only place where the password is.
    assert_eq!((screen.matches("Kanarienvogel").count(), screen.matches("Joe").count()), (1, 2), "{screen}");
}

/// What does not fit is asked again; Enter takes what is proposed, also of a password nothing.
#[test]
fn asked_again() {
    let form = GopherForm::new()
        .ask(Choose, "Colour\tred\tgreen")
        .ask(Select, "News?:1")
        .ask(AskP, "Word")
        .reply("thanks");
    let server = asking(form);
    let mut person = terminal(&[], &server.url("0/ask%09%09?"));
    for wrong in ["blue", "3", ""] {
        person.expect("Colour").expect("a question");
        person.type_line(wrong).expect("typed");
    }
    person.expect("Colour").expect("the same question");
    person.type_line("2").expect("typed");
    person.expect("News?").expect("a question");
    person.type_line("perhaps").expect("typed");
    person.expect("News?").expect("the same question");
    person.type_line("").expect("typed");
    person.expect("Word").expect("a question");
    person.type_secret("").expect("no echo");
    assert_eq!(person.exit().expect("an end"), 0, "{}", person.screen());
    assert_eq!(server.answers(), [[b"green".to_vec(), b"1".to_vec(), Vec::new()]]);
    assert!(person.screen().contains("thanks"), "{}", person.screen());
}

/// Only what the caller did not say is asked.
#[test]
fn the_rest_is_asked() {
    let form = GopherForm::new()
        .ask(Note, "Hello.")
        .ask(Ask, "Name")
        .ask(Note, "And then")
        .ask(Ask, "Town")
        .ask(Note, "Bye.");
    let server = asking(form.reply("thanks"));
    let mut person = terminal(&["--form", "1=Joe"], &server.url("0/ask"));
    person.expect("Town").expect("a question");
    person.type_line("Bonn").expect("typed");
    assert_eq!(person.exit().expect("an end"), 0, "{}", person.screen());
    assert_eq!(server.answers(), [[b"Joe".to_vec(), b"Bonn".to_vec()]]);
    let screen = person.screen();
    assert!(screen.contains("And then") && !screen.contains("Name"), "{screen}");
    // A file that cannot be read is asked for again, or an error; nothing is sent.
    let server = asking(GopherForm::new().ask(ChooseF, "A file"));
    let mut person = terminal(&[], &server.url("0/ask%09%09?"));
    person.expect("A file").expect("a question");
    person.type_line("/nowhere/at/all").expect("typed");
    person.type_octets(&[3]).expect("Ctrl-C");
    assert!([2, -2, 78].contains(&person.exit().expect("an end")), "{}", person.screen());
    assert!(server.answers().is_empty());
}

/// Ctrl-C at a question: dead of SIGINT, the terminal is as it was, and nothing was sent. Ctrl-D: no answer.
#[test]
fn away_from_the_question() {
    for kind in [Ask, AskP, AskL, ChooseF, Select] {
        let server = asking(GopherForm::new().ask(kind, "Quo vadis"));
        let line = "trap : INT; \"$0\" --retry 0 \"$1\"; echo \"status $?\"; stty -a | tr ' ;' '\\n\\n' | grep -E '^-*(echo|icanon|isig)$'; echo end";
        let run = || {
            Terminal::run("sh", &["-c", line, BINARY, &server.url("0/ask%09%09?")], 80).expect("a terminal")
        };
        let mut person = run();
        person.expect("Quo vadis").expect("a question");
        std::thread::sleep(std::time::Duration::from_millis(100));
        person.type_octets(&[3]).expect("Ctrl-C");
        person.expect("status 130").unwrap_or_else(|error| panic!("{kind:?}: {error}"));
        person.expect("end").expect("an end");
        let screen = person.screen();
        for mode in ["\nisig\n", "\nicanon\n", "\necho\n"] {
            assert!(screen.contains(mode), "{kind:?}: {screen}");
        }
        let mut person = run();
        person.expect("Quo vadis").expect("a question");
        std::thread::sleep(std::time::Duration::from_millis(100));
        person.type_octets(&[4]).expect("Ctrl-D");
        person.expect("status ").unwrap_or_else(|error| panic!("{kind:?}: {error}"));
        person.expect("\necho").expect("echo as before");
        assert!(!person.screen().contains("status 0"), "{kind:?}: {}", person.screen());
        assert!(
            server.answers().is_empty() && server.dialogue().iter().all(|line| line == "/ask\t!\r\n"),
            "{kind:?}"
        );
    }
}

/// A form of a stranger does nothing to the terminal, and reads no file that it names itself.
#[test]
fn a_hostile_form() {
    let evil = "\u{1b}[2J\u{9b}31m\u{202e}\u{7}\u{8}";
    let form = GopherForm::new()
        .ask(Note, format!("note {evil}"))
        .ask(Choose, format!("choose {evil}\t{evil}a\t{evil}b"));
    let form =
        form.ask(ChooseF, "File?\t/etc/passwd").ask(Ask, format!("name {evil}\t{evil}")).reply("thanks");
    let server = asking(form);
    let mut person = terminal(&[], &server.url("0/ask%09%09?"));
    for (question, answer) in [("choose", "wrong"), ("choose", "1"), ("File?", "/dev/null"), ("name", "x")] {
        person.expect(question).expect("a question");
        person.type_line(answer).expect("typed");
    }
    assert_eq!(person.exit().expect("an end"), 0, "{}", person.screen());
    let is_raw =
        |character: char| character.is_control() && !"\r\n\t".contains(character) || character == '\u{202e}';
    assert!(!person.screen().contains(is_raw), "{:?}", person.screen());
    assert_eq!(server.answers()[0][1], b"");
    // Where nobody is asked, a proposed name of a file is none.
    let ran = fetch(["--form", "1=1", &server.url("0/ask")]);
    ran.exits(2).says("File?");
    assert_eq!(server.answers().len(), 1);
}

/// curl's --form is another: where it would do nothing, it is refused.
#[test]
fn not_for_other_schemes() {
    fetch(["--form", "name=value", "http://127.0.0.1:9/"]).exits(2).says("Gopher+");
}
