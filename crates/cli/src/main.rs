//! fetch-url
fn main() {}
