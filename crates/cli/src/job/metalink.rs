//! Metalink documents (RFC 5854) as transfers: each file has its places as alternative URLs, its checksum and its size.

use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::path::Path;

use fetch_url::output::{Algorithm, safe_name};
use fetch_url::{Checksum, Code, Error, Phase};
use fetch_url_proto::metalink::{self, MetalinkError, MetalinkFile, MetalinkPieces};

use super::checksum::ChecksumOptions;
use super::option_file::read_at_most;
use super::transfer::{DocumentPath, Output, Transfer};
use crate::error::usage_error;
use crate::flags::FetchFlags;

/// The algorithms that are supported, the strongest first, and their names in [`Checksum`].
const ALGORITHMS: [(&str, &str); 5] =
    [("sha-512", "sha512"), ("sha-384", "sha384"), ("sha-256", "sha256"), ("sha-1", "sha1"), ("md5", "md5")];

/// Returns the transfers of `--metalink`: those of a local document, and for a URL one that stands for its files.
pub(super) fn transfers(flags: &FetchFlags) -> Result<Vec<Transfer>, Error> {
    let (mut all, options) = (Vec::new(), ChecksumOptions::of(flags)?);
    for text in &flags.batch.metalink {
        let path = Path::new(text);
        if text.contains("://") {
            let output = Output::Stdout { is_explicit: true };
            all.push(Transfer { is_metalink: true, ..Transfer::new(text.clone(), output) });
            continue;
        }
        let failed = |error| usage_error(format!("--metalink {text}: {error}"));
        let file = File::open(path).map_err(failed)?;
        let document = read_at_most(metalink::MAX_SIZE as u64, file).map_err(|error| match error.kind() {
            io::ErrorKind::FileTooLarge => {
                usage_error(format!("--metalink {text}: {}", MetalinkError::LimitReached))
            }
            _ => failed(error),
        })?;
        let files = read_files(&document, flags.output_dir.as_deref());
        let mut files = files.map_err(|(_, detail)| usage_error(format!("--metalink {text}: {detail}")))?;
        options.apply_to_document(&mut files, true)?;
        all.append(&mut files);
    }
    Ok(all)
}

/// Returns the transfers of the files of a document, which are written below `directory`.
///
/// # Errors
/// `Code::PeerMisbehaved` if the document is invalid, or a name leaves the directory; `Code::LimitReached`.
pub(crate) fn files(document: &[u8], directory: Option<&Path>) -> Result<Vec<Transfer>, Error> {
    read_files(document, directory).map_err(|(code, detail)| Error::new(code, Phase::Body, detail))
}

/// Returns the transfers of the files of a document. The error is a code for a document of a server, and the reason.
fn read_files(document: &[u8], directory: Option<&Path>) -> Result<Vec<Transfer>, (Code, String)> {
    let files = metalink::parse(document).map_err(|error| {
        let code = match error {
            MetalinkError::LimitReached => Code::LimitReached,
            _ => Code::PeerMisbehaved,
        };
        (code, error.to_string())
    })?;
    let transfers = files.into_iter().map(|file| transfer(file, directory));
    transfers.collect::<Result<_, _>>().map_err(|detail| (Code::PeerMisbehaved, detail))
}

fn transfer(file: MetalinkFile, directory: Option<&Path>) -> Result<Transfer, String> {
    let path = safe_path(&file.name).ok_or_else(|| {
        format!("the metalink has the name {:?}, which is not below the directory", file.name)
    })?;
    let checksum = checksum(&file)?;
    let has_unusable_checksum = checksum.is_none() && !(file.hashes.is_empty() && file.pieces.is_empty());
    let directory = directory.unwrap_or(Path::new(""));
    let mut urls = file.urls.into_iter();
    let mut transfer = Transfer::new(urls.next().unwrap_or_default(), Output::File(directory.join(&path)));
    transfer.document_path = Some(DocumentPath { directory: directory.to_owned(), path });
    (transfer.alternatives, transfer.checksum) = (urls.collect(), checksum);
    (transfer.size, transfer.is_from_document) = (file.size, true);
    transfer.has_unusable_checksum = has_unusable_checksum;
    Ok(transfer)
}

/// Returns the relative path of a name, each of whose parts is sanitised, or `None` if it leads out of its directory (RFC
/// 5854 §4.1.2.1).
fn safe_path(name: &str) -> Option<String> {
    let part = |part: &str| {
        let is_name = !matches!(part, "" | "." | "..") && !part.contains('\\');
        is_name.then(|| safe_name(part.as_bytes()))?
    };
    name.split('/').map(part).collect::<Option<Vec<String>>>().map(|parts| parts.join("/"))
}

/// Returns the checksum of the strongest algorithm, or without one that of the pieces. An invalid checksum is an error,
/// because the file would not be checked.
fn checksum(file: &MetalinkFile) -> Result<Option<Checksum>, String> {
    let found = ALGORITHMS.iter().find_map(|(name, own)| {
        let (_, hex) = file.hashes.iter().find(|(kind, _)| kind.eq_ignore_ascii_case(name))?;
        Some((name, format!("{own}:{hex}")))
    });
    let Some((name, text)) = found else { return Ok(checksum_of_pieces(file)) };
    text.parse()
        .map(Some)
        .map_err(|_| format!("the metalink has an invalid {name} checksum for {:?}", file.name))
}

/// Returns the checksum of the pieces by the strongest algorithm for which the document has a digest of each piece.
fn checksum_of_pieces(file: &MetalinkFile) -> Option<Checksum> {
    ALGORITHMS.iter().find_map(|(name, own)| {
        let is_supported = |pieces: &&MetalinkPieces| pieces.algorithm.eq_ignore_ascii_case(name);
        let pieces = file.pieces.iter().find(is_supported)?;
        let length = pieces.length.and_then(NonZeroU64::new)?;
        let count = file.size.map(|size| size.div_ceil(length.get()));
        let is_complete = count.is_none_or(|count| count == pieces.hashes.len() as u64);
        Checksum::of_pieces(Algorithm::named(own)?, length, &pieces.hashes).filter(|_| is_complete)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sanitised_and_stay_below_the_directory() {
        for (name, path) in [
            ("a.iso", Some("a.iso")),
            ("dir/a.iso", Some("dir/a.iso")),
            (".bashrc", Some("_bashrc")),
            ("../a", None),
            ("dir/../../a", None),
            ("/etc/passwd", None),
            ("dir//a", None),
            ("..\\a", None),
            ("", None),
        ] {
            assert_eq!(safe_path(name), path.map(str::to_owned), "{name}");
        }
    }
}
