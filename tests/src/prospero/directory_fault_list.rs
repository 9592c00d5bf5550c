//! The fault table of directories and their links.

use crate::prospero::fault_configs::{
    MAX_TIME, always, correct, drop_packets, list_text, many_links, on_list, text, with_link, with_link_name,
    with_object,
};
use crate::prospero::faults::ProsperoFault;
use crate::prospero::host::ProsperoHost;
use crate::prospero::link::ProsperoLink;
use crate::prospero::object::ProsperoObject;
use crate::prospero::packet::ProsperoPacket;
use crate::prospero::rule::{ProsperoAction, ProsperoPackets, ProsperoTrigger};
use crate::server::rule::CutPoint;

const LINK: &str = "LINK  L FILE 'the long file' INTERNET-D x ASCII /srv/file 0\nLINK  L FILE 'the short text' INTERNET-D x ASCII /srv/short 0\n";

/// The faults of a server in directories, and unusual but correct behaviour (exit status 0).
#[rustfmt::skip] // a table
pub static PROSPERO_DIRECTORY_FAULTS: &[ProsperoFault] = &[
    // Unusual but correct.
    ProsperoFault::directory("dir_correct", 0, correct),
    ProsperoFault::directory("dir_json", 0, correct).with(&["--format", "json"]),
    ProsperoFault::directory("dir_empty", 0, |_| with_object("/srv/dir", ProsperoObject::directory([]))).or(&[78]).shows(&[]),
    ProsperoFault::directory("dir_many", 0, |_| many_links()).shows(&["number 0", "number 2999"]),
    ProsperoFault::directory("dir_small_pieces", 0, |s| on_list(s, ProsperoAction::PacketSize(7))),
    ProsperoFault::directory("dir_lost", 0, |s| drop_packets(s, ProsperoPackets::ALL.times(1))),
    ProsperoFault::directory("dir_many_lost", 0, |_| many_links().always(ProsperoAction::Drop(ProsperoPackets::number(20).times(1)))).shows(&["number 0", "number 2999"]),
    ProsperoFault::directory("dir_many_shuffled", 0, |_| many_links().always(ProsperoAction::Shuffle(5))).shows(&["number 0", "number 2999"]),
    ProsperoFault::directory("dir_always_lost", 28, |s| on_list(s, ProsperoAction::Drop(ProsperoPackets::ALL))).with(MAX_TIME),
    ProsperoFault::directory("dir_refused", 7, |s| on_list(s, ProsperoAction::ReplacePackets(vec![ProsperoPacket::refused()], 9))),
    ProsperoFault::directory("dir_unknown_lines", 0, |s| on_list(s, ProsperoAction::Between(b"UNKNOWN 'x\n'\n>ATTRIBUTE x\n".to_vec()))),
    ProsperoFault::directory("dir_warnings", 0, |s| on_list(s, ProsperoAction::Before(b"WARNING OUT-OF-DATE\nID REMOTE 1\n".to_vec()))),
    ProsperoFault::directory("dir_expiry", 0, |s| list_text(s, LINK.replace(" 0\n", " 0 DEST-EXP 0\n").as_bytes())),
    ProsperoFault::directory("dir_lower_case", 0, |s| list_text(s, LINK.replace("LINK", "link").as_bytes())),
    ProsperoFault::directory("dir_attribute_without_link", 0, |s| list_text(s, format!("ATTRIBUTE LINK APPLICATION X SEQUENCE x\n{LINK}").as_bytes())).or(&[8]),
    ProsperoFault::directory("dir_wrong_methods", 0, |s| correct(s).on(ProsperoTrigger::Info, ProsperoAction::Answer(b"NONE-FOUND\n".to_vec()))),
    // Links of every kind.
    ProsperoFault::directory("link_union", 0, |s| correct(s).on(ProsperoTrigger::List, ProsperoAction::Before(b"LINK  U DIRECTORY all INTERNET-D 127.0.0.1(1525) ASCII /x 0\n".to_vec()))),
    ProsperoFault::directory("link_union_of_itself", 0, |_| with_link(ProsperoLink::directory("again", "/srv/dir").union())).shows(&[]).or(&[47]),
    ProsperoFault::directory("link_elsewhere", 0, |_| with_link(ProsperoLink::directory("far", "/x").on_host(ProsperoHost::named("other.test(2525)")))).shows(&["far"]),
    ProsperoFault::directory("link_null", 0, |_| with_link(ProsperoLink::new("NULL", "nothing", ""))).shows(&[]),
    ProsperoFault::directory("link_symbolic", 0, |_| with_link(ProsperoLink::symbolic("symb", "#/EDU/X", "/a/b"))).shows(&["symb"]),
    ProsperoFault::directory("link_unknown_target", 0, |_| with_link(ProsperoLink::new("WORMHOLE", "strange", "/x"))).shows(&[]).or(&[8]),
    ProsperoFault::directory("link_external", 0, |_| with_link(ProsperoLink::external("away", "f.test", "/x").access_method(&["AFTP", "", "", "", "", "TEXT"]))).shows(&["away"]),
    ProsperoFault::directory("link_external_without_method", 0, |_| with_link(ProsperoLink::external("away", "f.test", "/x"))).shows(&["away"]).or(&[8]),
    ProsperoFault::directory("link_external_nfs", 0, |_| with_link(ProsperoLink::external("away", "f.test", "/x").access_method(&["NFS", "", "", "", "", "/"]))).shows(&["away"]),
    ProsperoFault::directory("link_external_cut", 0, |_| with_link(ProsperoLink::external("away", "f.test", "/x").access_method(&["AFTP"]))).shows(&[]).or(&[8]),
    ProsperoFault::directory("link_local", 0, |_| with_link(ProsperoLink::external("passwd", "127.0.0.1", "/etc/passwd").access_method(&["LOCAL", "", "", "", ""]))).shows(&["passwd"]),
    ProsperoFault::directory("link_of_a_version", 0, |_| with_link(ProsperoLink::file("old", "/x").version(7))).shows(&["old"]),
    // Hostile names.
    ProsperoFault::directory("name_hostile", 0, |_| with_link_name(b"Es\x1b[2Jcape\x07\r\nline\xc2\x9b1m\0\xe2\x80\xae")).shows(&["Es", "cape", "line"]),
    ProsperoFault::directory("name_hostile_json", 0, |_| with_link_name(b"Es\x1b[2Jcape\xff")).shows(&["Es", "cape"]).with(&["--format", "json"]),
    ProsperoFault::directory("name_empty", 0, |_| with_link_name(b"")).shows(&[]).or(&[8]),
    ProsperoFault::directory("name_latin_1_link", 0, |_| with_link_name(b"Caf\xe9 au lait")).shows(&["Caf", "au lait"]),
    ProsperoFault::directory("name_of_dots", 0, |_| with_link_name(b"../../etc/passwd")).shows(&["passwd"]),
    ProsperoFault::directory("name_longest", 0, |_| with_link_name(&b"long ".repeat(10_000))).shows(&["long long"]).or(&[63]),
    ProsperoFault::directory("hsoname_hostile", 0, |_| with_link(ProsperoLink::file("x", "/a\r\nb\x1b[2J;c?d#e%zz\0"))).shows(&["x"]),
    ProsperoFault::directory("host_hostile", 0, |_| with_link(ProsperoLink::file("y", "/a").on_host(ProsperoHost::named("user@h\r\n/x\x1b[2J")))).shows(&["y"]).or(&[8]),
    ProsperoFault::directory("host_empty", 0, |_| with_link(ProsperoLink::file("y", "/a").on_host(ProsperoHost::named("")))).shows(&["y"]).or(&[8]),
    // Refusals.
    ProsperoFault::directory("dir_not_found", 78, |s| list_text(s, b"FAILURE NOT-FOUND\n")),
    ProsperoFault::directory("dir_not_authorized", 9, |s| list_text(s, b"FAILURE NOT-AUTHORIZED\n")),
    ProsperoFault::directory("dir_server_failed", 8, |s| list_text(s, b"FAILURE SERVER-FAILED\n")),
    ProsperoFault::directory("dir_authentication", 67, |s| list_text(s, b"FAILURE AUTHENTICATION-REQUIRED\n")),
    ProsperoFault::directory("dir_error", 8, |s| list_text(s, b"ERROR Malformed input line: LIST\n")),
    ProsperoFault::directory("dir_failure_after_links", 8, |s| list_text(s, format!("{LINK}FAILURE SERVER-FAILED\n").as_bytes())).or(&[0, 18]),
    // Invalid lines.
    ProsperoFault::directory("dir_garbage", 8, |s| list_text(s, b"\xff\xfe\0\x01garbage\n")).or(&[0, 78]).shows(&[]),
    ProsperoFault::directory("dir_no_text", 52, |s| list_text(s, b"")).or(&[0, 8, 78]).shows(&[]),
    ProsperoFault::directory("dir_open_quote", 8, |s| list_text(s, b"LINK  L FILE 'the long file INTERNET-D x ASCII /srv/file 0\n")).or(&[18]),
    ProsperoFault::directory("dir_link_cut", 8, |s| list_text(s, b"LINK  L FILE x INTERNET-D\n")).or(&[0]).shows(&[]),
    ProsperoFault::directory("dir_link_of_nothing", 8, |s| list_text(s, b"LINK\n")).or(&[0]).shows(&[]),
    ProsperoFault::directory("dir_link_of_no_version", 8, |s| list_text(s, b"LINK  L FILE x INTERNET-D x ASCII /x new\n")).or(&[0]).shows(&[]),
    ProsperoFault::directory("dir_cut_in_quote", 8, |s| on_list(s, ProsperoAction::Cut(CutPoint::After(20)))).or(&[18]),
    ProsperoFault::directory("dir_cut_half", 8, |_| many_links().on(ProsperoTrigger::List, ProsperoAction::Cut(CutPoint::BeforeEnd(5)))).or(&[18]),
    ProsperoFault::directory("dir_returns", 8, |s| on_list(s, ProsperoAction::CrLf)).or(&[0]),
    ProsperoFault::directory("dir_unresolved", 47, |s| list_text(s, b"LINK  L DIRECTORY x INTERNET-D '' ASCII /srv/dir 0\nUNRESOLVED a b\n")).or(&[0, 8, 78]).shows(&[]),
    ProsperoFault::directory("dir_unresolved_alone", 8, |s| list_text(s, b"UNRESOLVED a b\n")).or(&[0, 78]).shows(&[]),
    ProsperoFault::directory("dir_of_nothing_else", 78, |s| text(s, b"NONE-FOUND\n")).or(&[0]).shows(&[]),
    // Too much data.
    ProsperoFault::directory("dir_endless", 63, |s| always(s, ProsperoAction::Endless(Vec::new(), LINK.as_bytes().to_vec()))),
    ProsperoFault::directory("dir_a_million_attributes", 63, |s| on_list(s, ProsperoAction::Flood(b"ATTRIBUTE LINK APPLICATION X SEQUENCE x\n".to_vec(), 1_000_000))).or(&[0, 28]),
    ProsperoFault::directory("dir_line_of_9_mib", 63, |s| on_list(s, ProsperoAction::Flood(vec![b'x'; 9 << 20], 1))),
];
