//! Gopher+ forms: displayed, and filled from the command line. pygopherd displays forms but ignores the answers.

use super::menus::field;
use crate::live::gopher_server::{GOPHERNICUS, PYGOPHERD};
use crate::live::work_dir::{WorkDir, fetch, key};

/// Answers to all questions without a default value, by number or by name.
const ANSWERS: [&str; 10] = [
    "--form",
    "A password?=secret",
    "--form",
    "Colour?=green",
    "--form",
    "News?=1",
    "--form",
    "5=two",
    "--form",
    "6=file",
];

/// Returns the URL of the item with the form. The search words only mark the request in the log.
fn url(words: &str) -> String {
    PYGOPHERD.url(&format!("/0/plus/ask.txt%09{words}"))
}

#[test]
#[ignore = "needs the servers of docker/"]
fn form_is_printed_without_answers() {
    let text = fetch(&[&url("%09?")]).assert_exit(0).text();
    for question in
        ["Your name?", "anonymous", "A password?", "Colour?", "green", "News?", "Tell us", "A file?"]
    {
        assert!(text.contains(question), "no {question} in {text}");
    }
    let json = fetch(&["--format", "json", &url("%09?")]).assert_exit(0).text();
    for part in ["Your name?", "anonymous", "\"red\"", "AskP", "A file here?"] {
        assert!(json.contains(part), "no {part} in {json}");
    }
    assert_eq!(field(&json, "selector").as_deref(), Some("/plus/ask.txt"));
}

#[test]
#[ignore = "needs the servers of docker/"]
fn filled_form_is_sent() {
    let (key, watch) = (key(), PYGOPHERD.watch());
    let url = url(&key);
    // The server ignores the answers and sends the document without a Gopher+ status line.
    let result = fetch(&[&ANSWERS[..], &["--form", "7=here", &url]].concat())
        .assert_exit(0)
        .assert_stdout("A document with a form.\n");
    assert!(result.err.starts_with("fetch-url: note:"), "{}", result.err);
    let lines = watch.lines(&key, 2);
    assert_eq!(lines, ["!", "+\\x091"].map(|end| format!("/plus/ask.txt\\x09{key}\\x09{end}")));
}

#[test]
#[ignore = "needs the servers of docker/"]
fn answer_to_an_unknown_question_exits_2() {
    for answer in ["Your age?=7", "9=x", "0=x", "Note=x"] {
        let (dir, key, watch) = (WorkDir::new(), key(), PYGOPHERD.watch());
        let own = ["--form", "7=x", "--form", answer, "-o", "here", &url(&key)];
        dir.fetch(&[&ANSWERS[..], &own].concat()).assert_exit(2);
        dir.assert_entries(&[]);
        assert_eq!(watch.lines(&key, 1).len(), 1, "nothing is sent");
    }
    fetch(&["--form", "no equals sign", &url("x")]).assert_exit(2).assert_stdout("");
    // The answer to a choice must be one of the offered values.
    let own = ["--form", "7=x", "--form", "Colour?=blue", &url("x")];
    fetch(&[&ANSWERS[..], &own].concat()).assert_exit(2).assert_stdout("");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn unanswered_question_exits_2_without_sending_the_form() {
    let (key, watch) = (key(), PYGOPHERD.watch());
    fetch(&["--form", "Your name?=me", &url(&key)])
        .assert_exit(2)
        .assert_stdout("")
        .assert_stderr_contains("A password?");
    assert_eq!(watch.lines(&key, 1), [format!("/plus/ask.txt\\x09{key}\\x09!")]);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn form_option_for_an_item_without_form_exits_78() {
    fetch(&["--form", "1=x", &PYGOPHERD.url("/0/plus/doc.txt")]).assert_exit(78).assert_stdout("");
    fetch(&["--form", "1=x", &GOPHERNICUS.url("/0/plus/doc.txt")]).assert_exit(78).assert_stdout("");
    fetch(&["--form", "1=x", &PYGOPHERD.url(&format!("/0/{}", key()))])
        .assert_exit(78)
        .assert_stdout("")
        .assert_stderr_contains("does not exist");
}
