//! Proves that servers that do not state the offset of their data (FTP) have honoured the requested one.
//!
//! Some servers accept REST and send the file from its start. The overlap shows that, unless it equals the first bytes
//! of the file, as in files of zeros.

use std::sync::Mutex;

use super::assembly::{Assembly, locked, read_segment};
use super::layout::OVERLAP_LEN;
use super::{Object, segment_body};
use crate::Error;

/// The number of bytes that are compared at once.
const BLOCK_LEN: u64 = 256 * 1024;

impl Object {
    /// Compares the segments whose overlaps are ambiguous with the start of the object. If a segment is equal to it,
    /// the object is fetched again from there to its end over one connection, whose number of bytes proves the offset.
    pub(super) async fn prove_offsets(&self, assembly: &Mutex<Assembly<'_>>) -> Result<(), Error> {
        let ambiguous = locked(assembly).ambiguous_segments()?;
        for index in ambiguous {
            if !differs_from_start(index, assembly).await? {
                return self.fetch_rest_again(index, assembly).await;
            }
        }
        Ok(())
    }

    async fn fetch_rest_again(&self, index: usize, assembly: &Mutex<Assembly<'_>>) -> Result<(), Error> {
        let segment = locked(assembly).merge_segments_from(index);
        let source = &self.sources[0];
        let response = source.request.fetch(&self.fetcher, &segment).await?;
        let body = segment_body(source, response, &segment, self.size)?;
        read_segment(index, body, assembly).await
    }
}

/// Returns `true` if the segment is not the start of the object. A segment of several responses counts as equal: the
/// bytes of each would have to differ.
async fn differs_from_start(index: usize, assembly: &Mutex<Assembly<'_>>) -> Result<bool, Error> {
    let (first, end) = {
        let assembly = locked(assembly);
        let segment = &assembly.segments[index];
        // The first response of the first segment has no overlap.
        if segment.compared > 1 || index == 0 {
            return Ok(false);
        }
        let start = assembly.segments[..index].last().map_or(0, |previous| previous.last + 1);
        (start - OVERLAP_LEN as u64, segment.last + 1)
    };
    let mut offset = first;
    while offset < end {
        let length = (end - offset).min(BLOCK_LEN);
        let count = usize::try_from(length).unwrap_or(OVERLAP_LEN);
        if !locked(assembly).has_equal_bytes(offset, offset - first, count)? {
            return Ok(true);
        }
        offset += length;
        tokio::task::yield_now().await;
    }
    Ok(false)
}
