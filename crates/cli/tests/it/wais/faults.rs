//! The wais column of the fault matrix (docs/spec/faults.md, section 3): every fault of [`WaisFault::all`], with and
//! without an older file at the output path.

use crate::support::fault_runner::FaultRunner;
use crate::support::run_measuring_memory;
use fetch_url_tests::{WaisAction, WaisConfig, WaisDatabase, WaisDocument, WaisFault, WaisServer};

/// The memory limit of rule N8 (docs/spec/faults.md), in KiB.
const MAX_MEMORY: u64 = 64 * 1024;

#[test]
fn every_wais_fault_ends_as_in_the_fault_matrix() {
    FaultRunner::new::<WaisServer>().check_table(WaisFault::all(), |_, _| Ok(()));
}

#[test]
fn endless_document_is_streamed_until_max_filesize() {
    let document = WaisDocument::new("x", "x", "TEXT", "x").id(b"\x03\x01a".as_slice());
    let config = WaisConfig::new().database(WaisDatabase::new("t").document(document));
    let server = WaisServer::start(config.always(WaisAction::Endless(b'x'))).expect("start server");
    let url = server.url("t/TEXT/%03%01a");
    let (memory, result) = run_measuring_memory(&["-o", "/dev/null", "--max-filesize", "20M", &url]);
    result.assert_exit(63);
    assert!(memory > 0 && memory < MAX_MEMORY, "{memory} KiB");
}
