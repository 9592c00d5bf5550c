//! Destinations of a body: a file that gets its final name when it is complete, an open file, or a writer, each with an
//! optional digest.
//!
//! A [`Sink`] is a destination that was chosen; `begin` opens it as a `Target` when the response has arrived. The target of a
//! file is a `Part` (`part.rs`): the temporary file, its state for a resume, and the rename. `writer.rs` writes the chunks of the body to the
//! target.

pub(crate) mod descriptor;
pub(crate) mod device;
pub(crate) mod digest;
pub(crate) mod dir_handle;
pub(crate) mod file;
mod file_id;
mod free_space;
pub(crate) mod journal;
mod kept_bytes;
mod leftover_file;
mod leftovers;
pub(crate) mod name;
mod name_folding;
mod network_disk;
mod object_check;
mod open_part;
pub(crate) mod output_directory;
mod ownership;
mod part;
pub(crate) mod part_paths;
pub(crate) mod private;
pub(crate) mod saved_file;
mod state;
mod temporary_names;
mod unnamed_file;
pub(crate) mod url_name;
mod writeback;
pub(crate) mod writer;

use std::fs::{File, Metadata};
use std::io::{IoSlice, IsTerminal as _, Seek as _, Write};
use std::os::unix::fs::{FileExt as _, FileTypeExt as _};

use digest::{Algorithm, Digest, DigestForm};
use file::FileSink;
use file_id::file_id;
use object_check::ObjectCheck;
use part::Part;
use saved_file::SavedFile;

use crate::kernel_pipe::KernelPipe;
use crate::{Checksum, Code, Error, Meta, Phase, Resume};

/// The destination of a body: a file, an open file such as standard output, or any writer.
pub struct Sink {
    kind: Kind,
    check: ObjectCheck,
    /// The number of bytes that will be written, if it is known.
    body_length: Option<u64>,
    before_rename: Option<RenameHook>,
}

/// A function of the caller that runs before a complete file gets its final name.
type RenameHook = Box<dyn FnOnce() -> Result<(), Error> + Send>;

enum Kind {
    File(FileSink),
    Open(File),
    Writer(Box<dyn Write + Send>),
}

impl Sink {
    const fn new(kind: Kind) -> Self {
        Self { kind, check: ObjectCheck::new(), body_length: None, before_rename: None }
    }

    /// Returns `true` if the sink writes a file that gets its final name when it is complete.
    pub(crate) const fn is_file(&self) -> bool {
        matches!(self.kind, Kind::File(_))
    }

    /// Returns a sink that writes a temporary file, which gets its final name when the object is complete.
    pub const fn file(file: FileSink) -> Self {
        Self::new(Kind::File(file))
    }

    /// Returns a sink that writes to an open file or pipe, such as standard output, as bytes arrive.
    pub const fn open(file: File) -> Self {
        Self::new(Kind::Open(file))
    }

    /// Returns a sink that writes to `writer` on a separate thread. If a write waits for ever, such as to a pipe whose reader
    /// does not read, the thread stays when the request ends, and dropping the tokio runtime waits for it;
    /// [`Runtime::shutdown_timeout`](tokio::runtime::Runtime::shutdown_timeout) does not.
    pub fn writer(writer: impl Write + Send + 'static) -> Self {
        Self::new(Kind::Writer(Box::new(writer)))
    }

    /// Computes the digest of the whole object, which [`Receipt::digest`](crate::Receipt::digest) returns.
    #[must_use]
    pub const fn with_digest(mut self, algorithm: Algorithm) -> Self {
        self.check.requested = Some(DigestForm::whole(algorithm));
        self
    }

    /// Requires this checksum of the whole object. Otherwise saving fails with
    /// [`Code::ChecksumMismatch`](crate::Code::ChecksumMismatch), and no file is created or kept.
    #[must_use]
    pub fn with_checksum(mut self, checksum: Checksum) -> Self {
        self.check.required = Some(checksum);
        self
    }

