//! Gopher+ forms (docs/spec/semantics.md §4, RFC 1738 §3.4.9): filled by `--form` or by a person at the terminal;
//! servers that must not receive answers; secrecy of the answers (docs/spec/faults.md, rows 29, 36 and 39).

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::{fetch_with_short_timeouts, start_server};
use crate::support::{
    BINARY, RunResult, entry_names, http_server, run_fetch_url, run_fetch_url_in, run_shell, temp_dir,
};
use fetch_url_tests::GopherAsk::{Ask, AskF, AskL, AskP, Choose, ChooseF, Note, Select};
use fetch_url_tests::{
    Ending, GopherAction, GopherConfig, GopherForm, GopherItem, GopherServer, GopherTrigger, HttpResponse,
    Terminal,
};
use serde_json::Value;

/// Starts a server with this form at `/ask`, which echoes the answers it receives.
fn form_server(form: GopherForm) -> GopherServer {
    start_server(GopherConfig::new().plus().item(GopherItem::text("/ask", "").form(form)))
}

/// A form with a question of each kind.
fn form_with_all_kinds() -> GopherForm {
    let form =
        GopherForm::new().ask(Note, "Tell us about you.").ask(Ask, "Your name?").ask(Ask, "Town:\tParis");
    let form = form
        .ask(AskP, "Password")
        .ask(AskL, "A story")
        .ask(AskF, "Save as?")
        .ask(Choose, "Colour\tred\tdark green");
    form.ask(Select, "News?:0").ask(ChooseF, "A file").ask(Note, "Thank you.")
}

/// Fetches `/ask` with one `--form` option for each answer.
fn fetch_with_answers(server: &GopherServer, directory: &Path, answers: &[&str]) -> RunResult {
    let url = server.url("0/ask");
    let options = answers.iter().flat_map(|answer| ["--form", answer]);
    run_fetch_url_in(directory, options.chain([url.as_str()]))
}

#[test]
fn form_options_answer_every_kind_of_question() {
    let (server, dir) = (form_server(form_with_all_kinds()), temp_dir());
    fs::write(dir.path().join("story"), "once\n\n.dot\r\nend").expect("write file");
    fs::write(dir.path().join("file"), "one line\n").expect("write file");
    let answers = ["Your name?=Jo=e", "Password=geheim", "A story=@story", "Save as?=f", "Colour=dark green"];
    let result =
        fetch_with_answers(&server, dir.path(), &[&answers[..], &["News?=yes", "A file=@file"]].concat());
    result.assert_exit(0);
    let block = "+-1\r\nJo=e\r\nParis\r\ngeheim\r\n4\r\nonce\r\n\r\n.dot\r\nend\r\nf\r\ndark green\r\n1\r\n1\r\none line\r\n.\r\n";
    assert_eq!(server.received_text(), ["/ask\t!\r\n".to_owned(), format!("/ask\t+\t1\r\n{block}")]);
    assert_eq!(server.form_answers()[0][3], b"once\n\n.dot\nend");
    assert_eq!(entry_names(dir.path()), ["file", "story"], "a form writes no file");
    assert!(result.stdout_text().starts_with("Jo=e\nParis\ngeheim\n"), "{}", result.stdout_text());
}

/// Case and trailing punctuation of the text do not matter; the last answer to a question counts.
#[test]
fn questions_are_named_by_text_or_number() {
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
        let server = form_server(form());
        fetch_with_answers(&server, Path::new("/"), answers).assert_exit(0);
        let answers_received = server.form_answers().concat();
        assert_eq!(answers_received, expected.map(|text| text.as_bytes().to_vec()), "{answers:?}");
    }
}

#[test]
fn invalid_answers_are_rejected_and_not_sent() {
    let dir = temp_dir();
    fs::write(dir.path().join("lines"), "a\nb\n").expect("write file");
    fs::write(dir.path().join("nul"), "a\0b").expect("write file");
    let form = || GopherForm::new().ask(Ask, "Name").ask(Choose, "Colour\tred\tgreen").ask(Select, "News:0");
    for (answers, expected) in [
        (&["Nam=a"][..], "Nam"),
        (&["1=a", "4=b"], "4"),
        (&["0=a"], "0"),
        (&["2=red"], "Name"),
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
        let server = form_server(form());
        let result = fetch_with_answers(&server, dir.path(), answers);
        assert!(
            [2, 93, 78, 9, 23].contains(&result.exit) && result.stderr.contains(expected),
            "{answers:?}: {result:?}"
        );
        assert!(
            server.form_answers().is_empty() && !server.received_text().concat().contains("+-1"),
            "{answers:?}"
        );
    }
    // A choice can be given by its number unless a choice has that text.
    let server = form_server(form());
    fetch_with_answers(&server, dir.path(), &["1=a", "2=2", "3=on"]).assert_exit(0);
    assert_eq!(server.form_answers(), [[b"a".to_vec(), b"green".to_vec(), b"1".to_vec()]]);
}

