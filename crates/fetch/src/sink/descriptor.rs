//! Open file descriptors that a path names: `/dev/stdout`, `/dev/stderr`, `/dev/fd/N` and `/proc/self/fd/N`.
//!
//! On Linux, opening such a path opens the file a second time, at its start and with other rights. The descriptor is
//! duplicated instead: both have one position in the file, so that its other writers continue after these bytes.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd as _, OwnedFd, RawFd};
use std::path::Path;

use rustix::fs::{OFlags, fcntl_getfl};
use rustix::io::Errno;

/// The paths of the descriptors 0, 1 and 2.
const STANDARD_STREAMS: [&str; 3] = ["/dev/stdin", "/dev/stdout", "/dev/stderr"];
/// The directories whose entries are the numbers of the open descriptors.
const DIRECTORIES: [&str; 2] = ["/dev/fd", "/proc/self/fd"];

/// The file descriptor that a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor(RawFd);

impl Descriptor {
    /// Standard output.
    pub const STDOUT: Self = Self(1);

    /// Returns the descriptor that `path` names, or `None` for the path of a file.
    pub fn named_by(path: &Path) -> Option<Self> {
        let standard = (0..).zip(STANDARD_STREAMS).find(|(_, stream)| path == Path::new(stream));
        if let Some((number, _)) = standard {
            return Some(Self(number));
        }
        let name = DIRECTORIES.iter().find_map(|directory| path.strip_prefix(directory).ok())?.to_str()?;
        let number: RawFd = name.parse().ok()?;
        // `-7`, `+7` and `07` are not the name of a descriptor.
        (number >= 0 && number.to_string() == name).then_some(Self(number))
    }

    /// Returns a duplicate to write to.
    ///
    /// # Errors
    /// The descriptor was not open when the program started, or not for writing.
    pub(super) fn open(self) -> io::Result<File> {
        let failed = |kind, state| io::Error::new(kind, format!("descriptor {} {state}", self.0));
        let descriptor = self.duplicate().map_err(|error| match Errno::from_io_error(&error) {
            Some(Errno::BADF) => failed(ErrorKind::NotFound, "is not open"),
            _ => error,
        })?;
        if !fcntl_getfl(&descriptor)?.intersects(OFlags::WRONLY | OFlags::RDWR) {
            return Err(failed(ErrorKind::PermissionDenied, "is not open for writing"));
        }
        Ok(File::from(descriptor))
    }

    fn duplicate(self) -> io::Result<OwnedFd> {
        match self.0 {
            0 => io::stdin().as_fd().try_clone_to_owned(),
            1 => io::stdout().as_fd().try_clone_to_owned(),
            2 => io::stderr().as_fd().try_clone_to_owned(),
            number => inherited::duplicate(number),
        }
    }
}

#[cfg(target_os = "linux")]
mod inherited {
    use std::fs;
    use std::io::{self, IoSlice, IoSliceMut};
    use std::mem::MaybeUninit;
    use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
    use std::os::unix::net::UnixDatagram;

    use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg};
    use rustix::fs::OFlags;
    use rustix::io::Errno;
    use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

    /// Duplicates a descriptor that the process inherited. No call of the standard library takes its number, so it is
    /// sent from one socket of this process to another.
    pub(super) fn duplicate(number: RawFd) -> io::Result<OwnedFd> {
        if is_own(number)? {
            return Err(Errno::BADF.into());
        }
        let (sender, receiver) = UnixDatagram::pair()?;
        let numbers = [number];
        let rights = [ControlMessage::ScmRights(&numbers)];
        sendmsg::<()>(sender.as_raw_fd(), &[IoSlice::new(&[0])], &rights, MsgFlags::empty(), None)?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut messages = RecvAncillaryBuffer::new(&mut space);
        recvmsg(&receiver, &mut [IoSliceMut::new(&mut [0])], &mut messages, RecvFlags::CMSG_CLOEXEC)?;
        let received = messages.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
            _ => None,
        });
        // The limit of open descriptors is reached.
        received.ok_or_else(|| Errno::MFILE.into())
    }

    /// Returns `true` if this program has opened the descriptor: it is closed on exec, unlike every inherited one.
    fn is_own(number: RawFd) -> io::Result<bool> {
        let info = match fs::read_to_string(format!("/proc/self/fdinfo/{number}")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Errno::BADF.into()),
            info => info?,
        };
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
        let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
        Ok(flags.is_some_and(|flags| OFlags::from_bits_retain(flags).contains(OFlags::CLOEXEC)))
    }
}

#[cfg(not(target_os = "linux"))]
mod inherited {
    use std::fs::File;
    use std::io;
    use std::os::fd::{OwnedFd, RawFd};

    /// Duplicates a descriptor: elsewhere than on Linux, opening its path does so.
    pub(super) fn duplicate(number: RawFd) -> io::Result<OwnedFd> {
        File::options().write(true).open(format!("/dev/fd/{number}")).map(OwnedFd::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_descriptors_are_recognised() {
        for (path, number) in [
            ("/dev/stdout", Some(1)),
            ("/dev/stderr", Some(2)),
            ("/dev//fd/./7", Some(7)),
            ("/proc/self/fd/12", Some(12)),
            ("/dev/fd", None),
            ("/dev/fd/+7", None),
            ("/dev/fd/-7", None),
            ("/dev/fd/07", None),
            ("/dev/fd/7/x", None),
            ("/dev/fd/99999999999", None),
            ("dev/fd/7", None),
            ("/dev/null", None),
        ] {
            assert_eq!(Descriptor::named_by(Path::new(path)), number.map(Descriptor), "{path}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn duplicate_has_the_position_of_an_inherited_descriptor() {
        use std::io::{Read as _, Seek as _, Write as _};
        use std::os::fd::AsRawFd as _;

        use rustix::io::{FdFlags, fcntl_setfd};

        let mut file = tempfile::tempfile().expect("a file");
        let descriptor = Descriptor(file.as_raw_fd());
        let error = descriptor.open().expect_err("opened by this program");
        assert_eq!(error.to_string(), format!("descriptor {} is not open", file.as_raw_fd()));
        fcntl_setfd(&file, FdFlags::empty()).expect("a flag");
        file.write_all(b"one ").expect("written");
        descriptor.open().expect("a duplicate").write_all(b"two ").expect("written");
        file.write_all(b"three").expect("written");
        file.rewind().expect("a position");
        let mut text = String::new();
        file.read_to_string(&mut text).expect("text");
        assert_eq!(text, "one two three");
    }
}
