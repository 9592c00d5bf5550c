//! Glob patterns for names and paths.

use ::glob::{MatchOptions, Pattern};

use crate::{Code, Error, Phase};

/// `*` does not match a slash, and matches a leading dot.
const MATCH_OPTIONS: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

/// A pattern for paths below the start directory: `*`, `?`, `[abc]`, and `**` across directories. A pattern without a
/// slash is matched against the names of entries at any depth.
#[derive(Clone, Debug)]
pub struct Glob {
    pattern: Pattern,
    /// The pattern is matched against the path instead of the name.
    matches_path: bool,
}

impl Glob {
    /// Parses a pattern.
    ///
    /// # Errors
    /// [`Code::Usage`] if `text` is not a valid pattern.
    pub fn new(text: &str) -> Result<Self, Error> {
        let matches_path = text.contains('/');
        let pattern = Pattern::new(text.strip_prefix('/').unwrap_or(text));
        let pattern_error =
            |error| Error::new(Code::Usage, Phase::Plan, format!("{text} is not a valid pattern: {error}"));
        Ok(Self { pattern: pattern.map_err(pattern_error)?, matches_path })
    }

    /// Returns `true` if the pattern matches the path of an entry below the start, or its name if the pattern contains no `/`.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.pattern.matches_with(if self.matches_path { path } else { name }, MATCH_OPTIONS)
    }
}
