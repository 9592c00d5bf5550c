//! Output for people: messages, help, progress, reports.

mod config;
mod control_characters;
mod messages;
mod progress;
mod reports;
mod trace_replay;
