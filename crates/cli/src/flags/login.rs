//! Who asks: user and password, and where they come from.

use std::path::PathBuf;

use clap::Args;

/// Who asks.
#[derive(Args, Debug)]
pub struct Login {
    /// User and password for the server of the URL; without a password, it is asked for when the
    /// server wants it
    #[arg(short, long, value_name = "USER[:PASSWORD]")]
    pub user: Option<String>,
    /// The password for -u is the first line of FILE; - is standard input
    #[arg(long, value_name = "FILE", requires = "user")]
    pub password_file: Option<PathBuf>,
    /// Ask for the password before anything is fetched
    #[arg(long, requires = "user", conflicts_with = "password_file")]
    pub ask_password: bool,
    /// A program that is asked for passwords: it gets the question and prints the answer
    #[arg(long, value_name = "PROGRAM")]
    pub askpass: Option<PathBuf>,
    /// Look users and passwords up in ~/.netrc
    #[arg(short, long)]
    pub netrc: bool,
    /// The same, in FILE
    #[arg(long, value_name = "FILE")]
    pub netrc_file: Option<PathBuf>,
    /// The same, if there is such a file
    #[arg(long)]
    pub netrc_optional: bool,
    /// Its entry for every other host counts too
    #[arg(long)]
    pub netrc_default: bool,
}
