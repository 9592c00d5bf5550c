//! The description of a stored object: a line with a checksum, then JSON.

use serde_json::{Value, json};

/// The maximum size of a description in bytes; longer ones are not stored.
pub(super) const MAX_SIZE: usize = 128 * 1024;
/// The first word of every description. Another format gets another number.
const FORMAT: &str = "fetch-url-cache-1";

/// A stored object without its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The URL, and what else decides which object it means.
    pub(crate) key: String,
    /// The name of the file with the bytes.
    pub(crate) body: String,
    /// The number of bytes.
    pub(crate) length: u64,
    /// The checksum of the checksums of all blocks.
    pub(crate) checksum: u32,
    /// When the request was sent whose response confirmed the object, in seconds since 1970.
    pub(crate) confirmed: i64,
    pub(crate) modified: Option<i64>,
    pub(crate) media_type: Option<String>,
    pub(crate) suggested_name: Option<Vec<u8>>,
    /// The header fields of the response (http).
    pub(crate) fields: Vec<(String, Vec<u8>)>,
    /// The fields of the request on which the response depends (`Vary`).
    pub(crate) request_fields: Vec<(String, Vec<u8>)>,
}

impl Entry {
    /// Returns the content of the file that describes the entry.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let json = json!({
            "key": self.key,
            "body": self.body,
            "length": self.length,
            "checksum": self.checksum,
            "confirmed": self.confirmed,
            "modified": self.modified,
            "media_type": self.media_type,
            "suggested_name": self.suggested_name.as_deref().map(to_text),
            "fields": to_json(&self.fields),
            "request_fields": to_json(&self.request_fields),
        })
        .to_string();
        format!("{FORMAT} {:08x}\n{json}\n", crc32fast::hash(json.as_bytes())).into_bytes()
    }

    /// Parses the content of a file. Returns `None` if it is damaged or of another format.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let (head, json) = text.strip_suffix('\n')?.split_once('\n')?;
        let checksum = u32::from_str_radix(head.strip_prefix(FORMAT)?.strip_prefix(' ')?, 16).ok()?;
        if checksum != crc32fast::hash(json.as_bytes()) {
            return None;
        }
        let json: Value = serde_json::from_str(json).ok()?;
        let text = |name: &str| json[name].as_str().map(str::to_owned);
        Some(Self {
            key: text("key")?,
            body: text("body").filter(|name| is_body_name(name))?,
            length: json["length"].as_u64()?,
            checksum: json["checksum"].as_u64()?.try_into().ok()?,
            confirmed: json["confirmed"].as_i64()?,
            modified: json["modified"].as_i64(),
            media_type: text("media_type"),
            suggested_name: json["suggested_name"].as_str().and_then(to_bytes),
            fields: from_json(&json["fields"])?,
            request_fields: from_json(&json["request_fields"])?,
        })
    }

    /// Returns the first value of a response field.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let (_, value) = self.fields.iter().find(|(other, _)| other.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(value).ok().map(str::trim)
    }
}

/// Returns `true` for names that [`super::store`] gives to files with bytes: no path leads elsewhere.
pub(super) fn is_body_name(name: &str) -> bool {
    name.strip_suffix(".body").is_some_and(|id| id.len() == 16 && id.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Returns each byte as the character with its number.
fn to_text(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

fn to_bytes(text: &str) -> Option<Vec<u8>> {
    text.chars().map(|char| u8::try_from(u32::from(char)).ok()).collect()
}

fn to_json(fields: &[(String, Vec<u8>)]) -> Vec<Value> {
    fields.iter().map(|(name, value)| json!([name, to_text(value)])).collect()
}

fn from_json(fields: &Value) -> Option<Vec<(String, Vec<u8>)>> {
    let field = |field: &Value| Some((field[0].as_str()?.to_owned(), to_bytes(field[1].as_str()?)?));
    fields.as_array()?.iter().map(field).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_description_is_not_read() {
        let entry = Entry {
            key: "k http://h/".to_owned(),
            body: "0123456789abcdef.body".to_owned(),
            length: 7,
            checksum: 9,
            confirmed: 786_285_296,
            modified: Some(-1),
            media_type: Some("text/plain".to_owned()),
            suggested_name: Some(b"caf\xe9".to_vec()),
            fields: vec![("ETag".to_owned(), b"\"\xff\"".to_vec())],
            request_fields: vec![("accept".to_owned(), b"*/*".to_vec())],
        };
        let bytes = entry.to_bytes();
        assert_eq!(Entry::from_bytes(&bytes), Some(entry.clone()));
        for end in 0..bytes.len() {
            assert_eq!(Entry::from_bytes(&bytes[..end]), None, "{end}");
            let mut damaged = bytes.clone();
            damaged[end] ^= 0x20;
            // The case of the digits of the checksum has no meaning.
            assert!(Entry::from_bytes(&damaged).is_none_or(|other| other == entry), "{end}");
        }
        let elsewhere = Entry { body: "../../etc/passwd".to_owned(), ..entry };
        assert_eq!(Entry::from_bytes(&elsewhere.to_bytes()), None);
    }
}
