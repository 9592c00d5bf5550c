//! The body of a request: bytes, and files that are read while they are sent.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::SystemTime;

use bytes::{Bytes, BytesMut};
use hyper::body::{Body, Frame, SizeHint};
use rustix::fs::OFlags;

use super::upload::{FILE_CHANGED, OutgoingChunk, Upload};
use crate::virtual_files::is_virtual_file;
use crate::{Code, Error, Phase};

/// Maximum number of bytes of a file that are in memory at a time.
const CHUNK_SIZE: usize = 64 * 1024;

/// Maximum size of a file whose content is generated when it is read, such as one in `/proc`.
const MAX_GENERATED_SIZE: u64 = 64 * 1024 * 1024;

/// The body of a request ([`HttpOptions::body`](crate::http::HttpOptions::body)). Bytes convert into it; a file is opened
/// and read for each attempt to send the request. Both are sent in chunks of 64 KiB.
#[derive(Clone, Debug)]
pub struct RequestBody(Arc<[Piece]>);

/// A part of a body.
#[derive(Clone, Debug)]
enum Piece {
    Bytes(Bytes),
    File {
        path: PathBuf,
        /// Its size in bytes when the body was created. Each attempt sends the size that the file has then.
        size: u64,
    },
    /// A file that stays open, because it may have no name.
    OpenFile {
        file: Arc<File>,
        size: u64,
    },
}

impl RequestBody {
    /// Returns a body with the content of a regular file. Each attempt to send the request opens the file by its name, and
    /// sends the bytes that it has then. A file whose size or modification time changes while it is sent fails with
    /// [`Code::Truncated`].
    ///
    /// # Errors
    /// The file cannot be read, or is not a regular file.
    pub fn file(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref().to_owned();
        // A FIFO is not opened, because opening and closing it would lose the data of its writer.
        let is_file = std::fs::metadata(&path)?.is_file();
        let metadata = if is_file { Some(File::open(&path)?.metadata()?) } else { None };
        let Some(metadata) = metadata.filter(std::fs::Metadata::is_file) else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        };
        Ok(Self([Piece::File { path, size: metadata.len() }].into()))
    }

    /// Returns a body with the content of an open regular file, such as one without a name, from its start. Its size is the
    /// size at this moment.
    ///
    /// # Errors
    /// Its metadata cannot be read, or it is not a regular file.
    pub fn open_file(file: File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        Ok(Self([Piece::OpenFile { file: Arc::new(file), size: metadata.len() }].into()))
    }

    /// Returns a body that consists of `bodies`, one after the other.
    pub fn concat(bodies: impl IntoIterator<Item = Self>) -> Self {
        Self(bodies.into_iter().flat_map(|body| body.0.to_vec()).collect())
    }

    /// Returns the size in bytes. That of a file is the size when the body was created.
    pub fn size(&self) -> u64 {
        self.0.iter().map(Piece::size).sum()
    }

    /// Returns the bytes, or `None` if files are read while the body is sent.
    pub(super) fn bytes(&self) -> Option<&Bytes> {
        match &*self.0 {
            [Piece::Bytes(bytes)] => Some(bytes),
            _ => None,
        }
    }

    /// Returns the body of one attempt. Files are opened now, so that a missing one fails before anything is sent.
    pub(super) fn open(&self, upload: Upload) -> Result<OutgoingBody, Error> {
        let pieces = self.0.iter().map(Piece::open).collect::<Result<VecDeque<_>, _>>()?;
        let size = pieces.iter().map(OutgoingPiece::size).sum();
        if size == 0 {
            upload.mark_read();
        }
        Ok(OutgoingBody { pieces, rest: size, upload })
    }
}

impl Piece {
    const fn size(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File { size, .. } | Self::OpenFile { size, .. } => *size,
        }
    }

    fn open(&self) -> Result<OutgoingPiece, Error> {
        match self {
            Self::Bytes(bytes) => Ok(OutgoingPiece::Bytes(bytes.clone())),
            Self::File { path, .. } => open_by_name(path).map_err(|error| {
                let detail = format!("reading the request body from {}", path.display());
                Error::io(Code::Usage, Phase::Request, &detail, error)
            }),
            Self::OpenFile { file, size } => {
                Ok(OutgoingPiece::File { file: file.clone(), offset: 0, size: *size, modified: None })
            }
        }
    }
}

/// Opens a regular file, and reads it if its size is not known. A FIFO that has replaced it must not block the thread.
fn open_by_name(path: &Path) -> io::Result<OutgoingPiece> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    // FUSE file systems can report the size 0.
    if metadata.len() == 0 || is_virtual_file(&file) {
        return read_generated(&file).map(|bytes| OutgoingPiece::Bytes(bytes.into()));
    }
    let (size, modified) = (metadata.len(), metadata.modified().ok());
    Ok(OutgoingPiece::File { file: Arc::new(file), offset: 0, size, modified })
}

