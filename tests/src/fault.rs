//! Fault tables: one type of row for all protocols, and the cases that a test runs for each row.

pub(crate) mod case;
pub(crate) mod row;
