//! Integration tests of `wais:` URLs (docs/spec/wais.md, docs/spec/semantics.md §8).

mod documents;
mod faults;
