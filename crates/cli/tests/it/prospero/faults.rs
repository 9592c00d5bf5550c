//! The prospero column of the fault matrix (docs/spec/faults.md, section 3): every fault of [`ProsperoFault::all`],
//! with and without an older file at the output path.

use crate::support::fault_checks::check_stderr;
use crate::support::fault_runner::FaultRunner;
use crate::support::{ensure, run_fetch_url, run_measuring_memory};
use fetch_url_tests::{
    ProsperoAction, ProsperoConfig, ProsperoFault, ProsperoObject, ProsperoServer, ProsperoTrigger,
    ReservedPort,
};

/// The memory limit of rule N8 (docs/spec/faults.md), in KiB.
const MAX_MEMORY: u64 = 64 * 1024;
/// An upper bound on the datagrams that a client sends to one server, retransmissions included.
const MAX_DATAGRAMS: usize = 30_000;

#[test]
fn every_prospero_fault_ends_as_in_the_fault_matrix() {
    FaultRunner::new::<ProsperoServer>().check_table(ProsperoFault::all(), |case, _| {
        let datagrams = case.server.datagrams().len();
        ensure(datagrams < MAX_DATAGRAMS, || format!("{datagrams} datagrams"))
    });
}

/// The operating system reports a closed UDP port.
#[test]
fn closed_port_exits_7_or_28() {
    let port = ReservedPort::udp().expect("a port");
    let result = run_fetch_url(["--read-timeout", "2", &format!("prospero://{}//srv/x", port.addr())]);
    assert!([7, 28].contains(&result.exit), "{result:?}");
    check_stderr(&result, "prospero", &[]).expect("one clean error message");
}

#[test]
fn endless_contents_are_streamed_until_max_filesize() {
    let head = b"ATTRIBUTE OBJECT INTRINSIC CONTENTS SEQUENCE DATA x".to_vec();
    let object = ProsperoObject::attributes_only().access_method(&["PROSPERO-CONTENTS", "", "", "", ""]);
    let config = ProsperoConfig::new().object("/srv/x", object);
    let endless = ProsperoAction::Endless(head, b"x".to_vec());
    let server = ProsperoServer::start(config.on(ProsperoTrigger::Contents, endless)).expect("start server");
    let (memory, result) =
        run_measuring_memory(&["-o", "/dev/null", "--max-filesize", "20M", &server.url("/srv/x")]);
    result.assert_exit(63);
    assert!(memory > 0 && memory < MAX_MEMORY, "{memory} KiB");
}
