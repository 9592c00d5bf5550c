//! The header fields of a response. They are parsed when they are first read, because most transfers do not read them.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// Header fields in the order of the response: names as the server spells them, values as bytes. Over HTTP/2, and through
/// a proxy that reads the requests, names are in lower case. Clones share them.
#[derive(Clone, Default)]
pub struct HeaderFields(Arc<SharedFields>);

/// A header field: its name and its value.
type Field = (String, Vec<u8>);

#[derive(Default)]
struct SharedFields {
    /// The head of an HTTP/1 response: its status line and its fields. Empty if the fields were not read from a head.
    head: Vec<u8>,
    /// The fields, parsed from `head` at the first access, or given.
    fields: OnceLock<Vec<Field>>,
}

impl HeaderFields {
    /// Returns the fields of the head of an HTTP/1 response.
    pub(crate) fn from_head(head: Vec<u8>) -> Self {
        Self(Arc::new(SharedFields { head, fields: OnceLock::new() }))
    }

    /// Adds a field.
    pub(crate) fn push(&mut self, field: Field) {
        self.extend([field]);
    }
}

impl Deref for HeaderFields {
    type Target = [Field];

    fn deref(&self) -> &Self::Target {
        self.0.fields.get_or_init(|| parse_fields(&self.0.head))
    }
}

impl Extend<Field> for HeaderFields {
    fn extend<T: IntoIterator<Item = Field>>(&mut self, fields: T) {
        // Parses the head, if that was not done before.
        let _ = self.len();
        match Arc::get_mut(&mut self.0).and_then(|own| own.fields.get_mut()) {
            Some(own) => own.extend(fields),
            None => *self = self.iter().cloned().chain(fields).collect(),
        }
    }
}

impl FromIterator<Field> for HeaderFields {
    fn from_iter<T: IntoIterator<Item = Field>>(fields: T) -> Self {
        Self(Arc::new(SharedFields { head: Vec::new(), fields: OnceLock::from(Vec::from_iter(fields)) }))
    }
}

impl<'a> IntoIterator for &'a HeaderFields {
    type Item = &'a (String, Vec<u8>);
    type IntoIter = std::slice::Iter<'a, (String, Vec<u8>)>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl PartialEq for HeaderFields {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for HeaderFields {}

impl fmt::Debug for HeaderFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

/// Returns the fields of a head. A folded line continues the value (RFC 9112 §5.2).
fn parse_fields(head: &[u8]) -> Vec<Field> {
    let mut fields: Vec<Field> = Vec::new();
    let lines = head.trim_ascii_start().split(|byte| *byte == b'\n').skip(1);
    for line in lines {
        if matches!(line.first(), Some(b' ' | b'\t')) {
            if let Some((_, value)) = fields.last_mut() {
                value.push(b' ');
                value.extend_from_slice(line.trim_ascii());
            }
        } else if let Some(colon) = line.iter().position(|byte| *byte == b':') {
            let (name, value) = line.split_at(colon);
            let value = value.get(1..).unwrap_or_default().trim_ascii();
            fields.push((String::from_utf8_lossy(name).trim_end().to_owned(), value.to_vec()));
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(name: &str, value: &str) -> Field {
        (name.to_owned(), value.as_bytes().to_vec())
    }

    #[test]
    fn fields_of_a_head_keep_their_spelling_and_folded_lines_are_joined() {
        let head = b"HTTP/1.1 200 OK\r\nX-SpelLing: a\r\n \tb\r\nETAG:\"c\"\r\n\r\n";
        let fields = HeaderFields::from_head(head.to_vec());
        assert_eq!(*fields, [field("X-SpelLing", "a b"), field("ETAG", "\"c\"")]);
        let old = HeaderFields::from_head(b"\r\nHTTP/1.0 200 OK\nA: b\n\n".to_vec());
        assert_eq!(*old, [field("A", "b")]);
    }

    #[test]
    fn added_field_follows_those_of_the_head_and_clones_keep_theirs() {
        let before = HeaderFields::from_head(b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n".to_vec());
        let mut after = before.clone();
        after.push(field("C", "d"));
        assert_eq!((before.len(), after.to_vec()), (1, vec![field("A", "b"), field("C", "d")]));
        assert_ne!(before, after);
    }

    #[test]
    fn fields_are_added_without_copying_those_before() {
        let mut fields = HeaderFields::default();
        // Copying would take minutes.
        (0..200_000).for_each(|number: u32| fields.push(field("A", &number.to_string())));
        assert_eq!((fields.len(), &fields[199_999]), (200_000, &field("A", "199999")));
    }
}
