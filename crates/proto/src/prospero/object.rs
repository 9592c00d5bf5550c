//! Object names and attributes, as servers send them.

/// The full name of an object: host, name and version.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ObjectName {
    /// The type of the host name, usually `INTERNET-D`.
    pub host_type: Vec<u8>,
    /// The host, followed by its port in parentheses unless it is the default port.
    pub host: Vec<u8>,
    /// The name of the object on its host (`hsoname`).
    pub name: Vec<u8>,
    /// The version; `0` is the newest.
    pub version: Vec<u8>,
}

impl ObjectName {
    /// Creates a name with an Internet host.
    pub fn new(host: impl Into<Vec<u8>>, name: impl Into<Vec<u8>>, version: impl Into<Vec<u8>>) -> Self {
        let host_type = b"INTERNET-D".to_vec();
        Self { host_type, host: host.into(), name: name.into(), version: version.into() }
    }
}

/// An attribute of an object or link.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attribute {
    /// The owner: `OBJECT`, `LINK`, `CACHED`, `REPLACEMENT` or `ADDITIONAL`.
    pub precedence: Vec<u8>,
    /// The kind of attribute: `FIELD`, `APPLICATION` or `INTRINSIC`.
    pub nature: Vec<u8>,
    /// The name, such as `SIZE`.
    pub name: Vec<u8>,
    /// The values.
    pub values: Vec<Vec<u8>>,
}

impl Attribute {
    /// Returns `true` if the attribute has this name; ASCII case is ignored.
    pub fn has_name(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name.as_bytes())
    }

    /// Returns the values, joined by spaces.
    pub fn text(&self) -> Vec<u8> {
        self.values.join(&b' ')
    }
}
