//! The help of `mirror`, which accepts most options of a fetch.

use clap::{Args as _, Command};

use super::deferred::DeferrableFlags;
use super::{MirrorFlags, SINGLE_OBJECT_OPTIONS};

/// Options that `mirror` accepts without effect, because it always lists directories, resumes files and sets their times.
const ALWAYS_ON: [&str; 4] = ["list", "continue_at", "continue_flag", "remote_time"];

impl DeferrableFlags for MirrorFlags {
    fn define(command: Command) -> Command {
        adapt_help(Self::augment_args(command))
    }
}

/// Adapts the help of the arguments that `mirror` shares with fetching.
fn adapt_help(mirror: Command) -> Command {
    mirror.mut_args(|argument| match argument.get_id().as_str() {
        "urls" => {
            argument.help("URL of the directory or page to copy, and the local DIR to write to").long_help(
                "URL of the directory or page to copy, and the local DIR to write to\n\n\
             The default of DIR is the last name in the path of URL, or its host.",
            )
        }
        id if SINGLE_OBJECT_OPTIONS.contains(id) || ALWAYS_ON.contains(&id) => argument.hide(true),
        _ => argument,
    })
}
