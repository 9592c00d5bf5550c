//! Form data of several parts (`multipart/form-data`, RFC 7578), whose files are read while they are sent.

use std::hash::{BuildHasher as _, RandomState};

use super::request_body::RequestBody;

/// The form data of a request, with one part for each value or file.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// use fetch_url::http::{FormPart, HttpOptions, Multipart};
/// let form = Multipart::new([FormPart::new("note", "hello"), FormPart::new("log", "text").file_name("a.log")]);
/// let mut options = HttpOptions::default();
/// form.apply(&mut options);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Multipart {
    boundary: String,
    body: RequestBody,
}

/// One part of a form.
#[derive(Clone, Debug)]
pub struct FormPart {
    name: Vec<u8>,
    content: RequestBody,
    file_name: Option<Vec<u8>>,
    media_type: Option<String>,
    fields: Vec<String>,
    escapes_with_backslash: bool,
}

impl FormPart {
    /// Returns the part `name`, which may be empty. Its content is bytes, or a [`RequestBody::file`].
    pub fn new(name: impl Into<Vec<u8>>, content: impl Into<RequestBody>) -> Self {
        Self {
            name: name.into(),
            content: content.into(),
            file_name: None,
            media_type: None,
            fields: Vec::new(),
            escapes_with_backslash: false,
        }
    }

    /// Sets the file name that the server sees.
    #[must_use]
    pub fn file_name(mut self, name: impl Into<Vec<u8>>) -> Self {
        self.file_name = Some(name.into());
        self
    }

    /// Sets the media type. CR and LF are removed.
    #[must_use]
    pub fn media_type(mut self, media_type: impl Into<String>) -> Self {
        self.media_type = Some(one_line(&media_type.into()));
        self
    }

    /// Adds a header field such as `X-Id: 5` to the part. `Content-Type` and `Content-Disposition` replace the generated
    /// ones. CR and LF are removed.
    #[must_use]
    pub fn field(mut self, field: impl Into<String>) -> Self {
        self.fields.push(one_line(&field.into()));
        self
    }

    /// Escapes quotes in names by a backslash, as old servers expect it. By default they are percent-encoded (HTML
    /// Standard, section 4.10.21.8).
    #[must_use]
    pub const fn escape_with_backslash(mut self) -> Self {
        self.escapes_with_backslash = true;
        self
    }

    /// Returns the header of the part, with the empty line at its end.
    fn header(&self) -> Vec<u8> {
        let mut header = Vec::new();
        if !self.has_field("Content-Disposition") {
            header.extend(self.disposition());
        }
        if let Some(media_type) = self.media_type.as_ref().filter(|_| !self.has_field("Content-Type")) {
            header.extend(format!("Content-Type: {media_type}\r\n").into_bytes());
        }
        for field in &self.fields {
            header.extend(format!("{field}\r\n").into_bytes());
        }
        header.extend(b"\r\n");
        header
    }

    /// Returns `true` if the caller has added the header field `name`.
    fn has_field(&self, name: &str) -> bool {
        let names = |field: &String| {
            field.split_once(':').is_some_and(|(own, _)| own.trim().eq_ignore_ascii_case(name))
        };
        self.fields.iter().any(names)
    }

    /// Returns the field with the name of the part and that of its file (RFC 7578 §4.2).
    fn disposition(&self) -> Vec<u8> {
        let mut header = b"Content-Disposition: form-data".to_vec();
        let name = Some(&self.name).filter(|name| !name.is_empty());
        for (parameter, value) in [("name", name), ("filename", self.file_name.as_ref())] {
            let Some(value) = value else { continue };
            header.extend(format!("; {parameter}=\"").into_bytes());
            header.extend(self.escape(value));
            header.push(b'"');
        }
        header.extend(b"\r\n");
        header
    }

    /// Escapes the characters that would end a quoted name.
    fn escape(&self, name: &[u8]) -> Vec<u8> {
        let escape = |byte: &u8| match byte {
            b'"' | b'\\' if self.escapes_with_backslash => vec![b'\\', *byte],
            b'"' => b"%22".to_vec(),
            b'\r' => b"%0D".to_vec(),
            b'\n' => b"%0A".to_vec(),
            _ => vec![*byte],
        };
        name.iter().flat_map(escape).collect()
    }
}

impl Multipart {
    /// Returns the form with these parts in their order.
    pub fn new(parts: impl IntoIterator<Item = FormPart>) -> Self {
        let random = RandomState::new().hash_one("boundary");
        let boundary = format!("{:->24}{random:016x}", "");
        let delimiter = format!("--{boundary}\r\n");
        let mut pieces: Vec<RequestBody> = Vec::new();
        for part in parts {
            pieces.push([delimiter.as_bytes(), &part.header()].concat().into());
            pieces.push(part.content);
            pieces.push("\r\n".into());
        }
        pieces.push(format!("--{boundary}--\r\n").into());
        Self { boundary, body: RequestBody::concat(pieces) }
    }

    /// Makes the form the body of a request. A `Content-Type` of `options` gets the boundary; without one, it is
    /// `multipart/form-data`.
    pub fn apply(self, options: &mut super::options::HttpOptions) {
        let boundary = format!("; boundary={}", self.boundary).into_bytes();
        options.body = Some(self.body);
        let is_type =
            |field: &&mut super::options::HeaderField| field.name.eq_ignore_ascii_case("Content-Type");
        match options.headers.iter_mut().find(is_type) {
            Some(field) => {
                if let Some(value) = &mut field.value {
                    value.extend(boundary);
                }
            }
            None => {
                let value = [&b"multipart/form-data"[..], &boundary].concat();
                options.headers.push(super::options::HeaderField::new("Content-Type", value));
            }
        }
    }
}

fn one_line(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_end_their_line_or_their_quotes() {
        let header = |part: FormPart| String::from_utf8(part.header()).expect("text");
        let part = FormPart::new("a\"\r\nX: y", "1").file_name("\\\"").media_type("text/plain\r\nEvil: 1");
        assert_eq!(
            header(part.clone()),
            "Content-Disposition: form-data; name=\"a%22%0D%0AX: y\"; filename=\"\\%22\"\r\nContent-Type: \
             text/plainEvil: 1\r\n\r\n"
        );
        assert!(header(part.escape_with_backslash()).contains("filename=\"\\\\\\\"\""));
    }

    #[test]
    fn own_fields_replace_the_generated_ones() {
        let part = FormPart::new("a", "1").media_type("text/plain").field("CONTENT-TYPE : text/html");
        let part = part.field("Content-Disposition: form-data; name=b").field("X: y");
        assert_eq!(
            String::from_utf8(part.header()).expect("text"),
            "CONTENT-TYPE : text/html\r\nContent-Disposition: form-data; name=b\r\nX: y\r\n\r\n"
        );
    }
}
