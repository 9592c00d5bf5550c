//! The honest answers of a WAIS server: what freeWAIS-sf says, good and bad.

use crate::wais::answer::{Answer, Apdu};
use crate::wais::database::{WaisDatabase, find_part, part};
use crate::wais::diagnostic::WaisDiagnostic;
use crate::wais::document::WaisDocument;
use crate::wais::field::{Field, fields, find, number, tag};
use crate::wais::request::{Asked, Neighbour, Retrieval, Search, Unit};
use crate::wais::site::WaisSite;

/// The longest APDU that a server has room for.
const ROOM: u64 = 100_000;
/// Searches, the only thing that is offered in an INIT.
const SEARCHES: [u8; 1] = [0x80];
/// What stands between the names of several databases.
const NEXT_DATABASE: u8 = 0x1f;

/// One client at the desk.
pub(crate) struct Desk<'a> {
    site: &'a WaisSite,
    /// What answers may have in octets.
    room: u64,
}

/// What a header tells beside what the document does.
#[derive(Clone, Copy)]
struct Rank {
    score: Option<u64>,
    has_best_match: bool,
}

impl<'a> Desk<'a> {
    pub(crate) fn new(site: &'a WaisSite) -> Self {
        Self { site, room: ROOM }
    }

    /// How long an APDU may be.
    pub(crate) fn room(&self) -> u64 {
        self.room
    }

    pub(crate) fn answer(&mut self, asked: &Asked<'_>) -> Answer {
        match asked {
            Asked::Init(wishes) => Answer::Apdu(self.greeted(wishes)),
            Asked::Search(search) => self.searched(search),
            Asked::Retrieval(retrieval) => self.retrieved(retrieval),
            Asked::Deadly => Answer::HangUp,
            Asked::Unknown => Answer::Nothing,
        }
    }

    fn greeted(&mut self, wishes: &[(u64, &[u8])]) -> Apdu {
        let size = |tag| find(wishes, tag).and_then(number).unwrap_or(ROOM).min(ROOM);
        let (preferred, maximum) = (size(tag::PREFERRED_SIZE), size(tag::MAXIMUM_SIZE));
        self.room = maximum;
        let is_ok = find(wishes, tag::OPTIONS).is_none_or(|options| options == SEARCHES);
        Apdu::greeting(
            is_ok,
            vec![
                Field::octets(tag::VERSION, [0x80]),
                Field::octets(tag::OPTIONS, SEARCHES),
                Field::number(tag::PREFERRED_SIZE, preferred),
                Field::number(tag::MAXIMUM_SIZE, maximum),
                Field::octets(tag::IMPLEMENTATION, "LS6"),
                Field::octets(tag::IMPLEMENTATION_NAME, "University of Dortmund Informatik VI"),
                Field::octets(tag::IMPLEMENTATION_VERSION, "2.2.8 string"),
            ],
        )
    }

    fn searched(&self, asked: &Search<'_>) -> Answer {
        let reference = asked.reference;
        let name = first_name(asked.database);
        let Some(database) = self.database(name.strip_suffix(b".src").unwrap_or(name)) else {
            let path = [self.site.place().directory.as_bytes(), b"/", name].concat();
            let words = [b"The following database is not available: ".as_slice(), &path].concat();
            let records = vec![Field::Diagnostic(WaisDiagnostic::new(*b"S1", words))];
            return Answer::Apdu(Apdu::found(0, reference, records));
        };
        let complaint = syntax_error(asked.words);
        let mut records = match asked.neighbour {
            Some((id, which)) => self.neighbour(database, id, which),
            None if complaint.is_some() => vec![self.nothing(database)],
            None => self.hits(database, asked.words),
        };
        records.truncate(usize::try_from(asked.most).unwrap_or(usize::MAX));
        let status = u8::from(complaint.is_none());
        records.extend(complaint.map(Field::Diagnostic));
        Answer::Apdu(Apdu::found(status, reference, records))
    }

    /// The headers for words; without words, those of what tells of the database.
    fn hits(&self, database: &WaisDatabase, words: &[u8]) -> Vec<Field> {
        let words = split(words);
        if words.is_empty() {
            let (place, rank) = (self.site.place(), Rank { score: Some(1000), has_best_match: false });
            let own = [database.source(place), database.list(place)];
            return own.iter().map(|own| self.header(database, own, rank, true)).collect();
        }
        let scored =
            database.documents.iter().filter_map(|document| Some((document, document.score(&words)?)));
        let hits = scored.map(|(document, score)| {
            let rank = Rank { score: Some(score), has_best_match: true };
            self.header(database, document, rank, false)
        });
        let hits: Vec<_> = hits.collect();
        if hits.is_empty() { vec![self.nothing(database)] } else { hits }
    }

    /// The header of the catalogue, in the place of those of documents.
    fn nothing(&self, database: &WaisDatabase) -> Field {
        let mut list = database.list(self.site.place());
        list.headline = [b"Search produced no result. Here's the ".as_slice(), &list.headline].concat();
        self.header(database, &list, Rank { score: Some(0), has_best_match: false }, true)
    }

    fn neighbour(&self, database: &WaisDatabase, id: &[u8], which: Neighbour) -> Vec<Field> {
        let at = database.position(self.site.place(), id);
        let at = at.and_then(|at| match which {
            Neighbour::Next => at.checked_add(1),
            Neighbour::Previous => at.checked_sub(1),
        });
        let found = at.and_then(|at| database.documents.get(at));
        let rank = Rank { score: None, has_best_match: false };
        found.map(|document| self.header(database, document, rank, false)).into_iter().collect()
    }

