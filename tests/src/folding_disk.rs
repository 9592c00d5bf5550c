//! A disk on which some different names are the same, as on macOS and Windows: names that differ only in case, or in
//! their Unicode form (composed or decomposed letters). It is in memory and mounted with FUSE.

mod nodes;

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use fuser::{
    BackgroundSession, BsdFileFlags, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags,
    Generation, INodeNo, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData,
    ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyStatfs, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use tempfile::TempDir;

use self::nodes::{Kind, Node, Nodes};

/// Which names are the same.
#[derive(Clone, Copy, Debug, Default)]
pub struct Folding {
    /// Names that differ only in case.
    pub case: bool,
    /// Names that differ only in their Unicode form.
    pub form: bool,
}

/// A mounted disk. It is unmounted when it is dropped.
#[derive(Debug)]
pub struct FoldingDisk {
    // Dropped before its directory.
    _session: BackgroundSession,
    path: PathBuf,
    _directory: Option<TempDir>,
}

impl FoldingDisk {
    /// Mounts an empty disk at a temporary directory.
    ///
    /// # Errors
    /// The system has no FUSE, or does not allow this user to mount it.
    pub fn mount(folding: Folding) -> io::Result<Self> {
        let directory = tempfile::tempdir()?;
        let disk = Self::mount_at(directory.path(), folding)?;
        Ok(Self { _directory: Some(directory), ..disk })
    }

    /// Mounts an empty disk at `path`, an empty directory.
    ///
    /// # Errors
    /// As those of `mount`.
    pub fn mount_at(path: &Path, folding: Folding) -> io::Result<Self> {
        let disk = Disk(Mutex::new(Nodes::new(folding)));
        let session = fuser::spawn_mount(disk, path, &Config::default())?;
        Ok(Self { _session: session, path: path.to_owned(), _directory: None })
    }

    /// Returns the directory at which the disk is mounted.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Nothing is cached, because a file may be changed under another name.
const NO_CACHE: Duration = Duration::ZERO;
const BLOCK: u32 = 4096;
/// The number of blocks, all of which are always free.
const BLOCKS: u64 = 1 << 20;
const MAX_NAME: u32 = 255;

struct Disk(Mutex<Nodes>);

impl Disk {
    fn nodes(&self) -> MutexGuard<'_, Nodes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn attributes(number: u64, node: &Node) -> FileAttr {
    let size = node.content().map_or(0, |content| content.len() as u64);
    let is_directory = matches!(node.kind, Kind::Directory(_));
    FileAttr {
        ino: INodeNo(number),
        size,
        blocks: size.div_ceil(512),
        atime: node.modified,
        mtime: node.modified,
        ctime: node.changed,
        crtime: node.changed,
        kind: if is_directory { FileType::Directory } else { FileType::RegularFile },
        perm: node.permissions,
        nlink: node.links,
        uid: node.owner.0,
        gid: node.owner.1,
        rdev: 0,
        blksize: BLOCK,
        flags: 0,
    }
}

fn reply_entry(found: Result<(u64, &Node), Errno>, reply: ReplyEntry) {
    match found {
        Ok((number, node)) => reply.entry(&NO_CACHE, &attributes(number, node), Generation(0)),
        Err(error) => reply.error(error),
    }
}

fn reply_empty(done: Result<(), Errno>, reply: ReplyEmpty) {
    match done {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(error),
    }
}

/// Creates a node of the user who sent the request.
fn new_node(request: &Request, kind: Kind, mode: u32, umask: u32) -> Node {
    Node::new(kind, permissions(mode, umask), (request.uid(), request.gid()))
}

fn permissions(mode: u32, umask: u32) -> u16 {
    (mode & !umask & 0o7777) as u16
}

fn time(time: TimeOrNow) -> SystemTime {
    match time {
        TimeOrNow::SpecificTime(time) => time,
        TimeOrNow::Now => SystemTime::now(),
    }
}

impl Filesystem for Disk {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        reply_entry(self.nodes().find(parent.0, name), reply);
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.nodes().get(number.0) {
            Ok(node) => reply.attr(&NO_CACHE, &attributes(number.0, node)),
            Err(error) => reply.error(error),
        }
    }

    fn setattr(
        &self,
        _: &Request,
        number: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        modified: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let mut nodes = self.nodes();
        let node = match nodes.get_mut(number.0) {
            Ok(node) => node,
            Err(error) => return reply.error(error),
        };
        node.permissions = mode.map_or(node.permissions, |mode| permissions(mode, 0));
        node.owner = (uid.unwrap_or(node.owner.0), gid.unwrap_or(node.owner.1));
        if let Some(size) = size {
            node.truncate(size);
        }
        node.modified = modified.map_or(node.modified, time);
        reply.attr(&NO_CACHE, &attributes(number.0, node));
    }

    fn mkdir(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        reply: ReplyEntry,
    ) {
        let node = new_node(request, Kind::Directory(Default::default()), mode, umask);
        reply_entry(self.nodes().add(parent.0, name, node), reply);
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        _: i32,
        reply: ReplyCreate,
    ) {
        let node = new_node(request, Kind::File(Vec::new()), mode, umask);
        match self.nodes().add(parent.0, name, node) {
            Ok((number, node)) => {
                let attributes = attributes(number, node);
                reply.created(
                    &NO_CACHE,
                    &attributes,
                    Generation(0),
                    FileHandle(0),
                    FopenFlags::FOPEN_DIRECT_IO,
                );
            }
            Err(error) => reply.error(error),
        }
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        reply_empty(self.nodes().remove(parent.0, name, false), reply);
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        reply_empty(self.nodes().remove(parent.0, name, true), reply);
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let keeps_target = flags == RenameFlags::RENAME_NOREPLACE;
        let renamed = match flags.is_empty() || keeps_target {
            true => self.nodes().rename((parent.0, name), (new_parent.0, new_name), keeps_target),
            false => Err(Errno::EINVAL),
        };
        reply_empty(renamed, reply);
    }

    fn link(&self, _: &Request, number: INodeNo, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        reply_entry(self.nodes().link(number.0, parent.0, name), reply);
    }

    fn read(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        match self.nodes().get(number.0) {
            Ok(node) => reply.data(node.read(offset, size)),
            Err(error) => reply.error(error),
        }
    }

    fn write(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        match self.nodes().get_mut(number.0) {
            Ok(node) => {
                node.write(offset, data);
                reply.written(data.len() as u32);
            }
            Err(error) => reply.error(error),
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsyncdir(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        reply.ok();
    }

    fn readdir(&self, _: &Request, number: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let nodes = self.nodes();
        let entries = match nodes.list(number.0) {
            Ok(entries) => entries,
            Err(error) => return reply.error(error),
        };
        for (position, (number, name)) in (1..).zip(entries).skip(offset as usize) {
            let is_directory = nodes.get(number).is_ok_and(|node| matches!(node.kind, Kind::Directory(_)));
            let kind = if is_directory { FileType::Directory } else { FileType::RegularFile };
            if reply.add(INodeNo(number), position, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        reply.statfs(BLOCKS, BLOCKS, BLOCKS, BLOCKS, BLOCKS, BLOCK, MAX_NAME, BLOCK);
    }
}
