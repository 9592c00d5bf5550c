//! Errors for the names of sub-commands in places where clap takes them for URLs.

use fetch_url::Error;

use crate::error::usage_error;

/// Names of sub-commands. As the first argument, they are not URLs.
const VERBS: [&str; 6] = ["completions", "explain", "extract", "mirror", "queue", "serve"];

/// Returns the error for the sub-command `verb` if it is not part of this build.
pub(crate) fn unbuilt_verb_error(verb: &str) -> Option<Error> {
    let is_built = match verb {
        "queue" => cfg!(feature = "queue"),
        "serve" => cfg!(feature = "serve"),
        _ => true,
    };
    let error = || usage_error(format!("this build has no sub-command {verb}"));
    (!is_built).then(|| error().with_hint(format!("cargo install fetch-url-cli --features {verb}")))
}

/// Returns the error for `argument` if it is the name of a sub-command, which clap has not found: it follows an option,
/// or is not part of this build.
pub(super) fn misplaced_verb_error(argument: &str) -> Option<Error> {
    let misplaced = || {
        usage_error(format!("the sub-command {argument} must precede its options"))
            .with_hint(format!("fetch-url {argument} OPTIONS ..."))
    };
    VERBS.contains(&argument).then(|| unbuilt_verb_error(argument).unwrap_or_else(misplaced))
}
