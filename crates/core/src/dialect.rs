//! [`Dialect`]: the grammar that [`parse_with`](crate::parse_with) applies.

/// The grammar that [`parse_with`](crate::parse_with) applies to a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// The BNF of November 1993, which preceded RFC 1738.
    Cern1993,
    /// The grammar of RFC 1738 §5 and common deviations from it, each reported as a [`Note`](crate::Note). The default.
    #[default]
    Lenient,
    /// The grammar of RFC 1738 §5 without deviations. Schemes from later RFCs, such as `https`, are accepted.
    Rfc1738,
}
