//! The number of files that `mirror --delete` may remove in a run (`--max-delete`).

use std::cell::Cell;

use fetch_url::{Code, Error, Phase};

/// The number of files that may be deleted without `--max-delete`, also if fewer files remain.
const ALWAYS_ALLOWED: u64 = 10;

/// Counts the files that a run deletes, and refuses more than the user allows. After a refusal, no further file is
/// deleted. Temporary files do not count.
///
/// Without `--max-delete`, as many files may be deleted as remain: a listing that lacks most files of the mirror is usually
/// faulty, because of an error of the server or a file system that is not mounted.
#[derive(Debug)]
pub(super) struct DeletionLimit {
    /// The number of `--max-delete`.
    max: Option<u64>,
    deleted: Cell<u64>,
    /// The number of files that were not deleted because of the limit, and the number of files that would remain.
    refused: Cell<Option<(u64, u64)>>,
}

impl DeletionLimit {
    /// Creates the limit. `max` is the number of `--max-delete`.
    pub(super) const fn new(max: Option<u64>) -> Self {
        Self { max, deleted: Cell::new(0), refused: Cell::new(None) }
    }

    /// Returns `true` if `files` more files may be deleted, and counts them. `remaining` returns the number of files of the
    /// mirror that stay; it is called only if that decides.
    pub(super) fn permits(&self, files: u64, remaining: impl FnOnce() -> u64) -> bool {
        let (deleted, refused) = (self.deleted.get() + files, self.refused.get());
        let is_few = self.max.is_none() && deleted <= ALWAYS_ALLOWED;
        if files == 0 || refused.is_none() && is_few {
            self.deleted.set(deleted);
            return true;
        }
        let remaining = match (refused, self.max) {
            (Some((_, remaining)), _) => remaining,
            (None, Some(_)) => 0,
            (None, None) => remaining(),
        };
        let is_permitted = refused.is_none() && deleted <= self.max.unwrap_or(remaining);
        if is_permitted {
            self.deleted.set(deleted);
        } else {
            let refused = refused.map_or(0, |(refused, _)| refused);
            self.refused.set(Some((refused + files, remaining)));
        }
        is_permitted
    }

    /// Returns the number of files that were permitted.
    pub(super) const fn deleted(&self) -> u64 {
        self.deleted.get()
    }

    /// Checks that no file was refused.
    ///
    /// # Errors
    /// [`Code::LimitReached`] with the number of files.
    pub(super) fn check(&self) -> Result<(), Error> {
        let Some((refused, remaining)) = self.refused.get() else { return Ok(()) };
        let needed = self.deleted.get() + refused;
        let why = match self.max {
            Some(max) => format!("the run would delete {needed}, more than --max-delete {max}"),
            None => format!("only {remaining} files would remain"),
        };
        let detail = format!("--delete kept {refused} files that are no longer listed: {why}");
        let hint = format!("`--max-delete {needed}` deletes them, if the server really removed them");
        Err(Error::new(Code::LimitReached, Phase::Deliver, detail).with_hint(hint))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_files_as_remain_but_at_least_10_may_be_deleted() {
        for (max, files, remaining, expected) in [
            (None, 10, 0, true),
            (None, 11, 10, false),
            (None, 11, 11, true),
            (None, 500, 499, false),
            (Some(0), 0, 0, true),
            (Some(0), 1, 100, false),
            (Some(3), 3, 0, true),
            (Some(3), 4, 100, false),
            (Some(u64::MAX), 1_000_000, 0, true),
        ] {
            let limit = DeletionLimit::new(max);
            assert_eq!(limit.permits(files, || remaining), expected, "{max:?} {files} {remaining}");
            assert_eq!(limit.check().is_ok(), expected);
        }
    }

    #[test]
    fn files_of_several_deletions_are_added_and_a_refusal_ends_them() {
        let limit = DeletionLimit::new(Some(5));
        assert!(limit.permits(2, || 9) && limit.permits(3, || 9));
        assert!(!limit.permits(4, || 8));
        assert!(!limit.permits(1, || 7), "nothing is deleted after a refusal");
        let error = limit.check().expect_err("refused").to_string();
        assert!(
            error.contains("kept 5 files") && error.contains("would delete 10, more than --max-delete 5"),
            "{error}"
        );
        let limit = DeletionLimit::new(Some(5));
        assert!(!limit.permits(6, || 9) && !limit.permits(1, || 9));
    }
}
