//! The answer of the WAIS server: an APDU, and how the rules change it.

use crate::wais::field::{Field, FieldEncoder, tag};
use crate::wais::rule::WaisAction;

/// PDU types.
const INIT_RESPONSE: u8 = 21;
const SEARCH_RESPONSE: u8 = 23;

/// How the server answers a request.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Apdu(Apdu),
    /// It closes the connection without a response.
    HangUp,
    /// It sends a header without an APDU.
    Empty,
}

/// An APDU before it is encoded.
#[derive(Clone, Debug)]
pub(crate) struct Apdu {
    pdu: u8,
    fixed: Vec<u8>,
    fields: Vec<Field>,
    information: Option<Vec<Field>>,
    /// The number of records. Only search responses have one.
    count: Option<usize>,
}

impl Apdu {
    /// The response to INIT.
    pub(crate) fn init_response(is_ok: bool, fields: Vec<Field>) -> Self {
        let information = vec![Field::number(tag::CHUNK_CODE, 0), Field::number(tag::CHUNK_ID_LENGTH, 0)];
        let (fixed, information) = (vec![is_ok.into()], Some(information));
        Self { pdu: INIT_RESPONSE, fixed, fields, information, count: None }
    }

    /// The response to a search or a retrieval.
    pub(crate) fn search_response(status: u8, reference: Option<&[u8]>, records: Vec<Field>) -> Self {
        let mut fields = vec![Field::number(tag::PRESENT_STATUS, 0)];
        fields.extend(reference.map(|reference| Field::bytes(tag::REFERENCE, reference)));
        let (fixed, count) = (vec![status], Some(records.len()));
        Self { pdu: SEARCH_RESPONSE, fixed, fields, information: Some(records), count }
    }

    /// Returns the response that announces one record and contains none.
    pub(crate) fn missing_record(reference: Option<&[u8]>) -> Self {
        Self { count: Some(1), ..Self::search_response(0, reference, Vec::new()) }
    }

    /// A record with a piece of a document.
    pub(crate) fn text_record(id: &[u8], text: Vec<u8>) -> Field {
        let id = Field::bytes(tag::ID, id);
        let version = Field::number(tag::VERSION_NUMBER, 0);
        Field::Group(tag::TEXT_RECORD, vec![id, version, Field::Bytes(tag::TEXT, text)])
    }

    /// Changes the content as the action requires.
    pub(crate) fn change(&mut self, action: &WaisAction) {
        match action {
            WaisAction::OnlyDiagnostic(diagnostic) => {
                self.set_records(vec![Field::Diagnostic(diagnostic.clone())])
            }
            WaisAction::AppendDiagnostic(diagnostic) => {
                let mut records = self.information.take().unwrap_or_default();
                records.push(Field::Diagnostic(diagnostic.clone()));
                self.set_records(records);
            }
            WaisAction::AppendText(byte, times) => {
                if let Some(text) = self.information.as_mut().and_then(|records| text_of(records)) {
                    text.resize(text.len() + times, *byte);
                }
            }
            WaisAction::NoInformation => self.information = None,
            WaisAction::Reference(reference) => {
                self.fields.retain(|field| !matches!(field, Field::Bytes(tag::REFERENCE, _)));
                if !reference.is_empty() {
                    self.fields.push(Field::bytes(tag::REFERENCE, reference.as_slice()));
                }
            }
            WaisAction::Pdu(pdu) => self.pdu = *pdu,
            _ => {}
        }
    }

    fn set_records(&mut self, records: Vec<Field>) {
        self.count = self.count.map(|_| records.len());
        self.information = Some(records);
    }

    /// Returns the encoded bytes, changed as the actions require.
    pub(crate) fn encode(&self, actions: &[WaisAction]) -> Vec<u8> {
        let encoder = FieldEncoder::new(actions);
        let fixed = actions.iter().rev().find_map(|action| match action {
            WaisAction::FixedPart(bytes) => Some(bytes.clone()),
            _ => None,
        });
        let first =
            [vec![self.pdu], fixed.unwrap_or_else(|| self.fixed()), encoder.encode(&self.fields)].concat();
        let length = actions.iter().rev().find_map(|action| match action {
            WaisAction::HeaderLength(length) => Some(*length),
            _ => None,
        });
        let length = length.unwrap_or_else(|| u16::try_from(first.len()).unwrap_or(u16::MAX));
        let group = self.information.clone().map(|fields| Field::Group(tag::INFORMATION, fields));
        let information = group.map_or_else(Vec::new, |group| encoder.encode(&[group]));
        [length.to_be_bytes().as_slice(), &first, &information].concat()
    }

    /// Returns status, result count, number of records, next position.
    fn fixed(&self) -> Vec<u8> {
        let mut fixed = self.fixed.clone();
        if let Some(count) = self.count {
            let count = u32::try_from(count).unwrap_or(u32::MAX).to_be_bytes();
            fixed.extend([&[0; 3], &count[1..], &[0; 3]].concat());
        }
        fixed
    }
}

/// Returns the text of the first text record.
fn text_of(records: &mut [Field]) -> Option<&mut Vec<u8>> {
    records.iter_mut().find_map(|record| match record {
        Field::Group(tag::TEXT_RECORD, fields) => match fields.last_mut() {
            Some(Field::Bytes(tag::TEXT, text)) => Some(text),
            _ => None,
        },
        _ => None,
    })
}