#[test]
fn form_without_answers_or_terminal_is_shown_with_question_numbers() {
    let server = form_server(form_with_all_kinds());
    let text = run_fetch_url([server.url("0/ask%09%09?")]).assert_exit(0).stdout_text();
    for expected in [
        "Tell us about you.",
        "1. Your name?",
        "2. Town",
        "Paris",
        "3. Password",
        "6. Colour",
        "8. A file",
        "Thank you.",
    ] {
        assert!(text.contains(expected), "no {expected:?} in {text}");
    }
    let result = run_fetch_url(["--format", "json", &server.url("0/ask%09%09?")]);
    let entry: Value = serde_json::from_str(&result.assert_exit(0).stdout_text()).expect("valid JSON");
    assert_eq!(entry["attributes"]["ASK"].as_array().map(Vec::len), Some(10), "{entry}");
    // docs/spec/faults.md, row 39: without a terminal, fetch-url prints the form and does not wait for input.
    for line in ["setsid -w \"$F\" \"$1\" </dev/null", "echo me | \"$F\" \"$1\""] {
        let result = run_shell(line, [server.url("0/ask%09%09?")]);
        assert_eq!(
            (result.assert_exit(0).stdout_text().as_str(), result.stderr.as_str()),
            (text.as_str(), ""),
            "{line}"
        );
    }
    assert!(
        server.form_answers().is_empty() && server.received_text().iter().all(|line| line == "/ask\t!\r\n")
    );
}

#[test]
fn form_is_submitted_in_every_output_format() {
    for format in ["text", "json", "raw"] {
        let form = GopherForm::new().ask(Ask, "Name").reply("0found\t/f\th\t70\r\n");
        let server =
            start_server(GopherConfig::new().plus().item(GopherItem::new('1', "/ask", "").form(form)));
        for path in ["1/ask", "1/ask%09%09?", "1/ask%09%09+"] {
            let result = run_fetch_url(["--format", format, "--form", "Name=x", &server.url(path)]);
            assert!(
                result.assert_exit(0).stdout_text().contains("found"),
                "{format} {path}: {}",
                result.stdout_text()
            );
            assert_eq!(
                server.received_text().last().map(String::as_str),
                Some("/ask\t+\t1\r\n+-1\r\nx\r\n.\r\n")
            );
        }
        let shown = run_fetch_url(["--format", format, &server.url("1/ask%09%09?")]);
        assert!(shown.assert_exit(0).stdout_text().contains("Name"), "{format}: {}", shown.stdout_text());
    }
}

/// Answers are not sent to an item without a form, with and without Gopher+.
#[test]
fn answers_are_not_sent_to_an_item_without_form() {
    let item = GopherItem::text("/ask", "no form\r\n").abstract_text(&["x"]);
    for config in [
        GopherConfig::new().plus().item(item.clone()),
        GopherConfig::new().item(item),
        GopherConfig::new().plus(),
    ] {
        let server = start_server(config);
        for path in ["0/ask", "0/ask%09%09?"] {
            let result = run_fetch_url(["--form", "1=geheim", &server.url(path)]);
            assert!(
                result.assert_exit(78).stdout.is_empty() && !result.stderr.contains("geheim"),
                "{path}: {result:?}"
            );
        }
        assert!(!server.received_text().concat().contains("geheim"), "{:?}", server.received_text());
    }
    // The error contains the server's message if the server rejects the answers.
    let server = form_server(GopherForm::new().ask(Ask, "Name"));
    let result = run_fetch_url([server.url("0/ask%09%09+%091%0D%0A+-1%0D%0Aa%0D%0Ab%0D%0A.%0D%0A")]);
    result.assert_exit(78).assert_stderr_contains("1 lines too many");
}

