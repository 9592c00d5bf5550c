//! FTP's commands for a URL (RFC 1738 §3.2.2): CWD by CWD, then TYPE and RETR, or NLST.

use fetch_url_core::{FtpPath, FtpUrl, Login, Typecode};

use crate::{ForbiddenOctet, Octets, Outline};

/// The commands of a URL: login and data connection go with them.
pub(crate) fn requests(url: &FtpUrl<'_>, outline: &mut Outline) -> Result<(), ForbiddenOctet> {
    login(url.login(), outline)?;
    match url.path() {
        Some(path) => path_requests(path, outline),
        None => {
            transfer(outline, &[b"NLST"]);
            Ok(())
        }
    }
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

/// A command that opens a data connection.
fn transfer(outline: &mut Outline, command: &[&[u8]]) {
    outline.say_aside(&[b"EPSV"]);
    outline.say(command);
}

fn path_requests(path: &FtpPath<'_>, outline: &mut Outline) -> Result<(), ForbiddenOctet> {
    for cwd in path.cwds() {
        outline.say(&[b"CWD ", Octets::LINE.check("path", &cwd.decode())?]);
    }
    let name = path.name();
    let name = name.decode();
    let name = Octets::LINE.check("path", &name)?;
    let is_listing = path.typecode() == Some(Typecode::Directory);
    match (is_listing, name.is_empty()) {
        (_, true) => transfer(outline, &[b"NLST"]),
        (true, false) => transfer(outline, &[b"NLST ", name]),
        (false, false) => {
            outline.say(&[b"TYPE ", type_argument(path.typecode()).as_bytes()]);
            transfer(outline, &[b"RETR ", name]);
        }
    }
    Ok(())
}

/// RFC 959 §4.1.2; without a typecode no octet is changed: image.
fn type_argument(typecode: Option<Typecode>) -> String {
    match typecode {
        Some(Typecode::Ascii) => "A".to_owned(),
        Some(Typecode::AsciiForm(form)) => format!("A {form}"),
        Some(Typecode::Ebcdic(form)) => format!("E {form}"),
        Some(Typecode::Local(bits)) => format!("L {bits}"),
        _ => "I".to_owned(),
    }
}
