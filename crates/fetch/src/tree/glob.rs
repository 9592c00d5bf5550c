//! Patterns for names and paths.

use ::glob::{MatchOptions, Pattern};

use crate::{Code, Error, Phase};

/// A `*` stops at a slash, and takes a leading dot.
const MATCHING: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

/// A pattern for paths below the first directory: `*`, `?`, `[abc]`, and `**` across directories. Without a slash it
/// is one for names, wherever they stand.
#[derive(Clone, Debug)]
pub struct Glob {
    pattern: Pattern,
    is_of_path: bool,
}

impl Glob {
    /// # Errors
    /// `usage`: it is no pattern.
    pub fn new(text: &str) -> Result<Self, Error> {
        let is_of_path = text.contains('/');
        let pattern = Pattern::new(text.strip_prefix('/').unwrap_or(text));
        let wrong = |error| Error::new(Code::Usage, Phase::Plan, format!("{text} is no pattern: {error}"));
        Ok(Self { pattern: pattern.map_err(wrong)?, is_of_path })
    }

    pub(super) fn takes(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.pattern.matches_with(if self.is_of_path { path } else { name }, MATCHING)
    }
}
