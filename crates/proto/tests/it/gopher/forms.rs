//! Gopher+ forms: parsing of questions, the data of a filled form, and the form data that a URL may contain.

use fetch_url_proto::gopher_plus::{AnswerError, Question, QuestionKind, encode_answers, is_data_block};

use QuestionKind::{Ask, AskF, AskL, AskP, Choose, ChooseF, Note, Other, Select};

fn question(line: &str) -> Question {
    Question::parse(line.as_bytes()).unwrap_or_else(|| panic!("{line:?} asks nothing"))
}

#[test]
fn question_line_gives_kind_prompt_and_defaults() {
    for (line, kind, prompt, defaults, default) in [
        // In the format of pygopherd.
        ("Note: a form", Note, "a form", "", None),
        ("Ask: Your name?\tanonymous", Ask, "Your name?", "anonymous", Some("anonymous")),
        ("AskP: A password?", AskP, "A password?", "", None),
        ("Choose: Colour?\tred\tgreen", Choose, "Colour?", "red|green", Some("red")),
        ("Select: News?:0", Select, "News?", "0", Some("0")),
        ("AskL: Tell us", AskL, "Tell us", "", None),
        ("AskF: A file?", AskF, "A file?", "", None),
        ("ChooseF: A file here?", ChooseF, "A file here?", "", None),
        // In other formats.
        ("Select: By mail:\t1", Select, "By mail:", "1", Some("1")),
        ("Select: At 10:1\t0", Select, "At 10:1", "0", Some("0")),
        ("Select: At 10:10", Select, "At 10:10", "", None),
        ("Select: a : 1 ", Select, "a", "1", Some("1")),
        ("Select: 1", Select, "1", "", None),
        ("Ask: At 10:1", Ask, "At 10:1", "", None),
        ("Ask: Why:\t\t because\t\t", Ask, "Why:", " because", Some(" because")),
        ("askp:x\ty\tz", AskP, "x", "y|z", Some("y")),
        ("AskF: Where?\t/tmp/x", AskF, "Where?", "/tmp/x", Some("/tmp/x")),
        ("ChooseF: Which?\t/etc/passwd", ChooseF, "Which?", "/etc/passwd", None),
        ("AskL: Tell us\tnothing", AskL, "Tell us", "nothing", Some("nothing")),
        ("Choose: Only\tone", Choose, "Only", "one", Some("one")),
        ("Date: When?\ttoday", Other, "When?", "today", Some("today")),
        ("Ask:", Ask, "", "", None),
        ("  Ask: x", Ask, "x", "", None),
        ("Please answer", Note, "Please answer", "", None),
        ("Please answer: all", Note, "Please answer: all", "", None),
        (": x", Note, ": x", "", None),
        ("Note: x\ty", Note, "x", "y", None),
    ] {
        let question = question(line);
        let result: Vec<_> = question.defaults.iter().map(|text| String::from_utf8_lossy(text)).collect();
        assert_eq!((question.kind, &question.prompt[..]), (kind, prompt.as_bytes()), "{line:?}");
        assert_eq!(result.join("|"), defaults, "{line:?}");
        assert_eq!(question.default_value(), default.map(str::as_bytes), "{line:?}");
        assert_eq!(question.needs_answer(), kind != Note, "{line:?}");
    }
    for line in ["", "  ", "\t"] {
        assert_eq!(Question::parse(line.as_bytes()), None, "{line:?}");
    }
}

const FORM: [&str; 8] = [
    "Note: a form",
    "Ask: Your name?\tanonymous",
    "AskP: A password?",
    "Choose: Colour?\tred\tgreen",
    "Select: News?:0",
    "AskL: Tell us",
    "AskF: A file?",
    "ChooseF: A file here?",
];

fn filled(form: &[&str], values: &[&str]) -> Result<String, AnswerError> {
    let questions: Vec<Question> = form.iter().map(|line| question(line)).collect();
    let values: Vec<Vec<u8>> = values.iter().map(|value| value.as_bytes().to_vec()).collect();
    let block = encode_answers(&questions, &values)?;
    assert!(is_data_block(&block), "{values:?} gives {:?}", String::from_utf8_lossy(&block));
    Ok(String::from_utf8_lossy(&block).into_owned())
}

#[test]
fn answers_are_encoded_as_a_data_block() {
    assert_eq!(
        filled(&FORM, &["Joe", "secret", "green", "yes", "one\ntwo\r\n\n", "x.txt", "a\r\n.\r\nb"])
            .as_deref(),
        Ok("+57\r\nJoe\r\nsecret\r\ngreen\r\n1\r\n3\r\none\r\ntwo\r\n\r\nx.txt\r\n3\r\na\r\n.\r\nb\r\n")
    );
    assert_eq!(filled(&["Note: x"], &[]).as_deref(), Ok("+-1\r\n.\r\n"));
    assert_eq!(filled(&[], &[]).as_deref(), Ok("+-1\r\n.\r\n"));
}

