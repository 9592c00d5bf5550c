//! A pipe through which the kernel moves bytes from a TCP connection to a file (`splice`). The bytes are not copied into
//! this process and back, which halves the CPU time of a large download.

use std::fs::File;
use std::io;

#[cfg(target_os = "linux")]
pub(crate) use linux::KernelPipe;
#[cfg(not(target_os = "linux"))]
pub(crate) use unsupported::KernelPipe;

#[cfg(target_os = "linux")]
mod linux {
    use std::io::Write as _;
    use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};

    use rustix::io::Errno;
    use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice};
    use rustix::process::{Resource, getrlimit};

    use super::{File, io};

    /// The requested capacity in bytes, the most that Linux allows every user.
    const CAPACITY: usize = 1024 * 1024;
    /// The minimum capacity in bytes. A user with many pipes gets small ones, which are slower than none.
    const MIN_CAPACITY: usize = 256 * 1024;
    /// With a lower limit of descriptors, none are spent on pipes.
    const MIN_DESCRIPTOR_LIMIT: u64 = 512;

    /// A pipe, and the number of bytes in it.
    pub(crate) struct KernelPipe {
        reader: OwnedFd,
        writer: OwnedFd,
        filled: usize,
        is_supported: bool,
    }

    impl KernelPipe {
        /// Creates an empty pipe. Returns `None` if the user has too many pipes, or if more than a quarter of the
        /// descriptors are in use: connections and files need them.
        pub(crate) fn new() -> Option<Self> {
            let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
            let (reader, writer) = pipe_with(PipeFlags::CLOEXEC).ok()?;
            // The system assigns the lowest number that is free.
            let last = u64::try_from(writer.as_raw_fd()).ok()?;
            if limit < MIN_DESCRIPTOR_LIMIT || last > limit / 4 {
                return None;
            }
            fcntl_setpipe_size(&writer, CAPACITY).ok().filter(|&capacity| capacity >= MIN_CAPACITY)?;
            Some(Self { reader, writer, filled: 0, is_supported: true })
        }

        /// Returns `false` if a connection or file does not support `splice`.
        pub(crate) const fn is_supported(&self) -> bool {
            self.is_supported
        }

        /// Moves up to `most` bytes from a non-blocking `connection` into the empty pipe. Returns their number; 0 at the
        /// end of the connection, or if `splice` is not supported.
        ///
        /// # Errors
        /// [`io::ErrorKind::WouldBlock`] if no bytes have arrived, or the kernel cannot move the next ones; errors of the
        /// connection.
        pub(crate) fn fill_from(&mut self, connection: impl AsFd, most: u64) -> io::Result<usize> {
            if self.filled > 0 {
                return Err(io::Error::other("the pipe is not empty"));
            }
            let most = usize::try_from(most).unwrap_or(CAPACITY).min(CAPACITY);
            let flags = SpliceFlags::MOVE | SpliceFlags::NONBLOCK;
            match splice(connection, None, &self.writer, None, most, flags) {
                Ok(count) => {
                    self.filled += count;
                    Ok(count)
                }
                Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::PERM) => {
                    self.is_supported = false;
                    Ok(0)
                }
                Err(Errno::INTR) => Err(io::ErrorKind::WouldBlock.into()),
                Err(errno) => Err(errno.into()),
            }
        }

        /// Moves all bytes from the pipe to the current position of `file`.
        ///
        /// # Errors
        /// As for a write to `file`. The bytes that are still in the pipe are lost.
        pub(crate) fn drain_to(&mut self, file: &mut File) -> io::Result<()> {
            while self.filled > 0 {
                match splice(&self.reader, None, &*file, None, self.filled, SpliceFlags::MOVE) {
                    Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                    Ok(count) => self.filled -= count,
                    Err(Errno::INTR) => {}
                    Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => return self.copy_to(file),
                    Err(errno) => return Err(errno.into()),
                }
            }
            Ok(())
        }

        /// Copies all bytes to a file that does not support `splice`, such as one opened for appending.
        fn copy_to(&mut self, file: &mut File) -> io::Result<()> {
            self.is_supported = false;
            let mut bytes = vec![0; self.filled];
            while self.filled > 0 {
                let count = rustix::io::read(&self.reader, &mut bytes)?;
                self.filled = self.filled.saturating_sub(count);
                file.write_all(bytes.get(..count).unwrap_or_default())?;
            }
            Ok(())
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod unsupported {
    use super::{File, io};

    /// A pipe that cannot be created: this system has no `splice`.
    pub(crate) enum KernelPipe {}

    impl KernelPipe {
        pub(crate) const fn new() -> Option<Self> {
            None
        }

        pub(crate) const fn is_supported(&self) -> bool {
            match *self {}
        }

        pub(crate) fn fill_from<C>(&mut self, _: C, _: u64) -> io::Result<usize> {
            match *self {}
        }

        pub(crate) fn drain_to(&mut self, _: &mut File) -> io::Result<()> {
            match *self {}
        }
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::{Read as _, Seek as _, Write as _};
    use std::net::{Shutdown, TcpListener, TcpStream};

    use super::*;

    const BYTES: &[u8] = b"the bytes of an object";

    /// Returns both ends of a connection; the first one does not block.
    fn connection() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let peer = TcpStream::connect(listener.local_addr().expect("an address")).expect("a connection");
        let (stream, _) = listener.accept().expect("a connection");
        stream.set_nonblocking(true).expect("a mode");
        (stream, peer)
    }

    fn fill(pipe: &mut KernelPipe, stream: &TcpStream, most: u64) -> usize {
        loop {
            match pipe.fill_from(stream, most) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::yield_now(),
                filled => return filled.expect("bytes"),
            }
        }
    }

    /// Returns the content of `file`, which is read from its start.
    fn content(mut file: &File) -> Vec<u8> {
        let mut content = Vec::new();
        file.rewind().and_then(|()| file.read_to_end(&mut content)).expect("a file");
        content
    }

    #[test]
    fn bytes_are_moved_to_the_position_of_the_file() {
        let (stream, mut peer) = connection();
        let mut pipe = KernelPipe::new().expect("a pipe");
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(b"before ").expect("written");
        let none = pipe.fill_from(&stream, 10).expect_err("nothing has arrived");
        assert_eq!(none.kind(), io::ErrorKind::WouldBlock);
        peer.write_all(BYTES).expect("sent");
        assert_eq!(fill(&mut pipe, &stream, 10), 10);
        pipe.drain_to(&mut file).expect("moved");
        let filled = fill(&mut pipe, &stream, u64::MAX);
        pipe.drain_to(&mut file).expect("moved");
        assert_eq!((filled, content(&file)), (BYTES.len() - 10, [b"before ", BYTES].concat()));
        peer.shutdown(Shutdown::Write).expect("an end");
        assert_eq!(fill(&mut pipe, &stream, 10), 0);
        assert!(pipe.is_supported());
    }

    #[test]
    fn file_without_support_for_splice_receives_the_bytes_by_a_copy() {
        let (stream, mut peer) = connection();
        let mut pipe = KernelPipe::new().expect("a pipe");
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("x");
        std::fs::write(&path, "before ").expect("a file");
        // The kernel refuses to splice to a file that is opened for appending.
        let mut file = OpenOptions::new().append(true).open(&path).expect("a file");
        peer.write_all(BYTES).expect("sent");
        let mut left = BYTES.len();
        while left > 0 {
            left -= fill(&mut pipe, &stream, u64::MAX);
            pipe.drain_to(&mut file).expect("copied");
        }
        assert_eq!(std::fs::read(&path).expect("a file"), [b"before ", BYTES].concat());
        assert!(!pipe.is_supported());
    }

    #[test]
    fn error_of_the_file_is_returned() {
        let (stream, mut peer) = connection();
        let mut pipe = KernelPipe::new().expect("a pipe");
        peer.write_all(BYTES).expect("sent");
        fill(&mut pipe, &stream, u64::MAX);
        let mut full = OpenOptions::new().write(true).open("/dev/full").expect("a device");
        assert!(pipe.drain_to(&mut full).is_err());
        peer.write_all(BYTES).expect("sent");
        fill(&mut pipe, &stream, u64::MAX);
        let mut read_only = File::open("/dev/null").expect("a device");
        assert!(pipe.drain_to(&mut read_only).is_err());
    }

    #[test]
    fn source_without_support_for_splice_is_recognised() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut pipe = KernelPipe::new().expect("a pipe");
        let directory = File::open(directory.path()).expect("a directory");
        assert_eq!(pipe.fill_from(&directory, 10).expect("no bytes"), 0);
        assert!(!pipe.is_supported());
    }
}
