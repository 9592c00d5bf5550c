//! The options of curl and wget with their equivalents in fetch-url: the source of the hints for unknown options and of the
//! tables of docs/spec/foreign-options.md.

/// An option of another program.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ForeignOption {
    /// The letter, if there is one, and the name, as in `-N, --timestamping`.
    pub names: &'static str,
    /// How fetch-url does the same.
    pub equivalent: Equivalent,
}

/// How fetch-url does what an option of another program does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Equivalent {
    /// The behaviour differs on purpose, for this reason.
    Different(&'static str),
    /// Another option or command does it.
    Ours(&'static str),
    /// It is an error, with this reason; the reason may be empty.
    Refused(&'static str),
    /// The option has the same name and meaning.
    Same,
}

const fn option(names: &'static str, equivalent: Equivalent) -> ForeignOption {
    ForeignOption { names, equivalent }
}

impl ForeignOption {
    /// Returns `true` if `option`, with its dashes, is the letter or the name of this option.
    pub fn is_spelt(&self, option: &str) -> bool {
        self.names.split(", ").any(|name| name == option)
    }
}

pub use curl::CURL_OPTIONS;
pub use wget::WGET_OPTIONS;

mod curl;
mod wget;

#[cfg(test)]
mod tests {
    use super::*;

    /// Options that work although the help does not list them.
    const HIDDEN: [&str; 2] = ["--data-ascii", "--help"];

    fn own_names() -> Vec<String> {
        let mut command = crate::flags::command();
        command.build();
        let names = command.get_arguments().flat_map(|argument| {
            let mut names = argument.get_long_and_visible_aliases().unwrap_or_default();
            names.extend(argument.get_all_aliases().unwrap_or_default());
            names.into_iter().map(|name| format!("--{name}")).collect::<Vec<_>>()
        });
        names.collect()
    }

    #[test]
    fn options_that_are_the_same_exist_and_others_of_curl_do_not() {
        let own = own_names();
        for option in CURL_OPTIONS.iter().chain(WGET_OPTIONS) {
            let name = option.names.split(", ").last().expect("a name");
            let exists = own.iter().any(|own| own == name) || HIDDEN.contains(&name);
            assert!(option.equivalent != Equivalent::Same || exists, "{name} is not an option");
        }
        let is_other = |option: &&ForeignOption| {
            matches!(option.equivalent, Equivalent::Ours(_) | Equivalent::Refused(_))
        };
        for option in CURL_OPTIONS.iter().filter(is_other) {
            assert!(!own.iter().any(|own| option.is_spelt(own)), "{} is supported", option.names);
        }
    }

    #[test]
    fn every_option_is_listed_once() {
        for table in [CURL_OPTIONS, WGET_OPTIONS] {
            let mut names: Vec<&str> = table.iter().flat_map(|option| option.names.split(", ")).collect();
            names.sort_unstable();
            let count = names.len();
            names.dedup();
            assert_eq!(names.len(), count);
        }
    }
}
