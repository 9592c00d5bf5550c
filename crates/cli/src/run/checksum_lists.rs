//! Checksum lists, each fetched once in a run however many transfers need it.

use std::collections::HashMap;
use std::rc::Rc;

use tokio::sync::OnceCell;

/// The lists that were fetched or are being fetched, by URL.
pub(super) type ChecksumLists = HashMap<String, Rc<OnceCell<ChecksumList>>>;

/// The bytes of a list; `None` if the server has no such list.
pub(super) type ChecksumList = Option<Rc<[u8]>>;
