//! The suffixes of temporary files. Names with them are reserved.

/// The suffix of the file with the downloaded data.
pub(super) const PART_SUFFIX: &str = ".fetch-url.part";
/// The suffix of the state file.
pub(super) const STATE_SUFFIX: &str = ".fetch-url.json";
/// The suffix of a small file, such as a state file, that is being written.
pub(super) const NEW_SUFFIX: &str = ".fetch-url.new";
/// Returns `true` if `name` has the suffix of a temporary file, ignoring case: case-insensitive file systems do not
/// distinguish `.PART` and `.part`.
pub(super) fn is_temporary_name(name: &[u8]) -> bool {
    [PART_SUFFIX, STATE_SUFFIX, NEW_SUFFIX].iter().any(|suffix| {
        let start = name.len().checked_sub(suffix.len());
        start.is_some_and(|start| name[start..].eq_ignore_ascii_case(suffix.as_bytes()))
    })
}
