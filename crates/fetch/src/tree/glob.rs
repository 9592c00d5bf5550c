//! Glob patterns for names and paths.

use ::glob::{MatchOptions, Pattern};

use crate::{Code, Error, Phase};

/// `*` does not match a slash, and matches a leading dot.
const MATCH_OPTIONS: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

/// A pattern for paths below the first directory: `*`, `?`, `[abc]`, and `**` across directories. Without a slash it
/// is matched against the name of an entry at any depth.
#[derive(Clone, Debug)]
pub struct Glob {
    pattern: Pattern,
    matches_path: bool,
}

impl Glob {
    /// # Errors
    /// `usage` if `text` is not a valid pattern.
    pub fn new(text: &str) -> Result<Self, Error> {
        let matches_path = text.contains('/');
        let pattern = Pattern::new(text.strip_prefix('/').unwrap_or(text));
        let pattern_error =
            |error| Error::new(Code::Usage, Phase::Plan, format!("{text} is not a valid pattern: {error}"));
        Ok(Self { pattern: pattern.map_err(pattern_error)?, matches_path })
    }

    pub(super) fn takes(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.pattern.matches_with(if self.matches_path { path } else { name }, MATCH_OPTIONS)
    }
}
