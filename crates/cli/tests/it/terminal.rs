//! Output for people: messages, help, progress, reports.

mod completions;
mod config;
mod control_characters;
mod help;
mod hints;
mod messages;
mod progress;
mod reports;
mod trace_replay;
mod typed_urls;
