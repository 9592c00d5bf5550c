//! A document of a WAIS database.

/// A document: what it is about, what finds it, and its octets in one or more types.
#[derive(Clone, Debug)]
pub struct WaisDocument {
    pub(crate) headline: Vec<u8>,
    pub(crate) forms: Vec<Form>,
    pub(crate) date: Option<Vec<u8>>,
    pub(crate) city: Option<Vec<u8>>,
    pub(crate) file: Option<String>,
    pub(crate) id: Option<Vec<u8>>,
    told: Option<u64>,
    words: Vec<(String, u64)>,
}

/// A document in one of its types.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    pub(crate) wtype: Vec<u8>,
    pub(crate) octets: Vec<u8>,
}

/// What a word is worth if nobody says.
const WORTH: u64 = 500;

impl WaisDocument {
    /// A document that is found by each of the words, which blanks part, and whose date is unknown (`0`).
    pub fn new(
        headline: impl Into<Vec<u8>>,
        words: &str,
        wtype: impl Into<Vec<u8>>,
        octets: impl Into<Vec<u8>>,
    ) -> Self {
        let words = words.split_whitespace().map(|word| (word.to_lowercase(), WORTH)).collect();
        let forms = vec![Form { wtype: wtype.into(), octets: octets.into() }];
        let date = Some(b"0".to_vec());
        Self { headline: headline.into(), forms, date, city: None, file: None, id: None, told: None, words }
    }

    /// The same octets can be had as another type.
    #[must_use]
    pub fn also(self, wtype: impl Into<Vec<u8>>) -> Self {
        let octets = self.forms[0].octets.clone();
        self.also_as(wtype, octets)
    }

    /// Other octets can be had as another type.
    #[must_use]
    pub fn also_as(mut self, wtype: impl Into<Vec<u8>>, octets: impl Into<Vec<u8>>) -> Self {
        self.forms.push(Form { wtype: wtype.into(), octets: octets.into() });
        self
    }

    /// It has no type at all: clients take it for a text.
    #[must_use]
    pub fn untyped(mut self) -> Self {
        self.forms[0].wtype.clear();
        self
    }

    /// An identifier that the server did not make. It need not be made of fields.
    #[must_use]
    pub fn id(mut self, octets: impl Into<Vec<u8>>) -> Self {
        self.id = Some(octets.into());
        self
    }

    /// The file behind it, which is in its identifier; if not said, it is called after the headline.
    #[must_use]
    pub fn file(mut self, path: &str) -> Self {
        self.file = Some(path.to_owned());
        self
    }

    /// A word that finds it, and how much that adds to its score.
    #[must_use]
    pub fn scored(mut self, word: &str, score: u64) -> Self {
        self.words.push((word.to_lowercase(), score));
        self
    }

    /// Headers tell this length, whatever is true.
    #[must_use]
    pub fn told_length(mut self, octets: u64) -> Self {
        self.told = Some(octets);
        self
    }

    /// Its date, in whatever form; empty: none.
    #[must_use]
    pub fn date(mut self, date: &str) -> Self {
        self.date = (!date.is_empty()).then(|| date.into());
        self
    }

    /// The city where it comes from.
    #[must_use]
    pub fn city(mut self, city: &str) -> Self {
        self.city = Some(city.into());
        self
    }

    /// How well it fits these words; none if it has none of them.
    pub(crate) fn score(&self, asked: &[String]) -> Option<u64> {
        let fitting = self.words.iter().filter(|(word, _)| asked.contains(word));
        fitting.map(|(_, score)| *score).reduce(|sum, score| sum + score)
    }

    /// The length that headers tell.
    pub(crate) fn length(&self) -> u64 {
        self.told.unwrap_or(self.forms[0].octets.len() as u64)
    }

    /// The octets that a type stands for; freeWAIS takes no notice of a type it does not have.
    pub(crate) fn octets(&self, wtype: &[u8]) -> &[u8] {
        let end = wtype.iter().position(|octet| !octet.is_ascii_uppercase()).unwrap_or(wtype.len());
        let form = self.forms.iter().find(|form| form.wtype == wtype[..end]);
        &form.unwrap_or(&self.forms[0]).octets
    }

    /// Its part of an identifier that the server makes: first octet, last octet, file.
    pub(crate) fn local(&self) -> Vec<u8> {
        let file = match &self.file {
            Some(file) => file.clone().into_bytes(),
            None => [b"/docs/".as_slice(), &self.headline].concat(),
        };
        [format!("0 {} ", self.forms[0].octets.len()).as_bytes(), &file].concat()
    }
}

impl Form {
    pub(crate) fn lines(&self) -> u64 {
        self.octets.split_inclusive(|octet| *octet == b'\n').count() as u64
    }
}
