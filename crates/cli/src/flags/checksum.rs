//! Options for checksums.

use clap::{ArgAction, Args};
use fetch_url::Checksum;

/// Options for checksums.
#[derive(Args, Debug)]
pub struct ChecksumFlags {
    /// Expected checksum; a file that does not match is discarded
    ///
    /// ALGORITHM is md5, sha1, sha256, sha384 or sha512. Only for a single URL.
    #[arg(long, value_name = "ALGORITHM:HEX", action = ArgAction::Append)]
    pub checksum: Option<Checksum>,
    /// Take the required checksum from the list at URL
    ///
    /// The checksum is found by the object's file name. auto tries the usual lists in the
    /// directory of the object, such as SHA256SUMS.
    #[arg(long, value_name = "URL|auto", conflicts_with = "checksum")]
    pub checksum_from: Option<String>,
}
