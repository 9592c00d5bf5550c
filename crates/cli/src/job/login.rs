//! The login options: flags, netrc and prompts.

use std::io;
use std::path::{Path, PathBuf};

use fetch_url::credentials::PromptRequest;
use fetch_url::{Code, Credential, Credentials, Error, Phase};

use super::environment;
use super::option_file::read_at_most;
use super::private_file::{MAX_FILE_SIZE, read_private_file};
use crate::ask::TerminalPrompter;
use crate::error::usage_error;
use crate::flags::LoginFlags;
use crate::render;
use crate::stdin::stdin_for;

/// Creates the credentials. With `prints_notes`, notes are printed to standard error.
pub(super) fn credentials(flags: &LoginFlags, prints_notes: bool) -> Result<Credentials, Error> {
    let prompter = TerminalPrompter::new(flags.askpass.clone());
    let mut credentials = Credentials::default();
    if let Some(text) = &flags.user {
        if text.contains(':') && prints_notes {
            render::print_note("other users can see a password on the command line; use --password-file");
        }
        credentials =
            credentials.for_every_url(login_with_password(flags, Credential::from_text(text), &prompter)?);
    }
    if let Some((path, must_exist)) = netrc(flags)? {
        match read_private_file(&path) {
            Ok(text) => credentials = credentials.netrc(&text, flags.netrc_default)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound && !must_exist => {}
            Err(error) => {
                let failure = usage_error(format!("{}: {error}", path.display()));
                let hint = "-n is --netrc here, as in curl; --netrc-optional ignores a missing file";
                return Err(if flags.netrc { failure.with_hint(hint) } else { failure });
            }
        }
    }
    Ok(credentials.prompt_with(prompter))
}

fn login_with_password(
    flags: &LoginFlags,
    login: Credential,
    prompter: &TerminalPrompter,
) -> Result<Credential, Error> {
    if let Some(path) = &flags.password_file {
        return Ok(login.with_password(Some(first_line(path)?)));
    }
    if flags.ask_password && login.expose_password().is_none() {
        let request = PromptRequest::new("the server", Some(login.user().to_vec()), None);
        let answer = fetch_url::credentials::Prompter::ask(prompter, &request)?;
        return answer.ok_or_else(|| {
            let detail = "--ask-password needs a terminal or --askpass";
            Error::new(Code::AuthNeeded, Phase::Plan, detail)
        });
    }
    Ok(login)
}

/// Returns the path of the netrc file, and whether it must exist.
pub(super) fn netrc(flags: &LoginFlags) -> Result<Option<(PathBuf, bool)>, Error> {
    let must_exist = !flags.netrc_optional;
    if let Some(path) = &flags.netrc_file {
        return Ok(Some((path.clone(), must_exist)));
    }
    if !flags.netrc && !flags.netrc_optional {
        return Ok(None);
    }
    match environment::netrc() {
        None if must_exist => Err(usage_error("cannot find ~/.netrc: HOME is not set")),
        path => Ok(path.map(|path| (path, must_exist))),
    }
}

/// Returns the first line of a password file.
pub(super) fn first_line(path: &Path) -> Result<Vec<u8>, Error> {
    let failed = |error: io::Error| usage_error(format!("{}: {error}", path.display()));
    let mut text = if path.as_os_str() == "-" {
        read_at_most(MAX_FILE_SIZE, stdin_for("--password-file")?).map_err(failed)?
    } else {
        read_private_file(path).map_err(failed)?
    };
    let end = text.iter().position(|&byte| byte == b'\n').unwrap_or(text.len());
    text.truncate(end);
    if text.last() == Some(&b'\r') {
        text.pop();
    }
    Ok(text)
}
