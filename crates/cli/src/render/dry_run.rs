//! The lines of `--dry-run`, on standard output.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use fetch_url::Error;
use fetch_url_proto::text::sanitise;
use serde_json::json;

use super::json::json_line;
use super::print_stdout;
use crate::flags::Format;

/// Prints that `url` would be fetched.
///
/// # Errors
/// As for [`print_stdout`].
pub(crate) fn print_fetch(
    url: &str,
    path: Option<&Path>,
    size: Option<u64>,
    format: Format,
) -> Result<(), Error> {
    if format == Format::Json {
        let line = json!({ "action": "fetch", "url": url, "file": path, "size": size });
        return print_stdout(&(json_line(&line) + "\n"));
    }
    let to = path.map_or_else(String::new, |path| format!(" to {}", sanitise(path.as_os_str().as_bytes())));
    let size = size.map_or_else(String::new, |size| format!(" ({size} bytes)"));
    print_stdout(&format!("fetch {}{to}{size}\n", sanitise(url.as_bytes())))
}

/// Prints that the file at `path` below the directory of a mirror would be deleted.
///
/// # Errors
/// As for [`print_stdout`].
pub(crate) fn print_delete(path: &str, format: Format) -> Result<(), Error> {
    match format {
        Format::Json => print_stdout(&(json_line(&json!({ "action": "delete", "file": path })) + "\n")),
        _ => print_stdout(&format!("delete {}\n", sanitise(path.as_bytes()))),
    }
}
