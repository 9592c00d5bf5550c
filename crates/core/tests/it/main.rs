//! Integration tests of the URL parser, one file per subject.

#![allow(clippy::expect_used, reason = "a test that cannot be set up fails")]

mod allocation;
mod corpora;
mod differences;
mod find;
mod grammar;
mod guess;
mod idn;
mod metamorphic;
mod origin;
mod redaction;
mod rows;
mod table;
mod url_traits;
