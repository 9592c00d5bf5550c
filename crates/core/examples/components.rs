//! Prints the components of each URL on the command line, as each dialect parses them.
#![allow(clippy::print_stdout, reason = "an example prints")]

use fetch_url_core::{Dialect, parse_with};

fn main() {
    for text in std::env::args().skip(1) {
        for dialect in [Dialect::Rfc1738, Dialect::Lenient, Dialect::Cern1993] {
            match parse_with(&text, dialect) {
                Ok(parsed) => {
                    let notes: Vec<_> = parsed.notes.iter().map(|note| note.kind().code()).collect();
                    println!("{dialect:?}: {} {notes:?}", parsed.url.redacted());
                    for component in parsed.url.components() {
                        println!("    {}={}", component.name, component.value);
                    }
                }
                Err(error) => println!("{dialect:?}: {} at {:?}", error.kind().code(), error.span()),
            }
        }
    }
}
