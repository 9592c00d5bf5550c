//! The directories and files of the disk.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::time::SystemTime;

use fuser::Errno;
use icu_normalizer::DecomposingNormalizerBorrowed;

use super::Folding;

/// The number of the directory at which the disk is mounted.
const ROOT: u64 = 1;

/// All nodes by their numbers. A file without a name is kept, because a process may have opened it.
pub(super) struct Nodes {
    folding: Folding,
    nodes: HashMap<u64, Node>,
}

/// A file or a directory.
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) permissions: u16,
    /// The number of names.
    pub(super) links: u32,
    /// The identifiers of user and group.
    pub(super) owner: (u32, u32),
    pub(super) modified: SystemTime,
    pub(super) changed: SystemTime,
}

pub(super) enum Kind {
    File(Vec<u8>),
    Directory(BTreeMap<OsString, Name>),
}

/// An entry of a directory. Its key there is the same for all spellings that name it.
pub(super) struct Name {
    /// The spelling with which it was created.
    spelling: OsString,
    number: u64,
}

impl Node {
    pub(super) fn new(kind: Kind, permissions: u16, owner: (u32, u32)) -> Self {
        let now = SystemTime::now();
        Self { kind, permissions, links: 1, owner, modified: now, changed: now }
    }

    pub(super) fn content(&self) -> Option<&Vec<u8>> {
        match &self.kind {
            Kind::File(content) => Some(content),
            Kind::Directory(_) => None,
        }
    }

    pub(super) fn read(&self, offset: u64, size: u32) -> &[u8] {
        let content = self.content().map_or(&[][..], |content| content);
        let start = content.len().min(offset as usize);
        let end = content.len().min(start + size as usize);
        &content[start..end]
    }

    pub(super) fn write(&mut self, offset: u64, data: &[u8]) {
        let (start, end) = (offset as usize, offset as usize + data.len());
        self.modified = SystemTime::now();
        if let Kind::File(content) = &mut self.kind {
            content.resize(content.len().max(end), 0);
            content[start..end].copy_from_slice(data);
        }
    }

    pub(super) fn truncate(&mut self, size: u64) {
        self.modified = SystemTime::now();
        if let Kind::File(content) = &mut self.kind {
            content.resize(size as usize, 0);
        }
    }
}

impl Nodes {
    pub(super) fn new(folding: Folding) -> Self {
        let root = Node::new(Kind::Directory(BTreeMap::new()), 0o755, (0, 0));
        Self { folding, nodes: HashMap::from([(ROOT, root)]) }
    }

    /// Returns the form of a name that is the same for all spellings that name the same entry.
    fn key(&self, name: &OsStr) -> OsString {
        let Some(text) = name.to_str() else { return name.to_owned() };
        let text = if self.folding.case { text.to_uppercase().to_lowercase() } else { text.to_owned() };
        let forms = DecomposingNormalizerBorrowed::new_nfd();
        if self.folding.form { forms.normalize(&text).into_owned().into() } else { text.into() }
    }

    pub(super) fn get(&self, number: u64) -> Result<&Node, Errno> {
        self.nodes.get(&number).ok_or(Errno::ENOENT)
    }

    pub(super) fn get_mut(&mut self, number: u64) -> Result<&mut Node, Errno> {
        self.nodes.get_mut(&number).ok_or(Errno::ENOENT)
    }

    fn names(&self, directory: u64) -> Result<&BTreeMap<OsString, Name>, Errno> {
        match &self.get(directory)?.kind {
            Kind::Directory(names) => Ok(names),
            Kind::File(_) => Err(Errno::ENOTDIR),
        }
    }

    fn names_mut(&mut self, directory: u64) -> Result<&mut BTreeMap<OsString, Name>, Errno> {
        match &mut self.get_mut(directory)?.kind {
            Kind::Directory(names) => Ok(names),
            Kind::File(_) => Err(Errno::ENOTDIR),
        }
    }

    /// Returns the numbers and names of the entries of a directory, beginning with itself.
    pub(super) fn list(&self, directory: u64) -> Result<Vec<(u64, OsString)>, Errno> {
        let own = [(directory, ".".into()), (directory, "..".into())];
        let names = self.names(directory)?.values();
        Ok(own.into_iter().chain(names.map(|name| (name.number, name.spelling.clone()))).collect())
    }

    pub(super) fn find(&self, directory: u64, name: &OsStr) -> Result<(u64, &Node), Errno> {
        let number = self.names(directory)?.get(&self.key(name)).ok_or(Errno::ENOENT)?.number;
        Ok((number, self.get(number)?))
    }

    /// Adds a node with a new name.
    pub(super) fn add(&mut self, directory: u64, name: &OsStr, node: Node) -> Result<(u64, &Node), Errno> {
        let number = ROOT + self.nodes.len() as u64;
        self.add_name(directory, name, number)?;
        Ok((number, self.nodes.entry(number).or_insert(node)))
    }

    fn add_name(&mut self, directory: u64, name: &OsStr, number: u64) -> Result<(), Errno> {
        let key = self.key(name);
        let names = self.names_mut(directory)?;
        if names.contains_key(&key) {
            return Err(Errno::EEXIST);
        }
        names.insert(key, Name { spelling: name.to_owned(), number });
        Ok(())
    }

    /// Gives a file another name.
    pub(super) fn link(&mut self, number: u64, directory: u64, name: &OsStr) -> Result<(u64, &Node), Errno> {
        self.add_name(directory, name, number)?;
        let node = self.get_mut(number)?;
        node.links += 1;
        Ok((number, node))
    }

    pub(super) fn remove(&mut self, directory: u64, name: &OsStr, is_directory: bool) -> Result<(), Errno> {
        let (number, node) = self.find(directory, name)?;
        match (&node.kind, is_directory) {
            (Kind::Directory(_), false) => return Err(Errno::EISDIR),
            (Kind::File(_), true) => return Err(Errno::ENOTDIR),
            (Kind::Directory(names), true) if !names.is_empty() => return Err(Errno::ENOTEMPTY),
            _ => {}
        }
        let key = self.key(name);
        self.names_mut(directory)?.remove(&key);
        self.get_mut(number)?.links -= 1;
        Ok(())
    }

    /// Renames an entry. A target that is another entry is replaced unless `keeps_target`.
    pub(super) fn rename(
        &mut self,
        (directory, name): (u64, &OsStr),
        (new_directory, new_name): (u64, &OsStr),
        keeps_target: bool,
    ) -> Result<(), Errno> {
        let (number, node) = self.find(directory, name)?;
        let is_directory = matches!(node.kind, Kind::Directory(_));
        let (key, new_key) = (self.key(name), self.key(new_name));
        let is_same_name = directory == new_directory && key == new_key;
        if !is_same_name && self.names(new_directory)?.contains_key(&new_key) {
            if keeps_target {
                return Err(Errno::EEXIST);
            }
            self.remove(new_directory, new_name, is_directory)?;
        }
        self.names_mut(directory)?.remove(&key);
        self.add_name(new_directory, new_name, number)
    }
}
