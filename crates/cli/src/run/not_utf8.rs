//! The error for an argument that is not UTF-8. clap does not say which one it is.

use std::ffi::OsString;

use clap::error::ErrorKind;
use fetch_url::Error;
use fetch_url::url::mask_password;
use fetch_url_proto::text::sanitise;

use crate::error::usage_error;
use crate::flags;

/// Returns the error for `arguments`, which clap has rejected because one of them is not UTF-8.
pub(super) fn error(arguments: &[OsString]) -> Error {
    let name = (1..arguments.len()).find(|&at| is_rejected(arguments, at)).map(|at| name(arguments, at));
    usage_error(format!("{} is not UTF-8", name.as_deref().unwrap_or("an argument")))
}

/// Returns `true` if clap rejects this argument although all others are UTF-8. Names of files may have any bytes.
fn is_rejected(arguments: &[OsString], at: usize) -> bool {
    let repaired = arguments.iter().enumerate().map(|(other, argument)| match other == at {
        true => argument.clone(),
        false => argument.to_string_lossy().into_owned().into(),
    });
    arguments[at].to_str().is_none() && parse_error(repaired) == Some(ErrorKind::InvalidUtf8)
}

/// Returns the name of the option, because its value may be a secret, or the URL.
fn name(arguments: &[OsString], at: usize) -> String {
    let lossy: Vec<String> =
        arguments[..=at].iter().map(|argument| argument.to_string_lossy().into()).collect();
    let (own, before) = (&lossy[at], &lossy[at - 1]);
    // The arguments before it end with an option that lacks its value.
    let is_value = parse_error(lossy[..at].iter().map(OsString::from)) == Some(ErrorKind::InvalidValue);
    let option = match own.strip_prefix("--") {
        _ if is_value => before.clone(),
        Some(long) => format!("--{}", long.split('=').next().unwrap_or_default()),
        None if own.starts_with('-') => own.chars().take(2).collect(),
        None => return format!("the argument {}", sanitise(mask_password(own).as_bytes())),
    };
    format!("the value of {}", sanitise(option.as_bytes()))
}

fn parse_error(arguments: impl Iterator<Item = OsString>) -> Option<ErrorKind> {
    flags::command().try_get_matches_from(arguments).err().map(|error| error.kind())
}
