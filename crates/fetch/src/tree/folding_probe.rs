//! The caller's function that tells whether a directory distinguishes names that differ only in case or Unicode form.

use std::fmt;

use crate::Error;

type FoldsNames = dyn Fn(&str, bool) -> Result<bool, Error> + Send + Sync;

/// The function that gets the path of a directory, and whether the names in question are ASCII, and tells whether names that
/// differ only in case or Unicode form are the same there. If the caller has set no function, they are different.
#[derive(Default)]
pub(super) struct FoldingProbe(Option<Box<FoldsNames>>);

impl FoldingProbe {
    pub(super) fn new(probe: impl Fn(&str, bool) -> Result<bool, Error> + Send + Sync + 'static) -> Self {
        Self(Some(Box::new(probe)))
    }

    pub(super) fn folds_names(&self, directory: &str, are_ascii: bool) -> Result<bool, Error> {
        self.0.as_ref().map_or(Ok(false), |probe| probe(directory, are_ascii))
    }
}

impl fmt::Debug for FoldingProbe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "FoldingProbe(..)" } else { "FoldingProbe(none)" })
    }
}
