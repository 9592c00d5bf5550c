//! Asking for a password: a program first, else the person at the terminal; where there is neither,
//! nobody, so that a job without a terminal never hangs.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use fetch_url::proto::gopher_plus::{Question as FormQuestion, QuestionKind, answers};
use fetch_url::proto::text::printable;
use fetch_url::{Ask, Code, Credential, Error, Phase, Question};

use crate::signal;

/// The longest answer of a program.
const MOST: u64 = 64 * 1024;

/// Asks a program or a person.
pub(crate) struct Asker {
    program: Option<PathBuf>,
}

impl Asker {
    pub(crate) const fn new(program: Option<PathBuf>) -> Self {
        Self { program }
    }

    fn answer(&self, prompt: &str, is_secret: bool) -> Result<Option<Vec<u8>>, Error> {
        match &self.program {
            Some(program) => run(program, prompt).map(Some),
            None if is_attended() => {
                let typed = if is_secret { hidden(prompt) } else { shown(prompt) };
                typed.map(Some).map_err(|error| {
                    if error.kind() == io::ErrorKind::Interrupted {
                        signal::interrupt();
                    }
                    failed(&error.to_string())
                })
            }
            None => Ok(None),
        }
    }
}

impl Ask for Asker {
    fn ask(&self, question: &Question) -> Result<Option<Credential>, Error> {
        let _turn = turn();
        let _guard = signal::asking();
        let place = match &question.realm {
            Some(realm) => format!("{} (\"{}\")", printable(question.url.as_bytes()), printable(realm)),
            None => printable(question.url.as_bytes()),
        };
        let user = match &question.user {
            Some(user) => user.clone(),
            None => match self.answer(&format!("User for {place}: "), false)? {
                Some(user) => user,
                None => return Ok(None),
            },
        };
        let prompt = format!("Password of {} for {place}: ", printable(&user));
        let password = self.answer(&prompt, true)?;
        Ok(password.map(|password| Credential::new(user, Some(password))))
    }

    fn is_attended(&self) -> bool {
        self.program.is_some() || is_attended()
    }

    fn fill(
        &self,
        url: &str,
        questions: &[FormQuestion],
        given: &[Option<Vec<u8>>],
    ) -> Result<Option<Vec<Vec<u8>>>, Error> {
        if !is_attended() {
            return Ok(None);
        }
        let _turn = turn();
        let _guard = signal::asking();
        fill(url, questions, given).map(Some).map_err(|error| {
            if error.kind() == io::ErrorKind::Interrupted {
                signal::interrupt();
            }
            Error::new(Code::Usage, Phase::Request, format!("the form was not filled: {error}"))
        })
    }
}

/// Until this is dropped, nobody else asks: what is typed answers the last question that is shown.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a person sits at the terminal.
fn is_attended() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// A form at the terminal, under a line that tells whose it is: nothing that a server writes stands at the
/// beginning of a line.
fn fill(url: &str, questions: &[FormQuestion], given: &[Option<Vec<u8>>]) -> io::Result<Vec<Vec<u8>>> {
    say(&format!("The form of {}:\n", printable(url.as_bytes())))?;
    let mut values = Vec::with_capacity(questions.len());
    for (question, given) in questions.iter().zip(given) {
        match given {
            _ if !question.is_answered() => say(&format!("  {}\n", printable(&question.prompt)))?,
            Some(value) => values.push(value.clone()),
            None => values.push(answer(question)?),
        }
    }
    Ok(values)
}

/// One question, until what is typed can be sent.
fn answer(question: &FormQuestion) -> io::Result<Vec<u8>> {
    loop {
        let value = match typed(question) {
            // What was answered before is not lost for the name of a file.
            Err(error) if is_of_file(&error) => {
                say(&format!("  {error}\n"))?;
                continue;
            }
            typed => typed?,
        };
        match answers(std::slice::from_ref(question), std::slice::from_ref(&value)) {
            Ok(_) => return Ok(value),
            Err(error) => say(&format!("  {error}\n"))?,
        }
    }
}

fn typed(question: &FormQuestion) -> io::Result<Vec<u8>> {
    let prompt = format!("  {}", printable(&question.prompt));
    let proposed = question.default_value();
    let shown_default = proposed.map(|value| format!(" [{}]", printable(value))).unwrap_or_default();
    let or_default = |typed: Vec<u8>| match proposed {
        Some(proposed) if typed.is_empty() => proposed.to_vec(),
        _ => typed,
    };
    match question.kind {
        QuestionKind::AskP => hidden(&format!("{prompt} ")),
        QuestionKind::AskL => lines(&format!("{prompt} (a line of one dot ends it)\n")),
        QuestionKind::ChooseF => file(&shown(&format!("{prompt} (a file to send) "))?),
        QuestionKind::Choose => {
            for (index, choice) in question.defaults.iter().enumerate() {
                say(&format!("    {} {}\n", index + 1, printable(choice)))?;
            }
            shown(&format!("{prompt}{shown_default} ")).map(or_default)
        }
        QuestionKind::Select => shown(&format!("{prompt} (0 or 1){shown_default} ")).map(or_default),
        _ => shown(&format!("{prompt}{shown_default} ")).map(or_default),
    }
}

/// Whether a file cannot be read: nothing else that is asked can fail so.
fn is_of_file(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidFilename, IsADirectory, NotADirectory, NotFound, PermissionDenied};
    matches!(error.kind(), InvalidFilename | IsADirectory | NotADirectory | NotFound | PermissionDenied)
}

/// Lines up to one of a single dot.
fn lines(prompt: &str) -> io::Result<Vec<u8>> {
    say(prompt)?;
    let mut text = Vec::new();
    loop {
        let line = shown("")?;
        if line == b"." {
            return Ok(text);
        }
        text.extend_from_slice(&line);
        text.push(b'\n');
    }
}

fn file(path: &[u8]) -> io::Result<Vec<u8>> {
    use std::os::unix::ffi::OsStrExt as _;
    std::fs::read(Path::new(std::ffi::OsStr::from_bytes(path)))
}

fn say(text: &str) -> io::Result<()> {
    io::stderr().write_all(text.as_bytes())
}

/// The first line that the program prints; it gets the question as its only argument.
fn run(program: &Path, prompt: &str) -> Result<Vec<u8>, Error> {
    let mut command = Command::new(program);
    command.arg(prompt).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let told = |error: io::Error| failed(&format!("{}: {error}", program.display()));
    let mut child = command.spawn().map_err(told)?;
    let mut line = Vec::new();
    if let Some(output) = child.stdout.take() {
        io::Read::take(io::BufReader::new(output), MOST).read_until(b'\n', &mut line).map_err(told)?;
    }
    let status = child.wait().map_err(told)?;
    if !status.success() {
        return Err(failed(&format!("{}: {status}", program.display())));
    }
    Ok(without_line_end(line))
}

fn shown(prompt: &str) -> io::Result<Vec<u8>> {
    io::stderr().write_all(prompt.as_bytes())?;
    let mut line = Vec::new();
    if io::stdin().lock().read_until(b'\n', &mut line)? == 0 {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "nothing more is typed"));
    }
    Ok(without_line_end(line))
}

/// What is typed is not shown; a signal meanwhile leaves the terminal as it was.
fn hidden(prompt: &str) -> io::Result<Vec<u8>> {
    let _guard = signal::keep_terminal();
    rpassword::prompt_password(prompt).map(String::into_bytes)
}

fn without_line_end(mut line: Vec<u8>) -> Vec<u8> {
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    line
}

fn failed(why: &str) -> Error {
    Error::new(Code::AuthNeeded, Phase::Request, why)
}