    /// A header in the order that C programs need: above all, 121 stands behind 132.
    fn header(&self, database: &WaisDatabase, document: &WaisDocument, rank: Rank, is_own: bool) -> Field {
        let place = self.site.place();
        let source = if is_own { database.name.clone() } else { database.path(place) };
        let types = document.forms.iter().filter(|form| !form.wtype.is_empty());
        let types = types.map(|form| Field::octets(tag::TYPE, form.wtype.clone())).collect();
        let mut fields = vec![Field::octets(tag::ID, database.id(place, document))];
        fields.extend(rank.score.map(|score| Field::number(tag::SCORE, score)));
        fields.extend(rank.has_best_match.then(|| Field::number(tag::BEST_MATCH, 0)));
        fields.push(Field::number(tag::LENGTH, document.length()));
        fields.push(Field::number(tag::LINES, document.forms[0].lines()));
        fields.push(Field::Group(tag::TYPES, types));
        fields.push(Field::octets(tag::SOURCE, source));
        fields.extend(document.date.clone().map(|date| Field::Octets(tag::DATE, date)));
        fields.push(Field::octets(tag::HEADLINE, document.headline.clone()));
        fields.extend(document.city.clone().map(|city| Field::Octets(tag::CITY, city)));
        Field::Group(tag::HEADER, fields)
    }

    fn retrieved(&self, asked: &Retrieval<'_>) -> Answer {
        let (Some(wtype), false) = (asked.wtype, asked.id.is_empty()) else { return Answer::HangUp };
        let Some(database) = self.database(first_name(asked.database)) else { return Answer::HangUp };
        let reference = asked.reference;
        let Some(document) = self.document(database, asked.id) else {
            // What is no identifier at all does no harm; one of no database, or of another, does.
            let known = find_part(asked.id, part::DATABASE).and_then(|name| self.database(name));
            if fields(asked.id).is_some() && known.is_none() {
                return Answer::HangUp;
            }
            let missing = WaisDiagnostic::new(*b"SF", "Missing DocID in request").surrogate();
            return Answer::Apdu(Apdu::found(0, reference, vec![Field::Diagnostic(missing)]));
        };
        // A paragraph, or nothing: one record that is not there.
        let Some(range) = asked.range else { return Answer::Apdu(Apdu::empty(reference)) };
        let (text, is_over) = piece(document.octets(wtype), range);
        let text = text.map(|text| Apdu::text(asked.id, text));
        let over = is_over.then(|| Field::Diagnostic(WaisDiagnostic::out_of_range()));
        Answer::Apdu(Apdu::found(0, reference, text.into_iter().chain(over).collect()))
    }

    /// A range of a document that has so much of one octet and never ends.
    pub(crate) fn endless(asked: &Retrieval<'_>, octet: u8) -> Answer {
        let length = asked.range.map_or(0, |(_, start, end)| end.saturating_sub(start).min(ROOM));
        let text = vec![octet; usize::try_from(length).unwrap_or_default()];
        Answer::Apdu(Apdu::found(0, asked.reference, vec![Apdu::text(asked.id, text)]))
    }

    /// What an identifier stands for: one of the documents, or what tells of the database.
    fn document(&self, database: &WaisDatabase, id: &[u8]) -> Option<WaisDocument> {
        let place = self.site.place();
        if let Some(at) = database.position(place, id) {
            return database.documents.get(at).cloned();
        }
        let local = find_part(id, part::LOCAL)?;
        let is_it = |own: &WaisDocument| find_part(&database.id(place, own), part::LOCAL) == Some(local);
        [database.source(place), database.list(place)].into_iter().find(is_it)
    }

    /// A database by its name or its path.
    fn database(&self, name: &[u8]) -> Option<&'a WaisDatabase> {
        let is_it = |database: &&WaisDatabase| {
            database.name.as_bytes() == name || database.path(self.site.place()).as_bytes() == name
        };
        self.site.databases.iter().find(is_it)
    }
}

/// The first of the databases that are named.
fn first_name(names: Option<&[u8]>) -> &[u8] {
    names.and_then(|names| names.split(|octet| *octet == NEXT_DATABASE).next()).unwrap_or_default()
}

/// The words of a search in lower case; booleans are taken for words that find nothing.
fn split(words: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(words).to_lowercase();
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// All that is understood of the syntax of freeWAIS-sf: parentheses come in pairs.
fn syntax_error(words: &[u8]) -> Option<WaisDiagnostic> {
    let count = |wanted| words.iter().filter(|octet| **octet == wanted).count();
    let words = [b"query syntax error: ".as_slice(), words].concat();
    (count(b'(') != count(b')')).then(|| WaisDiagnostic::new(*b"S1", words))
}

/// What of a document is in a range, and whether the range goes over the end.
fn piece(octets: &[u8], (unit, start, end): (Unit, u64, u64)) -> (Option<Vec<u8>>, bool) {
    let lines = || octets.split_inclusive(|octet| *octet == b'\n').map(<[u8]>::len);
    let before = |lines_before: usize| lines().take(lines_before).sum::<usize>();
    let length = match unit {
        Unit::Lines => lines().count(),
        Unit::Octets => octets.len(),
    };
    let place = |at: u64| {
        let at = usize::try_from(at).unwrap_or(usize::MAX).min(length);
        if unit == Unit::Lines { before(at) } else { at }
    };
    let inside = (start <= length as u64).then(|| octets.get(place(start)..place(end))).flatten();
    (inside.map(<[u8]>::to_vec), end > length as u64)
}
