//! Integration tests of `telnet:` URLs (docs/spec/semantics.md §7).

mod endless_data;
mod session;
mod terminal;
