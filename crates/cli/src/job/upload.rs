//! The file that `-T` sends.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use fetch_url::Error;
use fetch_url::http::RequestBody;
use fetch_url::url::{PercentEncoded, charset};

use crate::error::usage_error;
use crate::stdin::stdin_for;

/// Returns the body of `-T`. A regular file is read while it is sent. Standard input, a FIFO or a device is stored first:
/// so its size is known, and it can be sent again after a redirect, a request for a login, or a failure.
pub(super) fn body(file: &Path) -> Result<RequestBody, Error> {
    let body = match file.to_str() {
        Some("-" | ".") => stored(stdin_for("-T")?),
        _ if is_stream(file) => File::open(file).and_then(stored),
        _ => RequestBody::file(file),
    };
    body.map_err(|error| {
        let error = usage_error(format!("-T {}: {error}", file.display()));
        error.with_hint("-T sends a file, as in curl; wget's -T is --read-timeout SECONDS")
    })
}

/// Appends the name of a file that is sent to the path of a URL if the path is missing or ends with a slash, as in curl.
/// Standard input has no name.
pub(super) fn with_file_name(url: &str, file: &Path) -> String {
    let (before, after) = url.split_at(url.find(['?', '#']).unwrap_or(url.len()));
    let authority = before.find("://").map_or(0, |at| at + 3);
    let has_path = before[authority..].contains('/');
    match file.file_name() {
        // The end of a text such as `<URL:http://h>` is not that of its path.
        Some(name) if name != "-" && !url.starts_with('<') && (!has_path || before.ends_with('/')) => {
            let slash = if has_path { "" } else { "/" };
            format!("{before}{slash}{}{after}", PercentEncoded::encode(name.as_bytes(), charset::UCHAR))
        }
        _ => url.to_owned(),
    }
}

fn is_stream(file: &Path) -> bool {
    let kind = file.metadata().map(|metadata| metadata.file_type());
    kind.is_ok_and(|kind| kind.is_fifo() || kind.is_char_device())
}

/// Stores everything that can be read in a temporary file without a name.
fn stored(mut source: impl Read) -> io::Result<RequestBody> {
    let mut file = tempfile::tempfile()?;
    io::copy(&mut source, &mut file)?;
    RequestBody::open_file(file)
}
