//! Parses the format of `-w`.

use fetch_url::Error;
use fetch_url::internal::Descriptor;

use super::variables::{VARIABLES, Variable};
use crate::error::usage_error;

/// A part of a format.
#[derive(Debug)]
pub(super) enum Piece {
    Text(String),
    Variable(&'static Variable),
    Header {
        name: String,
        /// Prints all fields of this name, separated by this text; `None` prints the first one.
        separator: Option<String>,
    },
    HeaderJson,
    Json,
    OnError,
    To(Stream),
}

/// The output stream selected by `%{stdout}`, `%{stderr}` or `%output{FILE}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    Stdout,
    Stderr,
    File { path: String, appends: bool },
}

/// Parses the text between the braces.
type ParsePiece = fn(&str) -> Result<Piece, Error>;

/// Parses a format into its pieces.
pub(super) fn parse_format(format: &str) -> Result<Vec<Piece>, Error> {
    let (mut pieces, mut rest) = (Vec::new(), format);
    while let Some(mark) = rest.find(['%', '\\']) {
        pieces.push(Piece::Text(rest[..mark].to_owned()));
        let (piece, after) = parse_special(&rest[mark..])?;
        pieces.push(piece);
        rest = after;
    }
    pieces.push(Piece::Text(rest.to_owned()));
    Ok(pieces)
}

/// Parses the variable or escape at the start of the text. Returns it and the rest of the text.
fn parse_special(text: &str) -> Result<(Piece, &str), Error> {
    let plain = |piece: &str, length: usize| Ok((Piece::Text(piece.to_owned()), &text[length..]));
    for (mark, meaning) in [("\\n", "\n"), ("\\r", "\r"), ("\\t", "\t"), ("%%", "%")] {
        if text.starts_with(mark) {
            return plain(meaning, mark.len());
        }
    }
    let parsers =
        [("%{", parse_variable as ParsePiece), ("%header{", parse_header), ("%output{", parse_output)];
    for (opening, parse) in parsers {
        let Some(inside) = text.strip_prefix(opening) else { continue };
        let Some(end) = closing_brace(inside) else { return Err(usage_error("-w: missing } after {")) };
        return Ok((parse(&inside[..end])?, &inside[end + 1..]));
    }
    plain(&text[..1], 1)
}

/// Returns the position of the closing brace; `\}` is a brace in a separator.
fn closing_brace(text: &str) -> Option<usize> {
    text.match_indices('}').map(|(at, _)| at).find(|&at| !text[..at].ends_with('\\'))
}

/// Parses the name between `%{` and `}`.
fn parse_variable(name: &str) -> Result<Piece, Error> {
    match name {
        "header_json" => Ok(Piece::HeaderJson),
        "json" => Ok(Piece::Json),
        "onerror" => Ok(Piece::OnError),
        "stderr" => Ok(Piece::To(Stream::Stderr)),
        "stdout" => Ok(Piece::To(Stream::Stdout)),
        _ => match VARIABLES.iter().find(|variable| variable.name == name) {
            Some(variable) => Ok(Piece::Variable(variable)),
            None => Err(usage_error(format!("-w: unknown variable {name:?}")).with_hint(known_variables())),
        },
    }
}

/// Parses `NAME` or `NAME:all[:SEPARATOR]` between `%header{` and `}`.
fn parse_header(text: &str) -> Result<Piece, Error> {
    let Some((name, which)) = text.split_once(':') else {
        return Ok(Piece::Header { name: text.to_owned(), separator: None });
    };
    let separator = match which.strip_prefix("all") {
        Some("") => "",
        Some(rest) if rest.starts_with(':') => &rest[1..],
        _ => return Err(usage_error(format!("-w: %header{{{text}}}: expected NAME or NAME:all:SEPARATOR"))),
    };
    Ok(Piece::Header { name: name.to_owned(), separator: Some(unescape_separator(separator)) })
}

/// Replaces the escapes of a separator: `\n`, `\r`, `\t` and `\}`.
fn unescape_separator(text: &str) -> String {
    let escapes = [("\\n", "\n"), ("\\r", "\r"), ("\\t", "\t"), ("\\}", "}")];
    escapes.iter().fold(text.to_owned(), |text, (escape, meaning)| text.replace(escape, meaning))
}

/// Parses `FILE` or `>>FILE` between `%output{` and `}`.
fn parse_output(text: &str) -> Result<Piece, Error> {
    let (path, appends) = match text.strip_prefix(">>") {
        Some(path) => (path, true),
        None => (text, false),
    };
    if path.is_empty() {
        return Err(usage_error("-w: %output{} needs the name of a file"));
    }
    if Descriptor::named_by(path.as_ref()) == Some(Descriptor::STDOUT) {
        return Ok(Piece::To(Stream::Stdout));
    }
    Ok(Piece::To(Stream::File { path: path.to_owned(), appends }))
}

/// Returns the hint that lists all variables.
fn known_variables() -> String {
    let names: Vec<&str> = VARIABLES.iter().map(|variable| variable.name).collect();
    format!("known variables: json header_json onerror stderr stdout header{{NAME}} {}", names.join(" "))
}
