//! Files that options name, such as `--cacert FILE`.

use std::path::Path;

use fetch_url::Error;

use crate::error::usage_error;

/// Reads the file that `option` names.
pub(super) fn read_option_file(option: &str, path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|error| usage_error(format!("{option} {}: {error}", path.display())))
}
