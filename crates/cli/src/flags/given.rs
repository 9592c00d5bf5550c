//! Which options the command line has, and at which positions. The values are in the flags.

use clap::parser::ValueSource;
use clap::{ArgMatches, Id};

/// The options that were given, not those with default values.
#[derive(Debug, Default)]
pub struct GivenOptions(Vec<(Id, Vec<usize>)>);

impl GivenOptions {
    /// Returns the options of the innermost sub-command, or of the command if there is none.
    pub fn of(mut matches: &ArgMatches) -> Self {
        while let Some((_, inner)) = matches.subcommand() {
            matches = inner;
        }
        let is_given = |id: &&Id| matches.value_source(id.as_str()) == Some(ValueSource::CommandLine);
        let positions = |id: &Id| matches.indices_of(id.as_str()).into_iter().flatten().collect();
        Self(matches.ids().filter(is_given).map(|id| (id.clone(), positions(id))).collect())
    }

    /// Returns `true` if the option was given.
    pub fn contains(&self, id: &str) -> bool {
        self.0.iter().any(|(given, _)| given == id)
    }

    /// Returns the positions of the values of an option, in the order of the command line.
    pub fn positions(&self, id: &str) -> impl Iterator<Item = usize> {
        let positions = self.0.iter().find(|(given, _)| given == id).map(|(_, positions)| positions);
        positions.into_iter().flatten().copied()
    }
}
