//! Header fields of articles in a build without the feature `news`, which fetches none.

pub(super) const fn author(_from: &[u8]) -> Option<String> {
    None
}

pub(super) const fn subject(_value: &[u8]) -> Option<String> {
    None
}
