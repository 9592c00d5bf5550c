//! The file that all segments are written to.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

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
    /// The number of bytes after the stated size, by which the object has grown.
    surplus: u64,
    /// The overlap that preceded these bytes, until it is compared with the start of the object.
    surplus_overlap: Option<Vec<u8>>,
    /// The segments do not fit together.
    has_conflict: bool,
    /// A server does not state the offset of the bytes that it sends.
    may_ignore_offsets: bool,
}

impl<'w> Assembly<'w> {
    pub(super) fn new(
        target: Target,
        segments: Vec<Segment>,
        size: u64,
        progress: &'w mut dyn Progress,
        may_ignore_offsets: bool,
    ) -> Self {
        Self {
            may_ignore_offsets,
            target,
            segments,
            done: 0,
            size,
            progress,
            surplus: 0,
            surplus_overlap: None,
            has_conflict: false,
        }
    }

    pub(super) fn add_progress(&mut self, bytes: u64) {
        self.done += bytes;
        self.progress.update(self.done, Some(self.size));
    }

    fn write(&mut self, index: usize, bytes: &[u8]) -> Result<(), Error> {
        let segment = &mut self.segments[index];
        let length = bytes.len() as u64;
        if length > segment.missing() {
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

    /// Writes bytes after the stated size, from a response that began with `overlap`.
    fn write_surplus(&mut self, bytes: &[u8], overlap: &[u8]) -> Result<(), Error> {
        if self.surplus == 0 {
            self.surplus_overlap = Some(overlap.to_vec());
        }
        self.target.write_at(self.size + self.surplus, bytes)?;
        self.surplus += bytes.len() as u64;
        self.add_progress(bytes.len() as u64);
        self.record_valid_bytes()
    }

    /// Records that all segments are complete. Returns the number of bytes of the object, which may have grown.
    ///
    /// # Errors
    /// As for [`Self::record_valid_bytes`].
    pub(super) fn complete(&mut self) -> Result<u64, Error> {
        self.record_valid_bytes()?;
        let bytes = self.size + self.surplus;
        // Not before: a partial file is resumed by the stated size.
        self.target.set_valid_length(bytes)?;
        Ok(bytes)
    }

    /// Returns the numbers of the complete segments whose overlaps do not show at which offset the server started.
    ///
    /// # Errors
    /// As for [`Self::record_valid_bytes`].
    pub(super) fn ambiguous_segments(&mut self) -> Result<Vec<usize>, Error> {
        self.record_valid_bytes()?;
        let indexes = 0..self.segments.len();
        Ok(indexes.filter(|&index| self.segments[index].is_ambiguous).collect())
    }

    /// Returns `true` if `count` bytes at `offset` equal those at `other`.
    pub(super) fn has_equal_bytes(&mut self, offset: u64, other: u64, count: usize) -> Result<bool, Error> {
        Ok(self.target.read_at(offset, count)? == self.target.read_at(other, count)?)
    }

    /// Makes the bytes from the segment `index` on one segment, which is to be fetched, and returns it.
    pub(super) fn merge_segments_from(&mut self, index: usize) -> Segment {
        let next_offset = self.segments[..index].last().map_or(0, |segment| segment.last + 1);
        self.segments.truncate(index);
        self.segments.push(Segment::new(next_offset, self.size - 1));
        (self.done, self.surplus, self.surplus_overlap) = (next_offset, 0, None);
        self.segments[index].clone()
    }

    /// Records the number of bytes from the start that have no gap and whose overlaps match.
    ///
    /// # Errors
    /// [`Code::RangeRefused`] if an overlap does not match, or REST may have been ignored; nothing is kept then.
    fn record_valid_bytes(&mut self) -> Result<(), Error> {
        let is_invalid = self.has_conflict || self.may_have_ignored_rest()?;
        let valid = if is_invalid { None } else { self.count_valid_bytes()? };
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
    fn discard_all(&mut self) -> Result<(), Error> {
        self.has_conflict = true;
        self.target.set_valid_length(0)?;
        let detail = "the server did not start at the requested offset, or the object changed";
        Err(Error::new(Code::RangeRefused, Phase::Body, detail).with_invalid_body())
    }

    /// Returns `true` if the response with more bytes than the stated size began with the first bytes of the object. Then
    /// the object has not grown, but the server has accepted REST and sent the object from its start. The bytes of the
    /// other segments may be wrong, too, although their overlaps match, as those of a sparse file do.
    fn may_have_ignored_rest(&mut self) -> Result<bool, Error> {
        let Some(overlap) = &self.surplus_overlap else { return Ok(false) };
        // The first bytes may not have arrived yet. Without them, no byte is valid.
        if self.segments[0].next_offset < overlap.len() as u64 {
            return Ok(false);
        }
        let is_start = self.target.read_at(0, overlap.len())? == *overlap;
        self.surplus_overlap = None;
        Ok(is_start)
    }

    /// Compares the overlaps of all segments up to the first incomplete one with the bytes before them, once. Returns
    /// the number of bytes up to there, or up to a segment whose offset is not proven, or `None` if an overlap does not
    /// match.
    fn count_valid_bytes(&mut self) -> Result<Option<u64>, Error> {
        let (mut valid, mut is_proven) = (0, true);
        for segment in &mut self.segments {
            for overlap in segment.overlaps.drain(..).filter(|overlap| !overlap.bytes.is_empty()) {
                let length = overlap.bytes.len();
                if self.target.read_at(overlap.offset, length)? != overlap.bytes {
                    return Ok(None);
                }
                segment.compared += 1;
                segment.is_ambiguous |= self.may_ignore_offsets
                    && overlap.offset > 0
                    && self.target.read_at(0, length)? == overlap.bytes;
            }
            is_proven &= !segment.is_ambiguous;
            if is_proven {
                valid = segment.next_offset;
            }
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

/// Reads the bytes before the segment, the segment, and those by which the object has grown.
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
        let mut assembly = locked(assembly);
        let missing = usize::try_from(assembly.segments[index].missing()).unwrap_or(usize::MAX);
        let surplus =
            if body.accepts_growth() { bytes.split_off(missing.min(bytes.len())) } else { Bytes::new() };
        assembly.write(index, &bytes)?;
        if !surplus.is_empty() {
            assembly.write_surplus(&surplus, &before)?;
        }
    }
    Ok(())
}
