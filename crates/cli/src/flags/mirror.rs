//! A copy of a whole directory.

use clap::{ArgAction, Args};

use super::Fetch;

/// Copy a directory and all below it.
#[derive(Args, Debug)]
pub struct Mirror {
    /// What of it, and how.
    #[command(flatten)]
    pub tree: Tree,
    /// How each file is fetched.
    #[command(flatten)]
    pub fetch: Fetch,
}

/// What of a directory is copied.
#[derive(Args, Debug)]
pub struct Tree {
    /// How many directories deep; 0 is the first alone
    #[arg(long, help_heading = "Mirror", value_name = "N", default_value = "32")]
    pub max_depth: u32,
    /// Only files whose name matches: * ? [abc]; with a / in it, whose path below URL does, ** across directories
    #[arg(long, help_heading = "Mirror", value_name = "GLOB", action = ArgAction::Append)]
    pub include_glob: Vec<String>,
    /// No file and no directory that matches
    #[arg(long, help_heading = "Mirror", value_name = "GLOB", action = ArgAction::Append)]
    pub exclude_glob: Vec<String>,
    /// Delete what an earlier run has brought and is not there any more, unless it was changed here
    #[arg(long, help_heading = "Mirror")]
    pub delete: bool,
    /// Names that begin with a dot keep it
    #[arg(long, help_heading = "Mirror")]
    pub dot_names: bool,
}
