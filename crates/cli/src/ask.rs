//! Prompts for passwords and Gopher+ forms: by the `--askpass` program, otherwise at the terminal. Without a program
//! and a terminal, no question is asked, so that the run never waits for input.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use fetch_url::credentials::{PromptRequest, Prompter};
use fetch_url::{Code, Credential, Error, Phase};
use fetch_url_proto::gopher_plus::{AnswerError, Question as FormQuestion, QuestionKind, encode_answers};
use fetch_url_proto::text::sanitise;

use crate::render::stdio;
use crate::signal;

/// Maximum length of the answer of an askpass program, in bytes.
const MAX_ANSWER: u64 = 64 * 1024;

/// Prompts by the `--askpass` program or at the terminal.
pub(crate) struct TerminalPrompter {
    program: Option<PathBuf>,
}

impl TerminalPrompter {
    /// Creates a prompter with the program of `--askpass`.
    pub(crate) const fn new(program: Option<PathBuf>) -> Self {
        Self { program }
    }

    /// Returns the answer to a prompt, or `None` without a program and a terminal.
    fn answer(&self, prompt: &str, is_secret: bool) -> Result<Option<Vec<u8>>, Error> {
        match &self.program {
            Some(program) => run_askpass(program, prompt).map(Some),
            None if has_terminal() => {
                let typed = if is_secret { read_hidden(prompt) } else { read_visible(prompt) };
                typed.map(Some).map_err(|error| {
                    if error.kind() == io::ErrorKind::Interrupted {
                        signal::raise_interrupt();
                    }
                    prompt_error(&error.to_string())
                })
            }
            None => Ok(None),
        }
    }
}

impl Prompter for TerminalPrompter {
    fn ask(&self, request: &PromptRequest) -> Result<Option<Credential>, Error> {
        let _lock = lock_terminal();
        let _guard = signal::start_prompt();
        let server = match &request.realm {
            Some(realm) => format!("{} (\"{}\")", sanitise(request.url.as_bytes()), sanitise(realm)),
            None => sanitise(request.url.as_bytes()),
        };
        let user = match &request.user {
            Some(user) => user.clone(),
            None => match self.answer(&format!("User name for {server}: "), false)? {
                Some(user) => user,
                None => return Ok(None),
            },
        };
        let prompt = format!("Password for user {} at {server}: ", sanitise(&user));
        let password = self.answer(&prompt, true)?;
        Ok(password.map(|password| Credential::new(user, Some(password))))
    }

    fn can_prompt(&self) -> bool {
        self.program.is_some() || has_terminal()
    }

    fn fill_form(
        &self,
        url: &str,
        questions: &[FormQuestion],
        given: &[Option<Vec<u8>>],
    ) -> Result<Option<Vec<Vec<u8>>>, Error> {
        if !has_terminal() {
            return Ok(None);
        }
        let _lock = lock_terminal();
        let _guard = signal::start_prompt();
        ask_form(url, questions, given).map(Some).map_err(|error| {
            if error.kind() == io::ErrorKind::Interrupted {
                signal::raise_interrupt();
            }
            Error::new(Code::Usage, Phase::Request, format!("cannot read the answers to the form: {error}"))
        })
    }
}

/// Locks the terminal: until the guard is dropped, no other prompt is shown.
fn lock_terminal() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns `true` if standard input and standard error are terminals.
fn has_terminal() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks the questions of a form, below a line with its URL. Text from the server is never printed at the start of a
/// line, so that it cannot imitate a prompt of fetch-url.
fn ask_form(url: &str, questions: &[FormQuestion], given: &[Option<Vec<u8>>]) -> io::Result<Vec<Vec<u8>>> {
    write_terminal(&format!("Form of {}:\n", sanitise(url.as_bytes())))?;
    let mut values = Vec::with_capacity(questions.len());
    for (question, given) in questions.iter().zip(given) {
        match given {
            _ if !question.needs_answer() => write_terminal(&format!("  {}\n", sanitise(&question.prompt)))?,
            Some(value) => values.push(value.clone()),
            None => values.push(ask_question(question, values.len() + 1)?),
        }
    }
    Ok(values)
}

/// Asks the question with this number until the answer is valid.
fn ask_question(question: &FormQuestion, number: usize) -> io::Result<Vec<u8>> {
    loop {
        let value = match read_answer(question) {
            // A wrong file name does not discard the earlier answers.
            Err(error) if is_file_error(&error) => {
                write_terminal(&format!("  {error}\n"))?;
                continue;
            }
            value => value?,
        };
        match encode_answers(std::slice::from_ref(question), std::slice::from_ref(&value)) {
            Ok(_) => return Ok(value),
            Err(error) => write_terminal(&format!("  {}\n", of_question(error, number)))?,
        }
    }
}

