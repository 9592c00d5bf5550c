//! The numbers of a range whose articles the server does not deliver.

use std::collections::BTreeSet;

/// Counts the skipped numbers, and collects the codes of the replies.
#[derive(Default)]
pub(super) struct SkippedNumbers {
    count: u64,
    codes: BTreeSet<u32>,
}

impl SkippedNumbers {
    /// Records a skipped number and the code of the reply.
    pub(super) fn record(&mut self, code: Option<u32>) {
        self.count += 1;
        self.codes.extend(code);
    }

    /// Returns the note about the skipped numbers, if there are any.
    pub(super) fn note(&self) -> Option<String> {
        let numbers = match self.count {
            0 => return None,
            1 => "1 article number was".to_owned(),
            count => format!("{count} article numbers were"),
        };
        let codes: Vec<String> = self.codes.iter().map(u32::to_string).collect();
        Some(format!("{numbers} skipped: the server replied {}", codes.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn note_has_the_count_and_each_code_once() {
        let mut skipped = SkippedNumbers::default();
        assert_eq!(skipped.note(), None);
        skipped.record(Some(451));
        assert_eq!(skipped.note().as_deref(), Some("1 article number was skipped: the server replied 451"));
        skipped.record(Some(423));
        skipped.record(Some(423));
        assert_eq!(
            skipped.note().as_deref(),
            Some("3 article numbers were skipped: the server replied 423, 451")
        );
    }
}