    /// Requires the checksum of the whole object that `stated` finds in the metadata of the response, such as
    /// [`http::digest`](crate::http::digest), if it finds one. If the download is restarted, the checksum of the new response
    /// is required instead. [`Sink::with_checksum`] has precedence.
    #[must_use]
    pub const fn with_stated_checksum(mut self, stated: fn(&Meta) -> Option<Checksum>) -> Self {
        self.check.find = Some(stated);
        self
    }

    /// Requires this size of the whole object in bytes. Otherwise saving to a file fails with
    /// [`Code::PeerMisbehaved`](crate::Code::PeerMisbehaved), and no file is created or kept. With
    /// [`Sink::with_checksum`], only the checksum is verified.
    #[must_use]
    pub const fn with_size(mut self, size: u64) -> Self {
        self.check.size = Some(size);
        self
    }

    /// Sets a function that is called before a complete file gets its final name. If it fails, no file is created or replaced.
    /// It can remove a record of the old version, so that a killed process leaves no wrong one. It must not block for long.
    #[must_use]
    pub fn before_rename(mut self, hook: impl FnOnce() -> Result<(), Error> + Send + 'static) -> Self {
        self.before_rename = Some(Box::new(hook));
        self
    }

    /// Sets the number of bytes that will be written, if it is known: the file system must have as much free space.
    pub(crate) const fn with_body_length(mut self, length: Option<u64>) -> Self {
        self.body_length = length;
        self
    }

    /// Returns `true` if the object must have a given checksum.
    pub(crate) const fn has_checksum(&self) -> bool {
        self.check.required.is_some()
    }

    /// Fails if `source` is the file that would be written.
    pub(crate) fn check_source(&self, source: &File) -> Result<(), Error> {
        let Ok(metadata) = source.metadata() else { return Ok(()) };
        match &self.kind {
            Kind::File(file) => file.check_source(&metadata),
            Kind::Open(file) => check_open_source(file, &metadata),
            Kind::Writer(_) => Ok(()),
        }
    }

    /// Limits the permissions of a new file to those of `source`, the local file that is copied.
    pub(crate) fn limit_permissions(&mut self, source: &File) {
        if let (Kind::File(file), Ok(metadata)) = (&mut self.kind, source.metadata()) {
            file.limit_permissions(&metadata);
        }
    }

    /// Prepares the destination for the body that `meta` describes.
    pub(crate) fn begin(mut self, meta: &Meta) -> Result<Target, Error> {
        self.check.read_stated_checksum(meta);
        let mut digest = self.check.new_digest();
        let kind = match self.kind {
            Kind::File(file) => file.begin(meta, self.body_length, digest.as_deref_mut())?,
            Kind::Open(file) => TargetKind::Open(file),
            Kind::Writer(writer) => TargetKind::Writer(writer),
        };
        Ok(Target { kind, check: self.check, digest, written: 0, before_rename: self.before_rename })
    }
}

/// An opened destination. If it is dropped before `finish`, its partial file is kept if it can be resumed, or else
/// removed.
pub(crate) struct Target {
    kind: TargetKind,
    check: ObjectCheck,
    digest: Option<Box<Digest>>,
    written: u64,
    before_rename: Option<RenameHook>,
}

pub(crate) enum TargetKind {
    Open(File),
    Part(Box<Part>),
    Writer(Box<dyn Write + Send>),
}

/// The result of a finished target.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) written: u64,
    pub(crate) digest: Option<String>,
    /// The file, unless the target is a device, a pipe or a writer.
    pub(crate) file: Option<SavedFile>,
}

