//! The answer of a WAIS server: an APDU, and how the rules change it.

use crate::wais::field::{Coding, Field, tag};
use crate::wais::rule::WaisAct;

/// INIT RESPONSE and SEARCH RESPONSE.
const INIT_RESPONSE: u8 = 21;
const SEARCH_RESPONSE: u8 = 23;

/// What a server does with a request.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Apdu(Apdu),
    /// Its process ends without an octet.
    HangUp,
    /// A message without an APDU.
    Nothing,
}

/// An APDU that is not octets yet.
#[derive(Clone, Debug)]
pub(crate) struct Apdu {
    pdu: u8,
    fixed: Vec<u8>,
    fields: Vec<Field>,
    information: Option<Vec<Field>>,
    /// The answer to a search has the number of its records at a fixed place.
    count: Option<usize>,
}

impl Apdu {
    /// The answer to INIT.
    pub(crate) fn greeting(is_ok: bool, fields: Vec<Field>) -> Self {
        let information = vec![Field::number(tag::CHUNK_CODE, 0), Field::number(tag::CHUNK_ID_LENGTH, 0)];
        let (fixed, information) = (vec![is_ok.into()], Some(information));
        Self { pdu: INIT_RESPONSE, fixed, fields, information, count: None }
    }

    /// The answer to a search or a retrieval.
    pub(crate) fn found(status: u8, reference: Option<&[u8]>, records: Vec<Field>) -> Self {
        let mut fields = vec![Field::number(tag::PRESENT_STATUS, 0)];
        fields.extend(reference.map(|reference| Field::octets(tag::REFERENCE, reference)));
        let (fixed, count) = (vec![status], Some(records.len()));
        Self { pdu: SEARCH_RESPONSE, fixed, fields, information: Some(records), count }
    }

    /// The answer to a retrieval of nothing: one record, they say.
    pub(crate) fn empty(reference: Option<&[u8]>) -> Self {
        Self { count: Some(1), ..Self::found(0, reference, Vec::new()) }
    }

    /// A piece of a document.
    pub(crate) fn text(id: &[u8], text: Vec<u8>) -> Field {
        let id = Field::octets(tag::ID, id);
        let version = Field::number(tag::VERSION_NUMBER, 0);
        Field::Group(tag::TEXT_RECORD, vec![id, version, Field::Octets(tag::TEXT, text)])
    }

    /// Changes what it tells.
    pub(crate) fn change(&mut self, act: &WaisAct) {
        match act {
            WaisAct::Alone(diagnostic) => self.records(vec![Field::Diagnostic(diagnostic.clone())]),
            WaisAct::Beside(diagnostic) => {
                let mut records = self.information.take().unwrap_or_default();
                records.push(Field::Diagnostic(diagnostic.clone()));
                self.records(records);
            }
            WaisAct::MoreText(octet, times) => {
                if let Some(text) = self.information.as_mut().and_then(|records| text_of(records)) {
                    text.resize(text.len() + times, *octet);
                }
            }
            WaisAct::NoInformation => self.information = None,
            WaisAct::Reference(reference) => {
                self.fields.retain(|field| !matches!(field, Field::Octets(tag::REFERENCE, _)));
                if !reference.is_empty() {
                    self.fields.push(Field::octets(tag::REFERENCE, reference.as_slice()));
                }
            }
            WaisAct::Pdu(pdu) => self.pdu = *pdu,
            _ => {}
        }
    }

    fn records(&mut self, records: Vec<Field>) {
        self.count = self.count.map(|_| records.len());
        self.information = Some(records);
    }

    /// Its octets, as the acts want them.
    pub(crate) fn octets(&self, acts: &[WaisAct]) -> Vec<u8> {
        let coding = Coding::of(acts);
        let fixed = acts.iter().rev().find_map(|act| match act {
            WaisAct::Fixed(octets) => Some(octets.clone()),
            _ => None,
        });
        let first =
            [vec![self.pdu], fixed.unwrap_or_else(|| self.fixed()), coding.octets(&self.fields)].concat();
        let length = acts.iter().rev().find_map(|act| match act {
            WaisAct::Hli(length) => Some(*length),
            _ => None,
        });
        let length = length.unwrap_or_else(|| u16::try_from(first.len()).unwrap_or(u16::MAX));
        let group = self.information.clone().map(|fields| Field::Group(tag::INFORMATION, fields));
        let information = group.map_or_else(Vec::new, |group| coding.octets(&[group]));
        [length.to_be_bytes().as_slice(), &first, &information].concat()
    }

    /// Status, result count, number of records, next position.
    fn fixed(&self) -> Vec<u8> {
        let mut fixed = self.fixed.clone();
        if let Some(count) = self.count {
            let count = u32::try_from(count).unwrap_or(u32::MAX).to_be_bytes();
            fixed.extend([&[0; 3], &count[1..], &[0; 3]].concat());
        }
        fixed
    }
}

/// The text among records.
fn text_of(records: &mut [Field]) -> Option<&mut Vec<u8>> {
    records.iter_mut().find_map(|record| match record {
        Field::Group(tag::TEXT_RECORD, fields) => match fields.last_mut() {
            Some(Field::Octets(tag::TEXT, text)) => Some(text),
            _ => None,
        },
        _ => None,
    })
}
