//! What the octets of an object must come to.

use clap::Args;
use fetch_url::Checksum;

/// What the octets of an object must come to.
#[derive(Args, Debug)]
pub struct Check {
    /// The object has this digest, or is not taken: md5, sha1, sha256, sha384 or sha512, a colon, and its digits
    #[arg(long, value_name = "ALGORITHM:HEX")]
    pub checksum: Option<Checksum>,
    /// The digest stands in this list, by the object's name; auto: in a list beside the object
    #[arg(long, value_name = "URL|auto", conflicts_with = "checksum")]
    pub checksum_from: Option<String>,
}