impl Target {
    /// Writes all chunks, in as few system calls as possible.
    pub(crate) fn write(&mut self, bytes: &[bytes::Bytes]) -> Result<(), Error> {
        if let Some(digest) = &mut self.digest {
            bytes.iter().for_each(|chunk| digest.update(chunk));
        }
        let mut slices: Vec<IoSlice<'_>> = bytes.iter().map(|chunk| IoSlice::new(chunk)).collect();
        let length: usize = bytes.iter().map(bytes::Bytes::len).sum();
        let mut left = &mut slices[..];
        IoSlice::advance_slices(&mut left, 0);
        let writer: &mut dyn Write = match &mut self.kind {
            TargetKind::Open(file) => file,
            TargetKind::Part(part) => part.file(),
            TargetKind::Writer(writer) => writer,
        };
        while !left.is_empty() {
            match writer.write_vectored(left) {
                Ok(0) => return Err(failed(std::io::ErrorKind::WriteZero.into())),
                Ok(count) => IoSlice::advance_slices(&mut left, count),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.write_failed(error)),
            }
        }
        self.advance(length as u64)
    }

    /// Lets the kernel copy up to `most` bytes from `source`. Returns the number of copied bytes.
    pub(crate) fn copy(&mut self, source: &mut File, most: u64) -> Result<u64, Error> {
        use std::io::Read as _;
        let file = match &mut self.kind {
            TargetKind::Open(file) => file,
            TargetKind::Part(part) => part.file(),
            TargetKind::Writer(_) => {
                return Err(Error::new(Code::Internal, Phase::Deliver, "the destination is not a file"));
            }
        };
        // The standard library copies files with copy_file_range, sendfile or splice.
        let copied = std::io::copy(&mut source.take(most), file);
        // The error may be that of the source, too.
        let copied = copied.map_err(|error| self.write_failed(error))?;
        self.advance(copied)?;
        Ok(copied)
    }

    /// Returns `true` if the kernel can copy into the target: it is a file or an open file descriptor, and no digest is
    /// requested.
    pub(crate) const fn supports_kernel_copy(&self) -> bool {
        self.digest.is_none() && !matches!(self.kind, TargetKind::Writer(_))
    }

    /// Returns `true` if [`Self::write_from_pipe`] can be called: the target is a temporary file, and no digest is
    /// requested.
    pub(crate) const fn supports_pipe(&self) -> bool {
        self.digest.is_none() && matches!(self.kind, TargetKind::Part(_))
    }

    /// Writes the `count` bytes that are in `pipe`. Returns the last [`Resume::TAIL`] bytes of the file.
    pub(crate) fn write_from_pipe(&mut self, pipe: &mut KernelPipe, count: usize) -> Result<Vec<u8>, Error> {
        let TargetKind::Part(part) = &mut self.kind else {
            return Err(Error::new(Code::Internal, Phase::Deliver, "no file to write into"));
        };
        pipe.drain_to(part.file()).map_err(|error| part.write_failed(error))?;
        let end = part.state.bytes + count as u64;
        self.advance(count as u64)?;
        let tail = usize::try_from(end).unwrap_or(Resume::TAIL).min(Resume::TAIL);
        self.read_at(end - tail as u64, tail)
    }

    /// Returns `true` if the target can be emptied and written again.
    pub(crate) fn can_restart(&self) -> bool {
        matches!(&self.kind, TargetKind::Part(part) if part.can_restart())
    }

    /// Empties the target, for another version of the object, which `meta` describes.
    pub(crate) fn restart(&mut self, meta: &Meta) -> Result<(), Error> {
        let TargetKind::Part(part) = &mut self.kind else {
            return Err(Error::new(
                Code::Internal,
                Phase::Deliver,
                "bytes already written cannot be discarded",
            ));
        };
        part.restart(meta).map_err(failed)?;
        self.check.read_stated_checksum(meta);
        self.digest = self.check.new_digest();
        self.written = 0;
        Ok(())
    }

    /// Returns `true` if bytes can be written in any order.
    pub(crate) fn supports_random_writes(&self) -> bool {
        self.can_restart()
    }

    /// Computes the digest of a file that was written in segments, if one is requested, by reading the file
    /// again.
    pub(crate) fn digest_segments(&mut self) -> Result<(), Error> {
        if let (Some(digest), TargetKind::Part(part)) = (&mut self.digest, &mut self.kind) {
            let bytes = part.state.bytes;
            let file = part.file();
            file.rewind().and_then(|()| digest.update_from(file, bytes)).map_err(failed)?;
        }
        Ok(())
    }

    /// Writes bytes at `offset`. [`Self::set_valid_length`] records the number of bytes before the first gap.
    pub(crate) fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        let TargetKind::Part(part) = &mut self.kind else {
            return Err(Error::new(Code::Internal, Phase::Deliver, "no file to write into"));
        };
        part.file().write_all_at(bytes, offset).map_err(|error| part.write_failed(error))
    }

    /// Reads back bytes that were written.
    pub(crate) fn read_at(&mut self, offset: u64, count: usize) -> Result<Vec<u8>, Error> {
        let TargetKind::Part(part) = &mut self.kind else {
            return Err(Error::new(Code::Internal, Phase::Deliver, "no file to read"));
        };
        let mut bytes = vec![0; count];
        part.file().read_exact_at(&mut bytes, offset).map_err(failed)?;
        Ok(bytes)
    }

    /// Records that the first `bytes` bytes of the object are written without a gap.
    pub(crate) fn set_valid_length(&mut self, bytes: u64) -> Result<(), Error> {
        self.written = bytes;
        match &mut self.kind {
            TargetKind::Part(part) => part.set_length(bytes),
            _ => Ok(()),
        }
    }

    /// Returns `true` if a write can block for long: to a pipe, a socket, a terminal, or a writer of the caller. Such
    /// writes must not run on the thread that handles signals.
    pub(crate) fn may_block(&self) -> bool {
        match &self.kind {
            TargetKind::Open(file) => {
                let is_pipe = file
                    .metadata()
                    .is_ok_and(|metadata| metadata.file_type().is_fifo() || metadata.file_type().is_socket());
                is_pipe || file.is_terminal()
            }
            TargetKind::Part(_) => false,
            TargetKind::Writer(_) => true,
        }
    }

    /// Returns the error for a failed write to the target.
    fn write_failed(&mut self, error: std::io::Error) -> Error {
        match &mut self.kind {
            TargetKind::Part(part) => part.write_failed(error),
            _ => failed(error),
        }
    }

    fn advance(&mut self, bytes: u64) -> Result<(), Error> {
        self.written += bytes;
        match &mut self.kind {
            TargetKind::Part(part) => part.advance(bytes),
            _ => Ok(()),
        }
    }

    /// Finishes the target: verifies the checksum, or without one the size, and gives the temporary file its final
    /// name.
    pub(crate) fn finish(self) -> Result<Finished, Error> {
        let size = match &self.kind {
            TargetKind::Part(part) => Some(part.state.bytes),
            TargetKind::Open(_) | TargetKind::Writer(_) => None,
        };
        let checked = self.check.check(self.digest.map(|digest| digest.hex()), size);
        let mut file = None;
        match self.kind {
            TargetKind::Part(part) if checked.is_err() => part.discard(),
            TargetKind::Part(part) => file = part.finish(self.before_rename)?,
            TargetKind::Writer(mut writer) => writer.flush().map_err(failed)?,
            TargetKind::Open(_) => {}
        }
        checked.map(|digest| Finished { written: self.written, digest, file })
    }
}

/// Fails if the file with the metadata `source` is the regular file that is open as `file`.
fn check_open_source(file: &File, source: &Metadata) -> Result<(), Error> {
    let is_same = file.metadata().is_ok_and(|own| own.is_file() && file_id(&own) == file_id(source));
    if is_same { Err(same_file_error()) } else { Ok(()) }
}

/// Returns the error for a destination that is also the source.
fn same_file_error() -> Error {
    Error::new(Code::SinkFailed, Phase::Deliver, "source and destination are the same file")
}

/// Returns the error for a failed write.
fn failed(error: std::io::Error) -> Error {
    Error::new(Code::SinkFailed, Phase::Deliver, error.to_string()).with_source(error)
}

#[cfg(test)]
mod tests;
