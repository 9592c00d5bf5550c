//! A line of a journal: a JSON object, whose texts are not copied.

use std::borrow::Cow;
use std::fmt;

use serde_core::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

/// The members of a line. A line of an unknown kind has none of them.
#[derive(Debug, Default)]
pub(super) struct Line<'a> {
    /// The subject of the journal, in the first line of each run.
    pub(super) journal: Option<Text<'a>>,
    /// The boot id of the machine, in the first line of each run.
    pub(super) boot: Option<Text<'a>>,
    /// The number of lines of the run whose files are synced.
    pub(super) synced: Option<u64>,
    /// The path of a finished file.
    pub(super) path: Option<Text<'a>>,
    pub(super) source: Option<Text<'a>>,
    /// The version of the object that the file has.
    pub(super) version: Option<Text<'a>>,
    pub(super) changed: Option<Text<'a>>,
    pub(super) size: Option<u64>,
}

impl<'a> Line<'a> {
    /// Parses a line. A line that is truncated or of another form has no members.
    pub(super) fn parse(line: &'a [u8]) -> Self {
        serde_json::from_slice(line).unwrap_or_default()
    }
}

impl<'de> Deserialize<'de> for Line<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(LineVisitor)
    }
}

struct LineVisitor;

impl<'de> Visitor<'de> for LineVisitor {
    type Value = Line<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a line of a journal")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Line<'de>, A::Error> {
        let mut line = Line::default();
        while let Some(Text(name)) = members.next_key()? {
            match &*name {
                "journal" => line.journal = Some(members.next_value()?),
                "boot" => line.boot = Some(members.next_value()?),
                "synced" => line.synced = Some(members.next_value()?),
                "path" => line.path = Some(members.next_value()?),
                "source" => line.source = Some(members.next_value()?),
                "facts" => line.version = Some(members.next_value()?),
                "changed" => line.changed = Some(members.next_value()?),
                "size" => line.size = Some(members.next_value()?),
                _ => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        Ok(line)
    }
}

/// A text of a line. It is borrowed from the line unless it has escapes.
#[derive(Debug)]
pub(super) struct Text<'a>(Cow<'a, str>);

impl Text<'_> {
    /// Returns the text, or an empty one if it is missing.
    pub(super) fn or_empty(text: Option<&Self>) -> &str {
        text.map_or("", |Text(text)| text)
    }
}

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(text.to_owned())))
    }
}
