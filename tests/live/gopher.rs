//! `gopher:` and `gophers:` against real servers.

mod completeness;
mod dots;
mod errors;
mod files;
mod forms;
mod heads;
mod links;
mod menus;
mod names;
mod peers;
mod plus;
mod requests;
mod searches;
mod terminal;
mod tls;