fn read_generated(file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(MAX_GENERATED_SIZE + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > MAX_GENERATED_SIZE {
        true => {
            Err(io::Error::new(io::ErrorKind::FileTooLarge, "a file without a size has more than 64 MiB"))
        }
        false => Ok(bytes),
    }
}

impl<T: Into<Bytes>> From<T> for RequestBody {
    fn from(bytes: T) -> Self {
        Self([Piece::Bytes(bytes.into())].into())
    }
}

/// A body that is being sent.
pub(super) struct OutgoingBody {
    pieces: VecDeque<OutgoingPiece>,
    /// The number of bytes that were not read yet.
    rest: u64,
    upload: Upload,
}

enum OutgoingPiece {
    Bytes(Bytes),
    /// A file, the offset of the next byte to read, the number of its bytes to send, and its modification time, which
    /// must not change.
    File {
        file: Arc<File>,
        offset: u64,
        size: u64,
        modified: Option<SystemTime>,
    },
}

impl OutgoingPiece {
    const fn size(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File { size, .. } => *size,
        }
    }
}

impl OutgoingBody {
    /// Reads the next chunk. A local file does not block for long, as in the `file:` driver.
    fn next_chunk(&mut self) -> Option<io::Result<Bytes>> {
        loop {
            let chunk = match self.pieces.front_mut()? {
                OutgoingPiece::Bytes(bytes) => Ok(bytes.split_to(bytes.len().min(CHUNK_SIZE))),
                OutgoingPiece::File { file, offset, size, modified } => {
                    read_chunk(file, offset, *size, *modified)
                }
            };
            match chunk {
                Ok(chunk) if chunk.is_empty() => self.pieces.pop_front(),
                Ok(chunk) => {
                    self.rest -= chunk.len() as u64;
                    return Some(Ok(chunk));
                }
                Err(error) => return Some(Err(error)),
            };
        }
    }
}

/// Reads the bytes from `offset`. Returns no bytes at the end.
fn read_chunk(file: &File, offset: &mut u64, size: u64, modified: Option<SystemTime>) -> io::Result<Bytes> {
    let rest = size - *offset;
    if rest == 0 {
        return Ok(Bytes::new());
    }
    let length = usize::try_from(rest).unwrap_or(CHUNK_SIZE).min(CHUNK_SIZE);
    let mut chunk = BytesMut::zeroed(length);
    let count = file.read_at(&mut chunk, *offset)?;
    // Before the last bytes are sent, so that the server does not take a mixture of two versions for the object.
    if count == 0 || count as u64 == rest && !is_unchanged(file, size, modified)? {
        return Err(io::Error::new(FILE_CHANGED, "the file changed while it was being sent"));
    }
    chunk.truncate(count);
    *offset += count as u64;
    Ok(chunk.freeze())
}

/// Returns `true` if the file still has this size and modification time.
fn is_unchanged(file: &File, size: u64, modified: Option<SystemTime>) -> io::Result<bool> {
    let Some(modified) = modified else { return Ok(true) };
    let metadata = file.metadata()?;
    Ok(metadata.len() == size && metadata.modified()? == modified)
}

impl Drop for OutgoingBody {
    fn drop(&mut self) {
        if self.rest > 0 {
            self.upload.mark_lost();
        }
    }
}

