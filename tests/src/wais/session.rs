//! The session of a client with the WAIS server, and its answers before rules change them. They imitate freeWAIS-sf.

use crate::wais::answer::{Answer, Apdu};
use crate::wais::config::WaisConfig;
use crate::wais::database::{WaisDatabase, find_part, part};
use crate::wais::diagnostic::WaisDiagnostic;
use crate::wais::document::WaisDocument;
use crate::wais::field::{Field, fields, find, number, tag};
use crate::wais::request::{Neighbour, ParsedRequest, Retrieval, Search, Unit};

/// Maximum length of an APDU of the server.
const MAX_APDU: u64 = 100_000;
/// The options in the response to INIT: searches only.
const OPTIONS: [u8; 1] = [0x80];
/// Separates the names of several databases.
const DATABASE_SEPARATOR: u8 = 0x1f;

/// The state of a client.
pub(crate) struct Session<'a> {
    config: &'a WaisConfig,
    /// Maximum length of an APDU of a response, in bytes.
    max_apdu: u64,
}

/// The rank of a document in the result of a search.
#[derive(Clone, Copy)]
struct Rank {
    score: Option<u64>,
    has_best_match: bool,
}

impl<'a> Session<'a> {
    pub(crate) fn new(config: &'a WaisConfig) -> Self {
        Self { config, max_apdu: MAX_APDU }
    }

    pub(crate) fn max_apdu(&self) -> u64 {
        self.max_apdu
    }

    pub(crate) fn answer(&mut self, request: &ParsedRequest<'_>) -> Answer {
        match request {
            ParsedRequest::Init(fields) => Answer::Apdu(self.init(fields)),
            ParsedRequest::Search(search) => self.search(search),
            ParsedRequest::Retrieval(retrieval) => self.retrieve(retrieval),
            ParsedRequest::Fatal => Answer::HangUp,
            ParsedRequest::Unknown => Answer::Empty,
        }
    }

    fn init(&mut self, fields: &[(u64, &[u8])]) -> Apdu {
        let size = |tag| find(fields, tag).and_then(number).unwrap_or(MAX_APDU).min(MAX_APDU);
        let (preferred, maximum) = (size(tag::PREFERRED_SIZE), size(tag::MAXIMUM_SIZE));
        self.max_apdu = maximum;
        let is_ok = find(fields, tag::OPTIONS).is_none_or(|options| options == OPTIONS);
        Apdu::init_response(
            is_ok,
            vec![
                Field::bytes(tag::VERSION, [0x80]),
                Field::bytes(tag::OPTIONS, OPTIONS),
                Field::number(tag::PREFERRED_SIZE, preferred),
                Field::number(tag::MAXIMUM_SIZE, maximum),
                Field::bytes(tag::IMPLEMENTATION, "LS6"),
                Field::bytes(tag::IMPLEMENTATION_NAME, "University of Dortmund Informatik VI"),
                Field::bytes(tag::IMPLEMENTATION_VERSION, "2.2.8 string"),
            ],
        )
    }

    fn search(&self, request: &Search<'_>) -> Answer {
        let reference = request.reference;
        let name = first_name(request.database);
        let Some(database) = self.database(name.strip_suffix(b".src").unwrap_or(name)) else {
            let path = [self.config.location().directory.as_bytes(), b"/", name].concat();
            let message = [b"The following database is not available: ".as_slice(), &path].concat();
            let records = vec![Field::Diagnostic(WaisDiagnostic::new(*b"S1", message))];
            return Answer::Apdu(Apdu::search_response(0, reference, records));
        };
        let error = syntax_error(request.words);
        let mut records = match request.neighbour {
            Some((id, which)) => self.neighbour(database, id, which),
            None if error.is_some() => vec![self.no_result(database)],
            None => self.hits(database, request.words),
        };
        records.truncate(usize::try_from(request.most).unwrap_or(usize::MAX));
        let status = u8::from(error.is_none());
        records.extend(error.map(Field::Diagnostic));
        Answer::Apdu(Apdu::search_response(status, reference, records))
    }

    /// Returns the headers of the documents that are found. Without words: the headers of the description and
    /// the catalogue of the database.
    fn hits(&self, database: &WaisDatabase, words: &[u8]) -> Vec<Field> {
        let words = split(words);
        if words.is_empty() {
            let (location, rank) =
                (self.config.location(), Rank { score: Some(1000), has_best_match: false });
            let own = [database.description_document(location), database.catalogue_document(location)];
            return own.iter().map(|own| self.header(database, own, rank, true)).collect();
        }
        let scored =
            database.documents.iter().filter_map(|document| Some((document, document.score(&words)?)));
        let hits = scored.map(|(document, score)| {
            let rank = Rank { score: Some(score), has_best_match: true };
            self.header(database, document, rank, false)
        });
        let hits: Vec<_> = hits.collect();
        if hits.is_empty() { vec![self.no_result(database)] } else { hits }
    }

    /// Returns the header of the catalogue, which is sent instead of an empty result.
    fn no_result(&self, database: &WaisDatabase) -> Field {
        let mut catalogue = database.catalogue_document(self.config.location());
        catalogue.headline =
            [b"Search produced no result. Here's the ".as_slice(), &catalogue.headline].concat();
        self.header(database, &catalogue, Rank { score: Some(0), has_best_match: false }, true)
    }

    fn neighbour(&self, database: &WaisDatabase, id: &[u8], which: Neighbour) -> Vec<Field> {
        let at = database.position(self.config.location(), id);
        let at = at.and_then(|at| match which {
            Neighbour::Next => at.checked_add(1),
            Neighbour::Previous => at.checked_sub(1),
        });
        let found = at.and_then(|at| database.documents.get(at));
        let rank = Rank { score: None, has_best_match: false };
        found.map(|document| self.header(database, document, rank, false)).into_iter().collect()
    }

