//! Writes JSON objects without an intermediate tree: an entry is written for each line.

use std::io::Write as _;

use bytes::Bytes;

/// The text of a JSON object.
pub(crate) struct ObjectWriter(Vec<u8>);

impl ObjectWriter {
    pub(crate) fn new() -> Self {
        Self(Vec::with_capacity(256))
    }

    pub(crate) fn text(self, name: &str, value: &str) -> Self {
        let mut object = self.name(name);
        // Writing to a vector does not fail.
        let _written = serde_json::to_writer(&mut object.0, value);
        object
    }

    pub(crate) fn number(self, name: &str, value: u64) -> Self {
        let mut object = self.name(name);
        let _written = write!(object.0, "{value}");
        object
    }

    /// Adds a value that is JSON.
    pub(crate) fn json(self, name: &str, value: &serde_json::Value) -> Self {
        let mut object = self.name(name);
        let _written = serde_json::to_writer(&mut object.0, value);
        object
    }

    pub(crate) fn finish(mut self) -> Bytes {
        if self.0.is_empty() {
            self.0.push(b'{');
        }
        self.0.push(b'}');
        Bytes::from(self.0)
    }

    /// Adds a name, which must need no escapes.
    fn name(mut self, name: &str) -> Self {
        self.0.push(if self.0.is_empty() { b'{' } else { b',' });
        self.0.push(b'"');
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b"\":");
        self
    }
}