impl Body for OutgoingBody {
    type Data = OutgoingChunk;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<OutgoingChunk>, io::Error>>> {
        ready!(self.upload.poll_ready(cx));
        let chunk = self.next_chunk();
        if let Some(Err(error)) = &chunk {
            self.upload.fail(error);
        }
        let is_last = self.rest == 0;
        Poll::Ready(chunk.map(|chunk| chunk.map(|bytes| Frame::data(self.upload.chunk(bytes, is_last)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn read_all(body: &RequestBody) -> io::Result<Vec<u8>> {
        let mut outgoing = body.open(Upload::unlimited()).expect("a readable file");
        let mut all = Vec::new();
        while let Some(chunk) = outgoing.next_chunk() {
            let chunk = chunk?;
            assert!(chunk.len() <= CHUNK_SIZE, "{}", chunk.len());
            all.extend_from_slice(&chunk);
        }
        assert!(outgoing.is_end_stream());
        Ok(all)
    }

    #[test]
    fn each_attempt_sends_the_file_that_has_the_name_in_chunks() {
        let dir = tempfile::tempdir().expect("create directory");
        let path = dir.path().join("file");
        let content: Vec<u8> = (0..200_000_u32).map(|number| number.to_be_bytes()[3]).collect();
        std::fs::write(&path, &content).expect("write file");
        let body = RequestBody::file(&path).expect("a regular file");
        assert_eq!(body.size(), 200_000);
        for _ in 0..2 {
            assert_eq!(read_all(&body).expect("all bytes"), content);
        }
        assert_eq!(read_all(&content.clone().into()).expect("all bytes"), content);
        let longer = [&content[..], b"more"].concat();
        for version in [&longer[..], &content[..100_000], b""] {
            let other = dir.path().join("other");
            std::fs::write(&other, version).expect("write file");
            std::fs::rename(&other, &path).expect("replace file");
            assert_eq!(read_all(&body).expect("all bytes"), version);
        }
        std::fs::remove_file(&path).expect("remove file");
        assert_eq!(body.open(Upload::unlimited()).err().expect("no file").code(), Code::Usage);
        assert!(RequestBody::file(dir.path()).is_err(), "a directory");
    }

    /// Sends a file. After its first chunk, its content becomes `version`, with another modification time.
    fn send_while_it_becomes(version: &[u8]) -> io::Result<Vec<u8>> {
        let file = tempfile::NamedTempFile::new().expect("create file");
        std::fs::write(&file, vec![b'a'; 2 * CHUNK_SIZE]).expect("write file");
        let body = RequestBody::file(&file).expect("a regular file");
        let mut outgoing = body.open(Upload::unlimited()).expect("a readable file");
        let mut all = outgoing.next_chunk().expect("a chunk")?.to_vec();
        std::fs::write(&file, version).expect("write file");
        file.as_file().set_modified(SystemTime::UNIX_EPOCH).expect("set time");
        while let Some(chunk) = outgoing.next_chunk() {
            all.extend_from_slice(&chunk?);
        }
        Ok(all)
    }

    #[test]
    fn file_that_changes_while_it_is_sent_is_an_error() {
        for (version, case) in [
            (vec![b'b'; 2 * CHUNK_SIZE], "rewritten"),
            (vec![b'b'; 3 * CHUNK_SIZE], "rewritten with more bytes"),
            (vec![b'a'; 3 * CHUNK_SIZE], "bytes added"),
            (vec![b'a'; CHUNK_SIZE], "truncated"),
        ] {
            let error = send_while_it_becomes(&version).expect_err(case);
            assert_eq!(error.kind(), FILE_CHANGED, "{case}");
        }
    }

    /// The second piece is read later, for example because of a rate limit.
    #[test]
    fn file_that_changes_after_its_last_byte_was_read_is_sent() {
        let file = tempfile::NamedTempFile::new().expect("create file");
        std::fs::write(&file, "bytes").expect("write file");
        let body = RequestBody::file(&file).expect("a regular file");
        let body = RequestBody::concat([body, RequestBody::from("end")]);
        let mut outgoing = body.open(Upload::unlimited()).expect("a readable file");
        assert_eq!(outgoing.next_chunk().expect("a chunk").expect("bytes"), "bytes");
        std::fs::write(&file, "others").expect("write file");
        assert_eq!(outgoing.next_chunk().expect("a chunk").expect("bytes"), "end");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn file_without_a_stated_size_is_sent_as_a_whole() {
        for path in ["/proc/version", "/proc/self/status"] {
            let body = RequestBody::file(path).expect("a regular file");
            assert_eq!(body.size(), 0, "{path}");
            assert!(!read_all(&body).expect("all bytes").is_empty(), "{path}");
        }
    }

    #[test]
    fn file_that_becomes_a_fifo_or_directory_is_an_error() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("f");
        std::fs::write(&path, "bytes").expect("a file");
        let body = RequestBody::file(&path).expect("a regular file");
        std::fs::remove_file(&path).expect("removed");
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600));
        rustix::fs::mknodat(rustix::fs::CWD, &path, kind, mode, 0).expect("a FIFO");
        let code = || body.open(Upload::unlimited()).err().map(|error| error.code());
        assert_eq!(code(), Some(Code::Usage));
        std::fs::remove_file(&path).expect("removed");
        std::fs::create_dir(&path).expect("a directory");
        assert_eq!(code(), Some(Code::Usage));
    }

    #[test]
    fn open_file_is_sent_from_its_start_each_time() {
        let mut file = tempfile::tempfile().expect("create file");
        file.write_all(&[7; 100_000]).expect("write file");
        let body = RequestBody::open_file(file).expect("a regular file");
        for _ in 0..2 {
            assert_eq!(read_all(&body).expect("all bytes"), [7; 100_000]);
        }
        let empty =
            RequestBody::open_file(tempfile::tempfile().expect("create file")).expect("a regular file");
        assert_eq!(read_all(&empty).expect("no bytes"), [0; 0]);
        assert!(RequestBody::open_file(File::open("/dev/null").expect("open")).is_err(), "a device");
    }
}
