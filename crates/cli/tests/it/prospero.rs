//! Integration tests of `prospero:` URLs (docs/spec/prospero.md, docs/spec/semantics.md §10).

mod access_methods;
mod datagrams;
mod faults;
