//! Splits an HTML page into tokens. Attributes of a tag beyond a limit are dropped, so that one tag cannot occupy many
//! times the memory of the page.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Cursor;

use bytes::Bytes;
use html5gum::emitters::callback::{Callback, CallbackEmitter, CallbackEvent};
use html5gum::{EndTag, Error, HtmlString, IoReader, Span, Spanned, StartTag, Token, Tokenizer};

/// The most attributes of a tag that are kept.
const MAX_ATTRIBUTES: usize = 256;

/// The tokens of a page: start tags, end tags, text and parse errors. Comments and document types are left out.
pub(crate) struct HtmlTokens(Tokenizer<IoReader<Cursor<Bytes>>, CallbackEmitter<OpenTag, Token>>);

impl HtmlTokens {
    pub(crate) fn new(page: Bytes) -> Self {
        let mut emitter = CallbackEmitter::new(OpenTag::default());
        // The content of `<script>` and `<style>` is not markup.
        emitter.naively_switch_states(true);
        Self(Tokenizer::new_with_emitter(IoReader::new(Cursor::new(page)), emitter))
    }

    /// Returns the next token, or `None` at the end of the page.
    pub(crate) fn read(&mut self) -> Option<Token> {
        // Reading from memory cannot fail.
        self.0.next()?.ok()
    }
}

/// Returns bytes of a page as text. Valid UTF-8 is converted faster than by `String::from_utf8_lossy`.
pub(crate) fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// The start tag that is being read.
#[derive(Default)]
struct OpenTag {
    name: HtmlString,
    attributes: BTreeMap<HtmlString, Spanned<HtmlString, ()>>,
    /// The attribute that the next value belongs to; `None` if it is dropped.
    attribute: Option<HtmlString>,
}

impl OpenTag {
    /// Adds an attribute without a value. Of several attributes with the same name, the first one is used.
    fn add_attribute(&mut self, name: &[u8]) -> Option<Token> {
        self.attribute = None;
        if self.attributes.contains_key(name) {
            return Some(Token::Error(Error::DuplicateAttribute.into()));
        }
        if self.attributes.len() < MAX_ATTRIBUTES {
            let name = HtmlString::from(name.to_vec());
            self.attributes.insert(name.clone(), HtmlString::default().into());
            self.attribute = Some(name);
        }
        None
    }
}

impl Callback<Token, ()> for OpenTag {
    fn handle_event(&mut self, event: CallbackEvent<'_>, span: Span<()>) -> Option<Token> {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                *self = Self { name: name.to_vec().into(), ..Self::default() };
                None
            }
            CallbackEvent::AttributeName { name } => self.add_attribute(name),
            CallbackEvent::AttributeValue { value } => {
                if let Some(kept) = self.attribute.as_ref().and_then(|name| self.attributes.get_mut(name)) {
                    kept.value.extend(value);
                }
                None
            }
            CallbackEvent::CloseStartTag { self_closing } => {
                let Self { name, attributes, .. } = std::mem::take(self);
                Some(Token::StartTag(StartTag { self_closing, name, attributes, span }))
            }
            CallbackEvent::EndTag { name } => {
                Some(Token::EndTag(EndTag { name: name.to_vec().into(), span }))
            }
            CallbackEvent::String { value } => {
                Some(Token::String(Spanned { value: value.to_vec().into(), span }))
            }
            CallbackEvent::Error(value) => Some(Token::Error(Spanned { value, span })),
            CallbackEvent::Comment { .. } | CallbackEvent::Doctype { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(page: String) -> Vec<StartTag<()>> {
        let mut tokens = HtmlTokens::new(page.into());
        std::iter::from_fn(|| tokens.read())
            .filter_map(|token| if let Token::StartTag(tag) = token { Some(tag) } else { None })
            .collect()
    }

    #[test]
    fn attributes_have_their_first_value() {
        let tags = tags("<!-- <b> --><a HREF='x&amp;y' href=z id>text</a><br/>".to_owned());
        let attributes: Vec<_> =
            tags[0].attributes.iter().map(|(name, value)| (name.to_vec(), value.value.to_vec())).collect();
        assert_eq!(attributes, [(b"href".to_vec(), b"x&y".to_vec()), (b"id".to_vec(), Vec::new())]);
        assert_eq!((tags.len(), &**tags[1].name, tags[1].self_closing), (2, &b"br"[..], true));
    }

    #[test]
    fn attributes_beyond_the_limit_are_dropped() {
        let many: String = (0..100_000).map(|number| format!(" a{number}=v{number}")).collect();
        let tags = tags(format!("<a{many}><a href=x>"));
        assert_eq!(tags.iter().map(|tag| tag.attributes.len()).collect::<Vec<_>>(), [MAX_ATTRIBUTES, 1]);
        assert_eq!(&**tags[0].attributes[&b"a7"[..]].value, b"v7");
    }
}
