//! The body of a request: bytes, and files that are read while they are sent.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use hyper::body::{Body, Frame, SizeHint};
use rustix::fs::OFlags;

use super::upload::{OutgoingChunk, Upload};
use crate::{Code, Error, Phase};

/// Maximum number of bytes of a file that are in memory at a time.
const CHUNK_SIZE: usize = 64 * 1024;

/// The body of a request ([`HttpOptions::body`](crate::http::HttpOptions::body)). Bytes convert into it; a file is read
/// while it is sent, and again for each retry. Both are sent in chunks of 64 KiB.
#[derive(Clone, Debug)]
pub struct RequestBody(Arc<[Piece]>);

/// A part of a body.
#[derive(Clone, Debug)]
enum Piece {
    Bytes(Bytes),
    File {
        path: PathBuf,
        size: u64,
    },
    /// A file that stays open, because it may have no name.
    OpenFile {
        file: Arc<File>,
        size: u64,
    },
}

impl RequestBody {
    /// Returns a body with the content of a regular file. Its size is the size at this moment; a file that has become
    /// shorter when it is sent fails with `Code::Usage`, and bytes that were added later are not sent.
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

    /// Returns the size in bytes.
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
        let pieces = self.0.iter().map(Piece::open).collect::<Result<_, _>>()?;
        if self.size() == 0 {
            upload.mark_read();
        }
        Ok(OutgoingBody { pieces, rest: self.size(), upload })
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
        Ok(match self {
            Self::Bytes(bytes) => OutgoingPiece::Bytes(bytes.clone()),
            Self::File { path, size } => {
                let file = open_regular_file(path).map_err(|error| {
                    let detail = format!("reading the request body from {}", path.display());
                    Error::io(Code::Usage, Phase::Request, &detail, error)
                })?;
                OutgoingPiece::File { file: Arc::new(file), offset: 0, size: *size }
            }
            Self::OpenFile { file, size } => {
                OutgoingPiece::File { file: file.clone(), offset: 0, size: *size }
            }
        })
    }
}

/// Opens a regular file. A FIFO that has replaced it must not block the thread.
fn open_regular_file(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")),
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
    /// A file, the offset of the next byte to read, and the number of its bytes to send.
    File {
        file: Arc<File>,
        offset: u64,
        size: u64,
    },
}

impl OutgoingBody {
    /// Reads the next chunk. A local file does not block for long, as in the `file:` driver.
    fn next_chunk(&mut self) -> Option<io::Result<Bytes>> {
        loop {
            let chunk = match self.pieces.front_mut()? {
                OutgoingPiece::Bytes(bytes) => Ok(bytes.split_to(bytes.len().min(CHUNK_SIZE))),
                OutgoingPiece::File { file, offset, size } => read_chunk(file, offset, *size),
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
fn read_chunk(file: &File, offset: &mut u64, size: u64) -> io::Result<Bytes> {
    let rest = size - *offset;
    let length = usize::try_from(rest).unwrap_or(CHUNK_SIZE).min(CHUNK_SIZE);
    let mut chunk = BytesMut::zeroed(length);
    let count = file.read_at(&mut chunk, *offset)?;
    if count == 0 && rest > 0 {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the file to send has become shorter"));
    }
    chunk.truncate(count);
    *offset += count as u64;
    Ok(chunk.freeze())
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
    fn file_is_sent_in_chunks_with_the_size_it_had() {
        let dir = tempfile::tempdir().expect("create directory");
        let path = dir.path().join("file");
        let content: Vec<u8> = (0..200_000_u32).map(|number| number.to_be_bytes()[3]).collect();
        std::fs::write(&path, &content).expect("write file");
        let body = RequestBody::file(&path).expect("a regular file");
        assert_eq!(body.size(), 200_000);
        for _ in 0..2 {
            assert_eq!(read_all(&body).expect("all bytes"), content);
        }
        std::fs::write(&path, [&content[..], b"more"].concat()).expect("write file");
        assert_eq!(read_all(&body).expect("all bytes"), content);
        assert_eq!(read_all(&content.clone().into()).expect("all bytes"), content);
        std::fs::write(&path, &content[..100_000]).expect("write file");
        assert!(read_all(&body).is_err());
        std::fs::remove_file(&path).expect("remove file");
        assert_eq!(body.open(Upload::unlimited()).err().expect("no file").code(), Code::Usage);
        assert!(RequestBody::file(dir.path()).is_err(), "a directory");
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
