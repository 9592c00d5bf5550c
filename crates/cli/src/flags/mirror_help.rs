//! The help of `mirror`, which accepts most options of a fetch.

use clap::{Args as _, Command};

use super::MirrorFlags;
use super::deferred::DeferrableFlags;

impl DeferrableFlags for MirrorFlags {
    fn define(command: Command) -> Command {
        adapt_help(Self::augment_args(command))
    }
}

/// Options that apply to a single object. `mirror` rejects them, ignores them in config
/// files, and does not list them in its help.
pub const SINGLE_OBJECT_OPTIONS: &[&str] = &[
    "output",
    "remote_name",
    "remote_name_all",
    "remote_header_name",
    "output_dir",
    "no_clobber",
    "globoff",
    "dump_header",
    "upload_file",
    "etag_save",
    "etag_compare",
    "remove_on_error",
    "input_file",
    "checksum",
    "time_cond",
    "range",
    "head",
    "include",
    "no_fail",
    "fail_with_body",
    "method",
    "data",
    "data_raw",
    "data_binary",
    "data_urlencode",
    "json",
    "list_only",
    "connect",
    "open",
    "form",
    "format",
];

/// Adapts the help of the arguments that `mirror` shares with fetching.
fn adapt_help(mirror: Command) -> Command {
    mirror.mut_args(|argument| match argument.get_id().as_str() {
        "urls" => {
            argument.help("URL of the directory or page to copy, and the local DIR to write to").long_help(
                "URL of the directory or page to copy, and the local DIR to write to\n\n\
             The default of DIR is the last name in the path of URL, or its host.",
            )
        }
        id if SINGLE_OBJECT_OPTIONS.contains(&id) => argument.hide(true),
        _ => argument,
    })
}
