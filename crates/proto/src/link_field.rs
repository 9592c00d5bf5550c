//! The header field Link (RFC 8288 §3).

/// A link of a value of the field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldLink<'v> {
    /// The URI reference, which is relative to the URL of the response.
    pub target: &'v str,
    parameters: &'v str,
}

impl FieldLink<'_> {
    /// Returns the value of a parameter without its quotes.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.split(';').find_map(|parameter| {
            let (own, value) = parameter.split_once('=')?;
            own.trim().eq_ignore_ascii_case(name).then(|| value.trim().trim_matches('"'))
        })
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
        let mut commas = after.match_indices(',').map(|(comma, _)| comma);
        let is_before_link = |comma: &usize| after[comma + 1..].trim_start().starts_with('<');
        let end = commas.find(is_before_link).unwrap_or(after.len());
        let (parameters, next) = after.split_at(end);
        rest = next;
        Some(FieldLink { target, parameters })
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
}