/// docs/spec/faults.md, row 36: answers are not printed, not even with `-vvv`.
#[test]
fn answers_do_not_appear_in_log_trace_events_or_output() {
    let dir = temp_dir();
    fs::write(dir.path().join("word"), "Kanarienvogel").expect("write file");
    for (value, reply) in [("Password=Kanarienvogel", "thanks"), ("1=@word", "thanks")] {
        let server = form_server(GopherForm::new().ask(AskP, "Password").reply(reply));
        let url = server.url("0/ask");
        for verbosity in ["-v", "-vv", "-vvv"] {
            let arguments = [
                verbosity, "--trace", "trace", "--events", "events", "-o", "out", "-w", "%{json}", "--form",
                value, &url,
            ];
            let result = run_fetch_url_in(dir.path(), arguments);
            result.assert_exit(0).assert_stderr_contains("/ask\\t!");
            let files = ["trace", "events", "out"]
                .map(|name| fs::read_to_string(dir.path().join(name)).unwrap_or_default());
            let all = [&files.concat(), &result.stderr, &result.stdout_text()]
                .map(|text| text.contains("Kanarienvogel"));
            assert_eq!(all, [false; 3], "{verbosity}: {} {files:?}", result.stderr);
        }
        assert_eq!(server.form_answers().len(), 3);
    }
    // Rejected answers are not printed either.
    let server = form_server(GopherForm::new().ask(AskP, "Password").ask(Ask, "Name"));
    for options in [
        &["--form", "Password=Kanarienvogel"][..],
        &["--form", "Passwort=Kanarienvogel"],
        &["--form", "1=Kanarienvogel\n"],
    ] {
        let url = server.url("0/ask");
        let result = run_fetch_url([options, &["-vvv", "--format", "json", &url]].concat());
        assert!(result.exit != 0 && !format!("{result:?}").contains("Kanarienvogel"), "{result:?}");
    }
}

/// `--proto-redir +gopher` allows a redirect to gopher, but the form of the redirect target is not submitted.
#[test]
fn redirect_target_receives_no_form_answers() {
    let target_server = form_server(GopherForm::new().ask(AskP, "Password"));
    let filled_form_url = target_server.url("0/ask%09%09+%091%0D%0A+-1%0D%0AMAIL%0D%0A.%0D%0A");
    let form_url = target_server.url("0/ask%09%09?");
    let first_server = http_server(move |request| {
        let target = if request.path() == "/filled" { &filled_form_url } else { &form_url };
        HttpResponse::new(302).header("Location", target)
    });
    run_fetch_url([first_server.url("/filled")]).assert_exit(90);
    run_fetch_url(["--proto-redir", "+gopher", &first_server.url("/filled")]).assert_exit(90);
    assert_eq!(target_server.connections(), 0, "the redirect target was contacted");
    // The form may be displayed; the answers are only for the server that the user named.
    let shown = run_fetch_url(["--proto-redir", "+gopher", &first_server.url("/plain")]);
    assert!(shown.assert_exit(0).stdout_text().contains("1. Password"), "{}", shown.stdout_text());
    let result =
        run_fetch_url(["--proto-redir", "+gopher", "--form", "Password=geheim", &first_server.url("/plain")]);
    assert!(
        target_server.form_answers().is_empty(),
        "the password was sent to the redirect target: {result:?}"
    );
}

/// Runs fetch-url in a terminal of 80 columns with an empty environment.
fn run_in_terminal(options: &[&str], url: &str) -> Terminal {
    let arguments = [&["-i", "PATH=/usr/bin:/bin", BINARY, "--retry", "0"], options, &[url]].concat();
    Terminal::run("env", &arguments, 80).expect("start terminal")
}

