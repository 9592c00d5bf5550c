//! FTP's commands for a URL (RFC 1738 §3.2.2): CWD by CWD, then TYPE and RETR, or NLST.

use fetch_url_core::{FtpPath, FtpUrl, Typecode};

use crate::{ForbiddenOctet, Octets, Outline};

/// The commands after the login and beside the data connection's own.
pub(crate) fn requests(url: &FtpUrl<'_>, outline: &mut Outline) -> Result<(), ForbiddenOctet> {
    if let Some(user) = url.login().user() {
        Octets::LINE.check("user", &user.decode())?;
    }
    if let Some(password) = url.login().password() {
        Octets::LINE.check("password", &password.expose().decode())?;
    }
    match url.path() {
        Some(path) => path_requests(path, outline),
        None => {
            outline.say(&[b"NLST"]);
            Ok(())
        }
    }
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
        (_, true) => outline.say(&[b"NLST"]),
        (true, false) => outline.say(&[b"NLST ", name]),
        (false, false) => {
            outline.say(&[b"TYPE ", type_argument(path.typecode()).as_bytes()]);
            outline.say(&[b"RETR ", name]);
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
