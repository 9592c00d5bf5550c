//! The file that all segments are written to.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::layout::{OVERLAP_LEN, Overlap, Segment};
use crate::sink::Target;
use crate::{Body, Code, Error, Phase, Progress};

/// The file that the segments are written to.
pub(super) struct Assembly<'w> {
    pub(super) target: Target,
    pub(super) segments: Vec<Segment>,
    pub(super) done: u64,
    pub(super) size: u64,
    pub(super) progress: &'w mut dyn Progress,
    /// The segments do not fit together.
    has_conflict: bool,
}

impl<'w> Assembly<'w> {
    pub(super) fn new(
        target: Target,
        segments: Vec<Segment>,
        size: u64,
        progress: &'w mut dyn Progress,
    ) -> Self {
        Self { target, segments, done: 0, size, progress, has_conflict: false }
    }

    pub(super) fn add_progress(&mut self, bytes: u64) {
        self.done += bytes;
        self.progress.update(self.done, Some(self.size));
    }

    fn write(&mut self, index: usize, bytes: &[u8]) -> Result<(), Error> {
        let segment = &mut self.segments[index];
        let length = bytes.len() as u64;
        if length > (segment.last + 1).saturating_sub(segment.next_offset) {
            return Err(Error::new(
                Code::PeerMisbehaved,
                Phase::Body,
                "the server sent more bytes than the requested range",
            ));
        }
        self.target.write_at(segment.next_offset, bytes)?;
        segment.next_offset += length;
        self.add_progress(length);
        self.record_valid_bytes()
    }

    /// Records the number of bytes from the start that have no gap and whose overlaps match.
    ///
    /// # Errors
    /// [`Code::RangeRefused`] if an overlap does not match; nothing is kept then.
    pub(super) fn record_valid_bytes(&mut self) -> Result<(), Error> {
        let valid = if self.has_conflict { None } else { self.count_valid_bytes()? };
        match valid {
            Some(valid) => self.target.set_valid_length(valid),
            None => self.discard_all(),
        }
    }

    /// Marks all bytes as invalid, because the server has sent bytes from another offset than the requested one, or of
    /// another version.
    ///
    /// # Errors
    /// Always [`Code::RangeRefused`], unless the file cannot be written.
    pub(super) fn discard_all(&mut self) -> Result<(), Error> {
        self.has_conflict = true;
        self.target.set_valid_length(0)?;
        let detail = "the server did not start at the requested offset, or the object changed";
        Err(Error::new(Code::RangeRefused, Phase::Body, detail))
    }

    /// Compares the overlaps of all segments up to the first incomplete one with the bytes before them, once. Returns
    /// the number of bytes up to there, or `None` if an overlap does not match.
    fn count_valid_bytes(&mut self) -> Result<Option<u64>, Error> {
        let mut valid = 0;
        for segment in &mut self.segments {
            for overlap in segment.overlaps.drain(..) {
                if self.target.read_at(overlap.offset, overlap.bytes.len())? != overlap.bytes {
                    return Ok(None);
                }
            }
            valid = segment.next_offset;
            if segment.next_offset <= segment.last {
                break;
            }
        }
        Ok(Some(valid))
    }
}

pub(super) fn locked<'a, 'w>(assembly: &'a Mutex<Assembly<'w>>) -> MutexGuard<'a, Assembly<'w>> {
    assembly.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads the bytes before the segment, then the segment.
pub(super) async fn read_segment(
    index: usize,
    mut body: Body,
    assembly: &Mutex<Assembly<'_>>,
) -> Result<(), Error> {
    let at = locked(assembly).segments[index].request_offset();
    let count = usize::try_from(locked(assembly).segments[index].next_offset - at).unwrap_or(OVERLAP_LEN);
    let mut before = Vec::with_capacity(count);
    while let Some(mut bytes) = body.chunk().await? {
        if before.len() < count {
            let overlap_len = bytes.len().min(count - before.len());
            before.extend_from_slice(&bytes.split_to(overlap_len));
            if before.len() == count {
                let overlap = Overlap { offset: at, bytes: before.clone() };
                locked(assembly).segments[index].overlaps.push(overlap);
            }
        }
        locked(assembly).write(index, &bytes)?;
    }
    Ok(())
}
