//! Options for logins and their sources.

use std::path::PathBuf;

use clap::Args;

/// Options for logins and their sources.
#[derive(Args, Debug)]
pub struct LoginFlags {
    /// Login for the server of the URL
    ///
    /// A login in the URL is replaced. Without PASSWORD, fetch-url asks for it if the server
    /// requires one. A password on the command line is visible to other users.
    #[arg(short, long, value_name = "USER[:PASSWORD]")]
    pub user: Option<String>,
    /// Read the password for -u from the first line of FILE; - is standard input
    #[arg(long, value_name = "FILE", requires = "user")]
    pub password_file: Option<PathBuf>,
    /// Ask for the password for -u before fetching
    #[arg(long, requires = "user", conflicts_with = "password_file")]
    pub ask_password: bool,
    /// Run PROGRAM to ask for passwords
    ///
    /// PROGRAM gets the question as its only argument; the first line of its output is the answer.
    #[arg(long, value_name = "PROGRAM")]
    pub askpass: Option<PathBuf>,
    /// Look up logins in ~/.netrc
    #[arg(short, long)]
    pub netrc: bool,
    /// Look up logins in FILE
    #[arg(long, value_name = "FILE")]
    pub netrc_file: Option<PathBuf>,
    /// As --netrc, but the file may be missing
    #[arg(long)]
    pub netrc_optional: bool,
    /// Use the default entry of netrc for hosts without an entry
    #[arg(long)]
    pub netrc_default: bool,
}
