//! Checksum lists, each fetched and parsed once in a run however many transfers need it.

use std::collections::HashMap;
use std::rc::Rc;

use fetch_url::ChecksumList;
use tokio::sync::OnceCell;

/// The lists that were fetched or are being fetched, by URL.
pub(super) type ChecksumLists = HashMap<String, Rc<OnceCell<FetchedList>>>;

/// A list, parsed; `None` if the server has no such list.
pub(super) type FetchedList = Option<Rc<ChecksumList>>;
