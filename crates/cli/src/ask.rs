//! Asking for a password: a program first, else the person at the terminal; where there is neither,
//! nobody, so that a job without a terminal never hangs.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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
            None if io::stdin().is_terminal() && io::stderr().is_terminal() => {
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
    io::stdin().lock().read_until(b'\n', &mut line)?;
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
