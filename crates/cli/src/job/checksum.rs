//! The checksum options.

use fetch_url::{Checksum, Error};

use super::Transfer;
use crate::error::usage_error;
use crate::flags::{ChecksumFlags, ContinueAt, FetchFlags};

/// The required checksum, or the URL of the list that contains it.
#[derive(Clone, Debug)]
pub(crate) struct ChecksumOptions {
    pub(crate) checksum: Option<Checksum>,
    pub(crate) checksum_from: Option<String>,
}

impl ChecksumOptions {
    /// Returns `true` if the checksum cannot be changed on its way: the user gave it, or its list comes over TLS.
    pub(super) fn is_protected(&self) -> bool {
        let is_tls =
            |from: &String| from.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("https://"));
        self.checksum.is_some() || self.checksum_from.as_ref().is_some_and(is_tls)
    }

    /// Applies the options to the files of a Metalink document, whose checksums are protected if it is local or came over
    /// TLS. `--checksum` takes precedence over the checksum of the document. A list that is resolved against the URL of a
    /// copy is no better than the copy, so it is used only for files without a checksum.
    ///
    /// # Errors
    /// `Code::Usage` if the options and the document contradict each other.
    pub(crate) fn apply_to_document(&self, files: &mut [Transfer], is_protected: bool) -> Result<(), Error> {
        let names_server = |from: &String| from.contains("://") || from.starts_with("//");
        if self.checksum.is_some() && files.len() > 1 {
            let detail = format!("--checksum applies to a single file, and the metalink has {}", files.len());
            return Err(usage_error(detail));
        }
        if self.checksum_from.as_ref().is_some_and(names_server)
            && files.iter().any(|file| file.checksum.is_some())
        {
            let detail = "--checksum-from does not replace the checksums that the metalink states";
            return Err(
                usage_error(detail).with_hint("leave out --checksum-from, or fetch the URL of the file")
            );
        }
        for file in files {
            file.checksum = self.checksum.clone().or(file.checksum.take());
            file.has_protected_checksum = is_protected && file.checksum.is_some();
            file.has_unusable_checksum &= self.checksum.is_none() && self.checksum_from.is_none();
        }
        Ok(())
    }

    /// Checks the checksum options.
    pub(super) fn of(flags: &FetchFlags) -> Result<Self, Error> {
        let ChecksumFlags { checksum, checksum_from } = &flags.checksum;
        let has_checksum = checksum.is_some() || checksum_from.is_some();
        if checksum.is_some() && flags.urls.len() + flags.batch.metalink.len() > 1 {
            return Err(usage_error("--checksum applies to a single URL")
                .with_hint("use --checksum-from for several URLs"));
        }
        if has_checksum
            && (flags.head
                || flags.include
                || flags.range.is_some()
                || matches!(flags.continue_at, Some(ContinueAt::Offset(_))))
        {
            return Err(usage_error("a checksum cannot be combined with -I, -i, -r and -C OFFSET"));
        }
        if flags.batch.metalink_over_http && flags.include {
            return Err(usage_error(
                "--metalink-over-http cannot be combined with -i: the digest is that of the object alone",
            ));
        }
        Ok(Self { checksum: checksum.clone(), checksum_from: checksum_from.clone() })
    }
}
