//! Gopher and Gopher+.

mod attributes;
mod forms;
mod plus_lines;
mod response;
