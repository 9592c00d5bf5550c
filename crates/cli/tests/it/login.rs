//! User names and passwords: where they come from, who gets them, where they must never appear.

mod credentials;
mod prompts;
mod secrets;