#[test]
fn invalid_answer_is_rejected() {
    let choice = Err(AnswerError::Choice { question: 1 });
    let switch = Err(AnswerError::Switch { question: 1 });
    let byte = |byte| Err(AnswerError::ForbiddenByte { question: 1, byte });
    for (line, value, expected) in [
        ("Ask: x", "", Ok("\r\n")),
        ("Ask: x", "a\tb", Ok("a\tb\r\n")),
        ("Ask: x", ".", Ok(".\r\n")),
        ("Ask: x", "..a", Ok("..a\r\n")),
        ("Other: x", "a.", Ok("a.\r\n")),
        ("AskF: x", "a", Ok("a\r\n")),
        ("Ask: x", "a\n", byte(b'\n')),
        ("AskP: x", "a\r", byte(b'\r')),
        ("Date: x", "\0", byte(0)),
        ("AskF: x", "a\r\n.\r\n", byte(b'\r')),
        ("AskL: x", "", Ok("0\r\n")),
        ("AskL: x", "\n", Ok("1\r\n\r\n")),
        ("AskL: x", "\r\n\r\n", Ok("2\r\n\r\n\r\n")),
        ("AskL: x", "a", Ok("1\r\na\r\n")),
        ("AskL: x", "a\n", Ok("1\r\na\r\n")),
        ("AskL: x", ".\n.a", Ok("2\r\n.\r\n.a\r\n")),
        ("AskL: x", "a\rb", byte(b'\r')),
        ("AskL: x", "a\r", byte(b'\r')),
        ("AskL: x", "a\r\r\n", byte(b'\r')),
        ("ChooseF: x", "a\0b", byte(0)),
        ("Choose: x\tred\tgreen", "red", Ok("red\r\n")),
        ("Choose: x\tred\tgreen", "2", Ok("green\r\n")),
        ("Choose: x\t2\t1", "2", Ok("2\r\n")),
        ("Choose: x\t.\ta", "1", Ok(".\r\n")),
        ("Choose: x\tred\tgreen", "0", choice.clone()),
        ("Choose: x\tred\tgreen", "3", choice.clone()),
        ("Choose: x\tred\tgreen", "Red", choice.clone()),
        ("Choose: x\tred\tgreen", "", choice.clone()),
        ("Choose: x", "1", choice),
        // Choices come from the server and are checked like any other answer.
        ("Choose: x\ta\rb\tc", "1", byte(b'\r')),
        ("Select: x", "1", Ok("1\r\n")),
        ("Select: x", "YES", Ok("1\r\n")),
        ("Select: x", "on", Ok("1\r\n")),
        ("Select: x", "0", Ok("0\r\n")),
        ("Select: x", "no", Ok("0\r\n")),
        ("Select: x", "Off", Ok("0\r\n")),
        ("Select: x", "2", switch.clone()),
        ("Select: x", "", switch),
    ] {
        // A line of one dot would end the block, so the block is sent with its length.
        let has_dot_line = |lines: &str| lines.lines().any(|line| line == ".");
        let expected = expected.map(|lines: &str| match lines {
            lines if has_dot_line(lines) => format!("+{}\r\n{lines}", lines.len()),
            lines => format!("+-1\r\n{lines}.\r\n"),
        });
        assert_eq!(filled(&[line], &[value]), expected, "{line:?} {value:?}");
    }
}

#[test]
fn error_names_the_number_of_the_question() {
    for (form, values, expected) in [
        (&FORM[..2], &["a", "b"][..], "the form has 1 question, but got 2 answers"),
        (&FORM, &[], "the form has 7 questions, but got 0 answers"),
        (&FORM[..3], &["a", "secret\n"], "%0A (LF) in the answer to question 2 would change the request"),
        (&FORM[..4], &["a", "b", "blue"], "the answer to question 3 is not one of its choices"),
        (&FORM[..5], &["a", "b", "1", "x"], "the answer to question 4 is not 0 or 1, yes or no, on or off"),
    ] {
        let result = filled(form, values).map_err(|error| error.to_string());
        assert_eq!(result, Err(expected.to_owned()));
    }
}

#[test]
fn data_block_of_a_url_is_accepted_only_if_well_formed() {
    for block in [
        "+-1\r\n.\r\n",
        "+-1\r\nJoe\r\nsecret\r\n.\r\n",
        "+-1\r\n\r\n.\r\n",
        "+-1\r\n..\r\n. \r\na.\r\n.\r\n",
        "+0\r\n",
        "+3\r\na\r\n",
        "+1\r\na",
        "+5\r\n\r\n.\r\n",
        "+0004\r\na\tb\u{7f}",
    ] {
        assert!(is_data_block(block.as_bytes()), "{block:?}");
        for length in 0..block.len() {
            let cut = block.get(..length).unwrap_or_default();
            assert!(!is_data_block(cut.as_bytes()), "{cut:?}");
        }
        for more in ["x", "\r\n", "\n", "\0", "+-1\r\n.\r\n", "/selector\r\n", ".\r\n"] {
            assert!(!is_data_block(format!("{block}{more}").as_bytes()), "{block:?} {more:?}");
            assert!(!is_data_block(format!("{more}{block}").as_bytes()), "{more:?} {block:?}");
        }
    }
    for block in [
        "",
        "\r\n",
        ".\r\n",
        "+-1",
        "+-1\r\n",
        "+-1\n.\n",
        "+-1\r\n.\n",
        "+-1\r\nx.\r\n",
        "+-1\r\na\nb\r\n.\r\n",
        "+-1\r\na\rb\r\n.\r\n",
        "+-1\r\na\r\r\n.\r\n",
        "+-1\r\n\n\r\r\n.\r\n",
        "+-1\r\na\0b\r\n.\r\n",
        "+-1\r\n.\r\n/other\r\n.\r\n",
        "+-1\r\n.\r\n.\r\n",
        "+-1 \r\n.\r\n",
        "+-2\r\na\r\n",
        "--1\r\n.\r\n",
        "-3\r\nabc",
        "+3 \r\nabc",
        "+3\r\nab",
        "+3\r\nabcd",
        "+3\r\na\nb",
        "+3\r\na\rb",
        "+3\r\nab\r",
        "+2\r\n\n\r",
        "+3\r\na\0b",
        "+\r\n",
        "++1\r\na",
        "+99999999999999999999\r\na",
        "+18446744073709551617\r\na",
    ] {
        assert!(!is_data_block(block.as_bytes()), "{block:?}");
    }
}
