//! A document of a WAIS database.

/// A document: its headline, the words that find it, and its content in one or more types.
#[derive(Clone, Debug)]
pub struct WaisDocument {
    pub(crate) headline: Vec<u8>,
    pub(crate) versions: Vec<Version>,
    pub(crate) date: Option<Vec<u8>>,
    pub(crate) city: Option<Vec<u8>>,
    pub(crate) file: Option<String>,
    pub(crate) id: Option<Vec<u8>>,
    reported_length: Option<u64>,
    words: Vec<(String, u64)>,
}

/// The content of a document in one type.
#[derive(Clone, Debug)]
pub(crate) struct Version {
    pub(crate) wtype: Vec<u8>,
    pub(crate) bytes: Vec<u8>,
}

/// The score of a word by default.
const DEFAULT_SCORE: u64 = 500;

impl WaisDocument {
    /// A document that is found by each of the words, separated by spaces. Its date is unknown (`0`).
    pub fn new(
        headline: impl Into<Vec<u8>>,
        words: &str,
        wtype: impl Into<Vec<u8>>,
        bytes: impl Into<Vec<u8>>,
    ) -> Self {
        let words = words.split_whitespace().map(|word| (word.to_lowercase(), DEFAULT_SCORE)).collect();
        let versions = vec![Version { wtype: wtype.into(), bytes: bytes.into() }];
        let date = Some(b"0".to_vec());
        Self {
            headline: headline.into(),
            versions,
            date,
            city: None,
            file: None,
            id: None,
            reported_length: None,
            words,
        }
    }

    /// Offers the same bytes as another type.
    #[must_use]
    pub fn also_as(self, wtype: impl Into<Vec<u8>>) -> Self {
        let bytes = self.versions[0].bytes.clone();
        self.version(wtype, bytes)
    }

    /// Offers other bytes as another type.
    #[must_use]
    pub fn version(mut self, wtype: impl Into<Vec<u8>>, bytes: impl Into<Vec<u8>>) -> Self {
        self.versions.push(Version { wtype: wtype.into(), bytes: bytes.into() });
        self
    }

    /// Removes the type. Clients treat the document as text.
    #[must_use]
    pub fn untyped(mut self) -> Self {
        self.versions[0].wtype.clear();
        self
    }

    /// Sets the identifier. It need not consist of fields.
    #[must_use]
    pub fn id(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.id = Some(bytes.into());
        self
    }

    /// Sets the file path in the identifier. The default contains the headline.
    #[must_use]
    pub fn file(mut self, path: &str) -> Self {
        self.file = Some(path.to_owned());
        self
    }

    /// Adds a word that finds the document, with its score.
    #[must_use]
    pub fn word_score(mut self, word: &str, score: u64) -> Self {
        self.words.push((word.to_lowercase(), score));
        self
    }

    /// Sets the length in headers.
    #[must_use]
    pub fn reported_length(mut self, bytes: u64) -> Self {
        self.reported_length = Some(bytes);
        self
    }

    /// Sets the date. Empty: no date.
    #[must_use]
    pub fn date(mut self, date: &str) -> Self {
        self.date = (!date.is_empty()).then(|| date.into());
        self
    }

    /// Sets the city of origin.
    #[must_use]
    pub fn city(mut self, city: &str) -> Self {
        self.city = Some(city.into());
        self
    }

    /// Returns the score for these words, or `None` if the document has none of them.
    pub(crate) fn score(&self, words: &[String]) -> Option<u64> {
        let fitting = self.words.iter().filter(|(word, _)| words.contains(word));
        fitting.map(|(_, score)| *score).reduce(|sum, score| sum + score)
    }

    /// Returns the length in headers.
    pub(crate) fn length(&self) -> u64 {
        self.reported_length.unwrap_or(self.versions[0].bytes.len() as u64)
    }

    /// Returns the bytes of a type. freeWAIS sends the first type for an unknown one.
    pub(crate) fn bytes(&self, wtype: &[u8]) -> &[u8] {
        let end = wtype.iter().position(|byte| !byte.is_ascii_uppercase()).unwrap_or(wtype.len());
        let version = self.versions.iter().find(|version| version.wtype == wtype[..end]);
        &version.unwrap_or(&self.versions[0]).bytes
    }

    /// Returns the local part of a generated identifier: first byte, last byte, file.
    pub(crate) fn local_id(&self) -> Vec<u8> {
        let file = match &self.file {
            Some(file) => file.clone().into_bytes(),
            None => [b"/docs/".as_slice(), &self.headline].concat(),
        };
        [format!("0 {} ", self.versions[0].bytes.len()).as_bytes(), &file].concat()
    }
}

impl Version {
    pub(crate) fn lines(&self) -> u64 {
        self.bytes.split_inclusive(|byte| *byte == b'\n').count() as u64
    }
}
