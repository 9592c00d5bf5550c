//! The header field Link (RFC 8288 §3).

/// One link of a field value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldLink<'v> {
    /// The URI reference, which is relative to the URL of the response.
    pub target: &'v str,
    parameters: &'v str,
}

impl FieldLink<'_> {
    /// Returns the value of a parameter without its quotes.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let mut rest = self.parameters;
        while !rest.is_empty() {
            let end = unquoted(rest).find(|(_, byte)| *byte == b';').map_or(rest.len(), |(at, _)| at);
            let (own, value) = rest[..end].split_once('=').unwrap_or_default();
            if own.trim().eq_ignore_ascii_case(name) {
                return Some(value.trim().trim_matches('"'));
            }
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        None
    }

    /// Returns `true` if the link has this relation type.
    pub fn has_relation(&self, relation: &str) -> bool {
        self.parameter("rel")
            .is_some_and(|rel| rel.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case(relation)))
    }
}

/// Returns the links of a value. What follows a link that is not closed is left out.
pub fn field_links(value: &str) -> impl Iterator<Item = FieldLink<'_>> {
    let mut rest = value;
    std::iter::from_fn(move || {
        let (target, after) = rest.split_once('<').and_then(|(_, rest)| rest.split_once('>'))?;
        let is_before_link = |comma: usize| after[comma + 1..].trim_start().starts_with('<');
        let end = unquoted(after).find(|(at, byte)| *byte == b',' && is_before_link(*at));
        let (parameters, next) = after.split_at(end.map_or(after.len(), |(comma, _)| comma));
        rest = next;
        Some(FieldLink { target, parameters })
    })
}

/// Returns the bytes of a text that are not in quotes (RFC 9110 §5.6.4), and their positions.
fn unquoted(text: &str) -> impl Iterator<Item = (usize, u8)> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    text.bytes().enumerate().filter(move |(_, byte)| {
        let was_escaped = is_escaped;
        is_escaped = is_quoted && *byte == b'\\' && !was_escaped;
        if *byte == b'"' && !was_escaped {
            is_quoted = !is_quoted;
        }
        !is_quoted
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_have_targets_and_parameters() {
        let value = "</a>; rel=\"x Next\"; pri=2, <b;c>;REL=prev ,<d>";
        let links: Vec<_> = field_links(value).collect();
        assert_eq!(links.iter().map(|link| link.target).collect::<Vec<_>>(), ["/a", "b;c", "d"]);
        assert!(links[0].has_relation("next") && links[1].has_relation("prev"));
        assert!(!links[0].has_relation("prev") && !links[2].has_relation("next"));
        assert_eq!(links[0].parameter("Pri"), Some("2"));
        assert_eq!(field_links("<unclosed; rel=next").next(), None);
    }

    #[test]
    fn separators_in_quotes_are_text() {
        let value = "</a>; title=\"x; rel=y, <b>; \\\"rel=z\"; rel=next";
        let links: Vec<_> = field_links(value).collect();
        assert!(links.len() == 1 && links[0].has_relation("next") && !links[0].has_relation("y"));
        assert!(field_links("<a>; title=\"unclosed, <b>; rel=next").all(|link| !link.has_relation("next")));
    }
}
