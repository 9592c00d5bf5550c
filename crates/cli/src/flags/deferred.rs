//! Flags of a sub-command whose options are defined only when it is used: they would double the time that a fetch needs
//! to define its own.

use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

/// Flags that can be deferred.
pub trait DeferrableFlags: Args {
    /// Adds the options to the command.
    fn define(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// The flags of a sub-command that defines its options late.
#[derive(Debug)]
pub struct DeferredFlags<F>(pub Box<F>);

impl<F: FromArgMatches> FromArgMatches for DeferredFlags<F> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        F::from_arg_matches(matches).map(|flags| Self(Box::new(flags)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl<F: DeferrableFlags> Args for DeferredFlags<F> {
    fn augment_args(command: Command) -> Command {
        command.defer(define_options::<F>)
    }

    fn augment_args_for_update(command: Command) -> Command {
        command.defer(define_options::<F>)
    }
}

/// Adds the options to the command and keeps its description, which the flags would replace by theirs.
fn define_options<F: DeferrableFlags>(command: Command) -> Command {
    let (about, long_about) = (command.get_about().cloned(), command.get_long_about().cloned());
    let defined = F::define(command).about(about.unwrap_or_default());
    match long_about {
        Some(long_about) => defined.long_about(long_about),
        None => defined.long_about(None::<&str>),
    }
}
