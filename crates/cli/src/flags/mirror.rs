//! Options of `fetch-url mirror`.

use clap::{ArgAction, Args};

use super::FetchFlags;

/// Options of `fetch-url mirror`.
#[derive(Args, Debug)]
pub struct MirrorFlags {
    /// Options for the files and directories to copy.
    #[command(flatten)]
    pub tree: TreeFlags,
    /// Options for fetching each file.
    #[command(flatten)]
    pub fetch: FetchFlags,
}

/// Options for the files and directories to copy.
#[derive(Args, Debug)]
pub struct TreeFlags {
    /// Maximum depth of directories, and of links between pages
    ///
    /// 0 copies only the first directory, or the first page and the files that a browser loads
    /// with it.
    #[arg(
        long,
        help_heading = "Mirror",
        value_name = "N",
        allow_negative_numbers = true,
        default_value = "32"
    )]
    pub max_depth: u32,
    /// Copy only files that match GLOB
    ///
    /// *, ? and [abc] match within a name. A GLOB with / is compared with the path below the URL,
    /// where ** matches across directories. Repeatable.
    #[arg(long, help_heading = "Mirror", value_name = "GLOB", action = ArgAction::Append)]
    pub include_glob: Vec<String>,
    /// Do not copy files and directories that match GLOB
    ///
    /// Repeatable.
    #[arg(long, help_heading = "Mirror", value_name = "GLOB", action = ArgAction::Append)]
    pub exclude_glob: Vec<String>,
    /// Delete files that an earlier run copied and the server no longer lists
    ///
    /// A file that was changed locally is kept, and nothing is deleted if a listing is incomplete,
    /// empty, refused or redirected.
    #[arg(long, help_heading = "Mirror")]
    pub delete: bool,
    /// Maximum number of files that --delete removes
    ///
    /// If more files are no longer listed, they are kept, and the exit status is 63. By default,
    /// --delete removes up to 10 files or half of the files of the mirror, whichever is more.
    #[arg(long, help_heading = "Mirror", value_name = "N", allow_negative_numbers = true)]
    pub max_delete: Option<u64>,
    /// Copy one page and the files that a browser loads with it
    ///
    /// Images, style sheets, scripts and fonts on the server of the page are copied, also those outside
    /// its directory. Links to other pages are not followed.
    #[arg(long, help_heading = "Mirror")]
    pub page_requisites: bool,
    /// Keep a leading dot in names; by default it becomes _
    #[arg(long, help_heading = "Mirror")]
    pub dot_names: bool,
}
