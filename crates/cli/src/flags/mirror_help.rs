//! The help of `mirror`, which accepts most options of a fetch.

use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

use super::MirrorFlags;

/// The flags of `mirror`. Its options are defined only when it is used, since they would double the time that a fetch
/// needs to define its own.
#[derive(Debug)]
pub struct DeferredMirrorFlags(pub Box<MirrorFlags>);

impl FromArgMatches for DeferredMirrorFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        MirrorFlags::from_arg_matches(matches).map(|flags| Self(Box::new(flags)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl Args for DeferredMirrorFlags {
    fn augment_args(command: Command) -> Command {
        command.defer(define_options)
    }

    fn augment_args_for_update(command: Command) -> Command {
        command.defer(define_options)
    }
}

/// Adds the options to the command and keeps its description, which the flags would replace by theirs.
fn define_options(command: Command) -> Command {
    let (about, long_about) = (command.get_about().cloned(), command.get_long_about().cloned());
    let mirror = adapt_help(MirrorFlags::augment_args(command)).about(about.unwrap_or_default());
    match long_about {
        Some(long_about) => mirror.long_about(long_about),
        None => mirror.long_about(None::<&str>),
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