#[test]
fn terminal_user_is_asked_every_question() {
    let (server, dir) = (form_server(form_with_all_kinds()), temp_dir());
    let path = dir.path().join("file");
    fs::write(&path, "one line\n").expect("write file");
    let mut terminal = run_in_terminal(&[], &server.url("0/ask%09%09?"));
    let mut say = |question: &str, answer: &str| {
        terminal.expect(question).expect("question appears");
        if question == "Password" { terminal.type_secret(answer) } else { terminal.type_line(answer) }
            .expect("write to terminal");
    };
    say("Your name?", "Joe");
    say("Paris", "");
    say("Password", "Kanarienvogel");
    say("A story", "once\n.hidden\n\nend\n.");
    say("Save as?", "f");
    say("Colour", "dark green");
    say("News?", "1");
    say("A file", "/nowhere/at/all");
    say("A file", path.to_str().expect("valid UTF-8"));
    assert_eq!(terminal.exit_status().expect("process exits"), 0, "{}", terminal.screen());
    let answers_received = server.form_answers().concat();
    let answers_received: Vec<&str> =
        answers_received.iter().filter_map(|answer| std::str::from_utf8(answer).ok()).collect();
    assert_eq!(
        answers_received,
        ["Joe", "Paris", "Kanarienvogel", "once\n.hidden\n\nend", "f", "dark green", "1", "one line"]
    );
    let screen = terminal.screen();
    let position = |text: &str| screen.find(text).unwrap_or_else(|| panic!("no {text:?} in {screen}"));
    assert!(
        position("Tell us about you.") < position("Your name?") && position("red") < position("Colour"),
        "{screen}"
    );
    // The server echoes all answers; the password appears only in that echo.
    assert_eq!((screen.matches("Kanarienvogel").count(), screen.matches("Joe").count()), (1, 2), "{screen}");
}

#[test]
fn answers_that_begin_with_a_dot_arrive_unchanged() {
    for (answer, block) in [(".", "+3\r\n.\r\n"), (".a", "+-1\r\n.a\r\n.\r\n"), ("..", "+-1\r\n..\r\n.\r\n")]
    {
        let server = form_server(GopherForm::new().ask(Ask, "Name"));
        let answer_option = format!("1={answer}");
        fetch_with_answers(&server, temp_dir().path(), &[&answer_option]).assert_exit(0);
        assert_eq!(server.received_text()[1], format!("/ask\t+\t1\r\n{block}"));
        assert_eq!(server.form_answers(), [[answer.as_bytes()]]);
    }
}

#[test]
fn question_with_choices_takes_the_first_one_without_an_answer() {
    let server = form_server(GopherForm::new().ask(Ask, "Name").ask(Choose, "Colour\tred\tgreen"));
    fetch_with_answers(&server, temp_dir().path(), &["1=a"]).assert_exit(0);
    assert_eq!(server.form_answers(), [[b"a".to_vec(), b"red".to_vec()]]);
}

#[test]
fn form_of_notes_is_sent_and_its_notes_are_printed() {
    let server = form_server(GopherForm::new().ask(Note, "No questions today.").reply("thanks"));
    let result = run_fetch_url([&server.url("0/ask%09%09?")]);
    result.assert_exit(0).assert_stderr_contains("No questions today.");
    assert_eq!((result.stdout_text().trim(), server.received_text().len()), ("thanks", 2));
}

/// An empty line is a valid answer to a password question.
#[test]
fn invalid_answer_is_asked_again_and_enter_takes_the_default() {
    let form = GopherForm::new()
        .ask(Choose, "Colour\tred\tgreen")
        .ask(Select, "News?:1")
        .ask(AskP, "Word")
        .reply("thanks");
    let server = form_server(form);
    let mut terminal = run_in_terminal(&[], &server.url("0/ask%09%09?"));
    for wrong in ["blue", "3"] {
        terminal.expect("Colour").expect("question appears");
        terminal.type_line(wrong).expect("write to terminal");
    }
    terminal.expect("Colour").expect("same question appears again");
    terminal.type_line("2").expect("write to terminal");
    terminal.expect("News?").expect("question appears");
    terminal.type_line("perhaps").expect("write to terminal");
    terminal.expect("News?").expect("same question appears again");
    terminal.type_line("").expect("write to terminal");
    terminal.expect("Word").expect("question appears");
    terminal.type_secret("").expect("terminal echo is off");
    assert_eq!(terminal.exit_status().expect("process exits"), 0, "{}", terminal.screen());
    assert_eq!(server.form_answers(), [[b"green".to_vec(), b"1".to_vec(), Vec::new()]]);
    let screen = terminal.screen();
    assert!(screen.contains("thanks"), "{screen}");
    assert!(screen.contains("the answer to question 2 is not 0 or 1"), "{screen}");
}