/// Returns the error for the only question of a list as the one for the question with this number.
fn of_question(error: AnswerError, number: usize) -> AnswerError {
    match error {
        AnswerError::Choice { .. } => AnswerError::Choice { question: number },
        AnswerError::ForbiddenByte { byte, .. } => AnswerError::ForbiddenByte { question: number, byte },
        AnswerError::Switch { .. } => AnswerError::Switch { question: number },
        other => other,
    }
}

/// Prompts for one answer, by the kind of the question.
fn read_answer(question: &FormQuestion) -> io::Result<Vec<u8>> {
    let prompt = format!("  {}", sanitise(&question.prompt));
    let proposed = question.default_value();
    let shown_default = proposed.map(|value| format!(" [{}]", sanitise(value))).unwrap_or_default();
    let or_default = |typed: Vec<u8>| match proposed {
        Some(proposed) if typed.is_empty() => proposed.to_vec(),
        _ => typed,
    };
    match question.kind {
        QuestionKind::AskP => read_hidden(&format!("{prompt} ")),
        QuestionKind::AskL => read_lines(&format!("{prompt} (end with a line that contains only a dot)\n")),
        QuestionKind::ChooseF => read_named_file(&read_visible(&format!("{prompt} (file to send) "))?),
        QuestionKind::Choose => {
            for (index, choice) in question.defaults.iter().enumerate() {
                write_terminal(&format!("    {} {}\n", index + 1, sanitise(choice)))?;
            }
            read_visible(&format!("{prompt}{shown_default} ")).map(or_default)
        }
        QuestionKind::Select => read_visible(&format!("{prompt} (0 or 1){shown_default} ")).map(or_default),
        _ => read_visible(&format!("{prompt}{shown_default} ")).map(or_default),
    }
}

/// Returns `true` for errors that occur only while reading a file.
fn is_file_error(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidFilename, IsADirectory, NotADirectory, NotFound, PermissionDenied};
    matches!(error.kind(), InvalidFilename | IsADirectory | NotADirectory | NotFound | PermissionDenied)
}

/// Reads lines up to a line with a single dot.
fn read_lines(prompt: &str) -> io::Result<Vec<u8>> {
    write_terminal(prompt)?;
    let mut text = Vec::new();
    loop {
        let line = read_visible("")?;
        if line == b"." {
            return Ok(text);
        }
        text.extend_from_slice(&line);
        text.push(b'\n');
    }
}

/// Reads the file that the user named as the answer.
fn read_named_file(path: &[u8]) -> io::Result<Vec<u8>> {
    use std::os::unix::ffi::OsStrExt as _;
    std::fs::read(Path::new(std::ffi::OsStr::from_bytes(path)))
}

/// Writes to the terminal.
fn write_terminal(text: &str) -> io::Result<()> {
    io::stderr().write_all(text.as_bytes())
}

/// Runs the askpass program with the prompt as its only argument. Returns the first line of its output.
fn run_askpass(program: &Path, prompt: &str) -> Result<Vec<u8>, Error> {
    let mut command = Command::new(program);
    command.arg(prompt).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let to_error = |error: io::Error| prompt_error(&format!("{}: {error}", program.display()));
    let mut child = command.spawn().map_err(to_error)?;
    let mut line = Vec::new();
    if let Some(output) = child.stdout.take() {
        io::Read::take(io::BufReader::new(output), MAX_ANSWER)
            .read_until(b'\n', &mut line)
            .map_err(to_error)?;
    }
    let status = child.wait().map_err(to_error)?;
    if !status.success() {
        return Err(prompt_error(&format!("{}: {status}", program.display())));
    }
    Ok(without_line_end(line))
}

/// Prompts for a line with echo.
fn read_visible(prompt: &str) -> io::Result<Vec<u8>> {
    io::stderr().write_all(prompt.as_bytes())?;
    stdio::enter_prompt_line();
    let mut line = Vec::new();
    let read = io::stdin().lock().read_until(b'\n', &mut line);
    stdio::leave_prompt_line();
    if read? == 0 {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "end of input"));
    }
    Ok(without_line_end(line))
}

/// Prompts for a line without echo. A signal restores the terminal.
fn read_hidden(prompt: &str) -> io::Result<Vec<u8>> {
    let _guard = signal::keep_terminal_for_prompt();
    stdio::enter_prompt_line();
    let typed = rpassword::prompt_password(prompt).map(String::into_bytes);
    stdio::leave_prompt_line();
    typed
}

/// Removes the line end, LF or CRLF.
fn without_line_end(mut line: Vec<u8>) -> Vec<u8> {
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    line
}

/// Returns the error of a failed prompt: [`Code::AuthNeeded`].
fn prompt_error(why: &str) -> Error {
    Error::new(Code::AuthNeeded, Phase::Request, why)
}
