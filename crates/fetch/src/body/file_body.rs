//! A body that is an open file, for copies by the kernel.

use crate::source_file::SourceFile;

/// An open file with the expected length and the size limit, which the copying code must check.
pub(crate) struct FileBody {
    pub(crate) source: SourceFile,
    pub(crate) expected: Option<u64>,
    pub(crate) max_size: Option<u64>,
}
