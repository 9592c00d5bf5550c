//! User names and passwords: their sources, the servers that receive them, and output that must not contain them.

mod credentials;
mod digest_realms;
mod prompts;
mod secrets;
mod terminal_prompts;
