//! Partial downloads: `-C`, `-r`, retries within a run, segments.

mod changed_objects;
mod continue_at;
mod copies;
mod existing_files;
mod growing_files;
mod ignored_rest;
mod no_content;
mod ranges;
mod segment_limits;
mod segment_offsets;
mod segments;
mod unknown_sizes;
mod within_a_run;