#[test]
fn only_questions_without_form_option_are_asked() {
    let form = GopherForm::new()
        .ask(Note, "Hello.")
        .ask(Ask, "Name")
        .ask(Note, "And then")
        .ask(Ask, "Town")
        .ask(Note, "Bye.");
    let server = form_server(form.reply("thanks"));
    let mut terminal = run_in_terminal(&["--form", "1=Joe"], &server.url("0/ask"));
    terminal.expect("Town").expect("question appears");
    terminal.type_line("Bonn").expect("write to terminal");
    assert_eq!(terminal.exit_status().expect("process exits"), 0, "{}", terminal.screen());
    assert_eq!(server.form_answers(), [[b"Joe".to_vec(), b"Bonn".to_vec()]]);
    let screen = terminal.screen();
    assert!(screen.contains("And then") && !screen.contains("Name"), "{screen}");
    // If the named file cannot be read, the question is asked again or the run fails; nothing is sent.
    let server = form_server(GopherForm::new().ask(ChooseF, "A file"));
    let mut terminal = run_in_terminal(&[], &server.url("0/ask%09%09?"));
    terminal.expect("A file").expect("question appears");
    terminal.type_line("/nowhere/at/all").expect("write to terminal");
    terminal.type_bytes(&[3]).expect("Ctrl-C");
    assert!([2, -2, 78].contains(&terminal.exit_status().expect("process exits")), "{}", terminal.screen());
    assert!(server.form_answers().is_empty());
}

/// Ctrl-C ends the process by SIGINT (status 130 in the shell); Ctrl-D is a failed answer.
#[test]
fn ctrl_c_and_ctrl_d_at_a_question_send_nothing_and_restore_the_terminal() {
    for kind in [Ask, AskP, AskL, ChooseF, Select] {
        let server = form_server(GopherForm::new().ask(kind, "Quo vadis"));
        let line = "trap : INT; \"$0\" --retry 0 \"$1\"; echo \"status $?\"; stty -a | tr ' ;' '\\n\\n' | grep -E '^-*(echo|icanon|isig)$'; echo end";
        let run = || {
            Terminal::run("sh", &["-c", line, BINARY, &server.url("0/ask%09%09?")], 80)
                .expect("start terminal")
        };
        let mut terminal = run();
        terminal.expect("Quo vadis").expect("question appears");
        std::thread::sleep(Duration::from_millis(100));
        terminal.type_bytes(&[3]).expect("Ctrl-C");
        terminal.expect("status 130").unwrap_or_else(|error| panic!("{kind:?}: {error}"));
        terminal.expect("end").expect("process exits");
        let screen = terminal.screen();
        for mode in ["\nisig\n", "\nicanon\n", "\necho\n"] {
            assert!(screen.contains(mode), "{kind:?}: {screen}");
        }
        let mut terminal = run();
        terminal.expect("Quo vadis").expect("question appears");
        std::thread::sleep(Duration::from_millis(100));
        terminal.type_bytes(&[4]).expect("Ctrl-D");
        terminal.expect("status ").unwrap_or_else(|error| panic!("{kind:?}: {error}"));
        terminal.expect("\necho").expect("echo is restored");
        assert!(!terminal.screen().contains("status 0"), "{kind:?}: {}", terminal.screen());
        assert!(
            server.form_answers().is_empty()
                && server.received_text().iter().all(|line| line == "/ask\t!\r\n"),
            "{kind:?}"
        );
    }
}

/// The default of a file question comes from the server; fetch-url must not read that file.
#[test]
fn hostile_form_sends_no_controls_and_reads_no_default_file() {
    let evil = "\u{1b}[2J\u{9b}31m\u{202e}\u{7}\u{8}";
    let form = GopherForm::new()
        .ask(Note, format!("note {evil}"))
        .ask(Choose, format!("choose {evil}\t{evil}a\t{evil}b"));
    let form =
        form.ask(ChooseF, "File?\t/etc/passwd").ask(Ask, format!("name {evil}\t{evil}")).reply("thanks");
    let server = form_server(form);
    let mut terminal = run_in_terminal(&[], &server.url("0/ask%09%09?"));
    for (question, answer) in [("choose", "wrong"), ("choose", "1"), ("File?", "/dev/null"), ("name", "x")] {
        terminal.expect(question).expect("question appears");
        terminal.type_line(answer).expect("write to terminal");
    }
    assert_eq!(terminal.exit_status().expect("process exits"), 0, "{}", terminal.screen());
    let is_unsafe_control =
        |character: char| character.is_control() && !"\r\n\t".contains(character) || character == '\u{202e}';
    assert!(!terminal.screen().contains(is_unsafe_control), "{:?}", terminal.screen());
    assert_eq!(server.form_answers()[0][1], b"");
    // Without a terminal the default file name is not used either.
    let result = run_fetch_url(["--form", "1=1", &server.url("0/ask")]);
    result.assert_exit(2).assert_stderr_contains("File?");
    assert_eq!(server.form_answers().len(), 1);
}