    /// Returns the header of a document, in the order that C programs need: 121 must follow 132.
    fn header(&self, database: &WaisDatabase, document: &WaisDocument, rank: Rank, is_own: bool) -> Field {
        let location = self.config.location();
        let source = if is_own { database.name.clone() } else { database.path(location) };
        let types = document.versions.iter().filter(|version| !version.wtype.is_empty());
        let types = types.map(|version| Field::bytes(tag::TYPE, version.wtype.clone())).collect();
        let mut fields = vec![Field::bytes(tag::ID, database.id(location, document))];
        fields.extend(rank.score.map(|score| Field::number(tag::SCORE, score)));
        fields.extend(rank.has_best_match.then(|| Field::number(tag::BEST_MATCH, 0)));
        fields.push(Field::number(tag::LENGTH, document.length()));
        fields.push(Field::number(tag::LINES, document.versions[0].lines()));
        fields.push(Field::Group(tag::TYPES, types));
        fields.push(Field::bytes(tag::SOURCE, source));
        fields.extend(document.date.clone().map(|date| Field::Bytes(tag::DATE, date)));
        fields.push(Field::bytes(tag::HEADLINE, document.headline.clone()));
        fields.extend(document.city.clone().map(|city| Field::Bytes(tag::CITY, city)));
        Field::Group(tag::HEADER, fields)
    }

    fn retrieve(&self, request: &Retrieval<'_>) -> Answer {
        let (Some(wtype), false) = (request.wtype, request.id.is_empty()) else { return Answer::HangUp };
        let Some(database) = self.database(first_name(request.database)) else { return Answer::HangUp };
        let reference = request.reference;
        let Some(document) = self.document(database, request.id) else {
            // An invalid identifier is refused. freeWAIS hangs up on an identifier of an unknown database.
            let known = find_part(request.id, part::DATABASE).and_then(|name| self.database(name));
            if fields(request.id).is_some() && known.is_none() {
                return Answer::HangUp;
            }
            let missing = WaisDiagnostic::new(*b"SF", "Missing DocID in request").surrogate();
            return Answer::Apdu(Apdu::search_response(0, reference, vec![Field::Diagnostic(missing)]));
        };
        // Without a range of bytes or lines, freeWAIS announces one record and sends none.
        let Some(range) = request.range else { return Answer::Apdu(Apdu::missing_record(reference)) };
        let (text, is_beyond_end) = piece(document.bytes(wtype), range);
        let text = text.map(|text| Apdu::text_record(request.id, text));
        let out_of_range = is_beyond_end.then(|| Field::Diagnostic(WaisDiagnostic::out_of_range()));
        Answer::Apdu(Apdu::search_response(0, reference, text.into_iter().chain(out_of_range).collect()))
    }

    /// Returns the requested range of an endless document of this byte.
    pub(crate) fn endless(request: &Retrieval<'_>, byte: u8) -> Answer {
        let length = request.range.map_or(0, |(_, start, end)| end.saturating_sub(start).min(MAX_APDU));
        let text = vec![byte; usize::try_from(length).unwrap_or_default()];
        Answer::Apdu(Apdu::search_response(0, request.reference, vec![Apdu::text_record(request.id, text)]))
    }

    /// Returns the document of an identifier: one of the database, its description or its catalogue.
    fn document(&self, database: &WaisDatabase, id: &[u8]) -> Option<WaisDocument> {
        let location = self.config.location();
        if let Some(at) = database.position(location, id) {
            return database.documents.get(at).cloned();
        }
        let local = find_part(id, part::LOCAL)?;
        let is_same = |own: &WaisDocument| find_part(&database.id(location, own), part::LOCAL) == Some(local);
        [database.description_document(location), database.catalogue_document(location)]
            .into_iter()
            .find(is_same)
    }

    /// Returns a database by its name or its path.
    fn database(&self, name: &[u8]) -> Option<&'a WaisDatabase> {
        let is_named = |database: &&WaisDatabase| {
            database.name.as_bytes() == name || database.path(self.config.location()).as_bytes() == name
        };
        self.config.databases.iter().find(is_named)
    }
}

/// Returns the first of the named databases.
fn first_name(names: Option<&[u8]>) -> &[u8] {
    names.and_then(|names| names.split(|byte| *byte == DATABASE_SEPARATOR).next()).unwrap_or_default()
}

/// Returns the words of a search in lower case. Boolean operators are treated as words that no document contains.
fn split(words: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(words).to_lowercase();
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Checks that parentheses come in pairs. More of the syntax of freeWAIS-sf is not checked.
fn syntax_error(words: &[u8]) -> Option<WaisDiagnostic> {
    let count = |wanted| words.iter().filter(|byte| **byte == wanted).count();
    let message = [b"query syntax error: ".as_slice(), words].concat();
    (count(b'(') != count(b')')).then(|| WaisDiagnostic::new(*b"S1", message))
}

/// Returns the part of a document in a range, and `true` if the range ends beyond the document.
fn piece(bytes: &[u8], (unit, start, end): (Unit, u64, u64)) -> (Option<Vec<u8>>, bool) {
    let lines = || bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::len);
    let before = |lines_before: usize| lines().take(lines_before).sum::<usize>();
    let length = match unit {
        Unit::Lines => lines().count(),
        Unit::Bytes => bytes.len(),
    };
    let location = |at: u64| {
        let at = usize::try_from(at).unwrap_or(usize::MAX).min(length);
        if unit == Unit::Lines { before(at) } else { at }
    };
    let inside = (start <= length as u64).then(|| bytes.get(location(start)..location(end))).flatten();
    (inside.map(<[u8]>::to_vec), end > length as u64)
}
