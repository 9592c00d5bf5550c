//! Splits the command line at `--next` into groups, each of which has URLs and options of its own.

use std::ffi::OsString;

/// Returns the arguments of each group, with the name of the program first. `-q` applies to all groups.
pub(super) fn split(arguments: Vec<OsString>) -> Vec<Vec<OsString>> {
    let program: Vec<OsString> = arguments.first().cloned().into_iter().collect();
    let shared = arguments.get(1).filter(|first| *first == "-q" || *first == "--disable").cloned();
    let mut groups = vec![Vec::new()];
    let mut has_options = true;
    for argument in arguments.into_iter() {
        // After --, every argument is a URL.
        has_options &= argument != "--";
        if has_options && (argument == "--next" || argument == "-:") {
            groups.push(program.iter().chain(&shared).cloned().collect());
        } else if let Some(group) = groups.last_mut() {
            group.push(argument);
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_have_the_program_and_the_option_that_applies_to_all() {
        let split = |text: &str| {
            let groups = split(text.split(' ').map(OsString::from).collect());
            let join =
                |group: Vec<OsString>| group.join(std::ffi::OsStr::new(" ")).into_string().expect("text");
            groups.into_iter().map(join).collect::<Vec<_>>()
        };
        assert_eq!(split("p -s a"), ["p -s a"]);
        assert_eq!(split("p -s a --next b -: -v c"), ["p -s a", "p b", "p -v c"]);
        assert_eq!(split("p -q a --next b"), ["p -q a", "p -q b"]);
        assert_eq!(split("p a -- --next"), ["p a -- --next"]);
        assert_eq!(split("p --next"), ["p", "p"]);
    }
}
