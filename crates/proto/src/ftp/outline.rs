//! What a URL would make the client send (RFC 1738 §3.2.2): CWD by CWD, then TYPE and RETR, or NLST.

use fetch_url_core::{FtpUrl, Login};

use super::{Errand, Verb, Wish};
use crate::{ForbiddenOctet, Octets, Outline};

/// The commands of a URL: login, facts and data connection go with them.
pub(crate) fn requests(url: &FtpUrl<'_>, outline: &mut Outline) -> Result<(), ForbiddenOctet> {
    login(url.login(), outline)?;
    for command in Errand::new(url, &Wish::default())?.commands()? {
        let mut line = Vec::new();
        command.write(&mut line, super::Iac::Plain);
        line.truncate(line.len() - 2);
        match command.verb() {
            Verb::Size | Verb::Mdtm | Verb::Epsv => outline.say_aside(&[&line]),
            _ => outline.say(&[&line]),
        }
    }
    Ok(())
}

/// RFC 1738 §3.2.1: anonymous when no user is named; a password that is not there is asked for.
fn login(login: &Login<'_>, outline: &mut Outline) -> Result<(), ForbiddenOctet> {
    let user = login.user().map(|user| user.decode().into_owned());
    let user = Octets::LINE.check("user", user.as_deref().unwrap_or(b"anonymous"))?.to_vec();
    if let Some(password) = login.password() {
        Octets::LINE.check("password", &password.expose().decode())?;
    }
    let password: &[u8] = match (login.user(), login.password()) {
        (_, Some(_)) => b"***",
        (Some(_), None) => b"(asked for)",
        (None, None) => b"(the e-mail address)",
    };
    outline.say_aside(&[b"USER ", &user]);
    outline.say_aside(&[b"PASS ", password]);
    Ok(())
}