#[test]
fn form_option_on_ftp_url_exits_2() {
    run_fetch_url(["--form", "name=value", "ftp://127.0.0.1:9/"])
        .assert_exit(2)
        .assert_stderr_contains("gopher URLs only");
}

/// A Gopher+ server with a form of a name and a password at `/guests`.
fn guest_book() -> GopherConfig {
    let form = GopherForm::new().ask(Ask, "Name?").ask(AskP, "Secret?");
    GopherConfig::new().plus().item(GopherItem::text("/guests", "").form(form))
}

/// Returns the number of filled forms that the server has received.
fn submitted_forms(server: &GopherServer) -> usize {
    server.requests().iter().filter(|request| request.starts_with(b"/guests\t+\t1")).count()
}

/// The server may have processed the form even if its answer was lost.
#[test]
fn filled_form_is_never_sent_again_on_retry() {
    let options = "--retry 3 --form 1=me --form 2=pw";
    let is_filled = GopherTrigger::Matches(|line| line.ends_with(b"\t1"));
    for act in [
        GopherAction::Cut(0, Ending::Stall(Duration::from_secs(2))),
        GopherAction::Cut(0, Ending::Reset),
        GopherAction::Answer(b"--1\r\n2 busy\r\n.\r\n".to_vec()),
    ] {
        let server = start_server(guest_book().on(is_filled.clone(), act));
        assert_ne!(fetch_with_short_timeouts(options, &server.url("0/guests%09%09?")).exit, 0);
        assert_eq!(submitted_forms(&server), 1, "{:?}", server.received_text());
        let url = "0/guests%09%09+%091%0D%0A+-1%0D%0Ame%0D%0Apw%0D%0A.%0D%0A";
        assert_ne!(fetch_with_short_timeouts("--retry 3", &server.url(url)).exit, 0);
        assert_eq!(submitted_forms(&server), 2, "{:?}", server.received_text());
    }
}

#[test]
fn truncated_form_is_not_submitted() {
    for ending in [Ending::Reset, Ending::Close] {
        let config = guest_book()
            .on(GopherTrigger::Matches(|line| line.ends_with(b"\t!")), GopherAction::Cut(120, ending));
        let server = start_server(config);
        fetch_with_short_timeouts("--retry 0 --form 1=me", &server.url("0/guests%09%09?")).assert_exit(18);
        fetch_with_short_timeouts("--retry 0 -I", &server.url("0/guests")).assert_exit(18);
        assert_eq!(submitted_forms(&server), 0);
    }
}

/// Form answers are sent neither after an HTTP redirect nor after a Gopher+ "moved" error.
#[test]
fn form_answers_are_not_sent_to_another_server() {
    let other_server = start_server(guest_book());
    let target = other_server.url("0/guests%09%09?");
    let first_server = http_server(move |_| HttpResponse::new(302).header("Location", &target));
    fetch_with_short_timeouts("--proto-redir +gopher --form 1=me --form 2=pw", &first_server.url("/"));
    assert_eq!(submitted_forms(&other_server), 0);
    let moved = format!("--1\r\n3 x\r\n0g\t/guests\t127.0.0.1\t{}\t?\r\n.\r\n", other_server.addr().port());
    let first_server = start_server(
        guest_book()
            .on(GopherTrigger::Matches(|line| line.ends_with(b"\t!")), GopherAction::Answer(moved.into())),
    );
    let result = fetch_with_short_timeouts(
        "--proto-redir +gopher --form 1=me --form 2=pw",
        &first_server.url("0/guests%09%09?"),
    );
    assert_eq!(submitted_forms(&other_server), 0, "{result:?}");
    assert!(other_server.requests().iter().all(|request| !request.windows(2).any(|pair| pair == b"pw")));
}
