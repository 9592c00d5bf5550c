//! The faults of hops and access methods as data: where else the octets are said to be.

use crate::prospero::fault_sites::{
    SHORT, addr, chain, forwarded, holding, info_text, method, method_first, object, ring,
};
use crate::prospero::faults::ProsperoFault;
use crate::prospero::object::ProsperoObject;
use crate::prospero::place::ProsperoHost;
use crate::prospero::site::ProsperoSite;

const HERE: ProsperoHost = ProsperoHost::Here;
const LOCAL: &[&str] = &["LOCAL", "INTERNET-D", "127.0.0.1", "ASCII", "/etc/passwd"];

/// Every fault of hops and access methods, and some oddities that are none (exit status 0).
#[rustfmt::skip] // a table
pub static PROSPERO_HOP_FAULTS: &[ProsperoFault] = &[
    // Forwarded.
    ProsperoFault::file("forwarded", 0, |s| forwarded(s, HERE)).at("/srv/moved"),
    ProsperoFault::file("forwarded_5_times", 0, |s| chain(s, 5)).at("/srv/c1"),
    ProsperoFault::file("forwarded_30_times", 47, |s| chain(s, 30)).at("/srv/c1"),
    ProsperoFault::file("forwarded_limit", 47, |s| chain(s, 5)).at("/srv/c1").with(&["--max-redirs", "2"]).or(&[0]),
    ProsperoFault::short("forwarded_ring", 47, |_| ring()),
    ProsperoFault::short("forwarded_to_itself", 47, |_| object(ProsperoObject::forwarded(HERE, "/srv/short"))),
    ProsperoFault::short("forwarded_to_nothing", 78, |_| object(ProsperoObject::forwarded(HERE, "/srv/none"))),
    ProsperoFault::file("forwarded_other_port", 0, |s| forwarded(s, ProsperoHost::OtherPort)).at("/srv/moved"),
    ProsperoFault::file("forwarded_other_address", 0, |s| forwarded(s, ProsperoHost::OtherAddress)).or(&[90]).at("/srv/moved"),
    ProsperoFault::file("forwarded_low_port", 90, |s| forwarded(s, addr([127, 0, 0, 1], 25))).at("/srv/moved"),
    ProsperoFault::file("forwarded_port_0", 8, |s| forwarded(s, addr([127, 0, 0, 1], 0))).at("/srv/moved").or(&[3, 90]),
    ProsperoFault::file("forwarded_port_70000", 8, |s| forwarded(s, ProsperoHost::named("127.0.0.1(70000)"))).at("/srv/moved").or(&[3, 90]),
    ProsperoFault::file("forwarded_no_host", 8, |s| forwarded(s, ProsperoHost::named(""))).at("/srv/moved").or(&[0, 1, 3]),
    ProsperoFault::file("forwarded_odd_host", 8, |s| forwarded(s, ProsperoHost::named("user@127.0.0.1/x?y#z"))).at("/srv/moved").or(&[3, 93]),
    ProsperoFault::file("forwarded_host_in_digits", 8, |s| forwarded(s, ProsperoHost::named("0x7f.1"))).at("/srv/moved").or(&[3]),
    ProsperoFault::file("forwarded_host_of_lines", 8, |s| forwarded(s, ProsperoHost::named("127.0.0.1\r\nSTATUS\n"))).at("/srv/moved").or(&[3, 93]),
    ProsperoFault::short("forwarded_hostile_name", 93, |_| object(ProsperoObject::forwarded(HERE, "/srv/a\nSTATUS\n"))).or(&[8]),
    ProsperoFault::short("forwarded_cut", 8, |s| info_text(s, b"FORWARDED INTERNET-D\n")),
    ProsperoFault::short("forwarded_other_kind", 8, |s| info_text(s, b"FORWARDED VIRTUAL-SYSTEM #'/EDU/X' ASCII '/a' 0\n")).or(&[1, 3]),
    // Ways that are not built in, and files of this machine.
    ProsperoFault::short("nfs_alone", 1, |_| method(&["NFS", "INTERNET-D", "n.test", "ASCII", "/export/x", "/export"])).says(&["NFS"]),
    ProsperoFault::short("afs_alone", 1, |_| method(&["AFS", "INTERNET-D", "n.test", "ASCII", "/afs/x"])).says(&["AFS"]),
    ProsperoFault::short("rcp_alone", 1, |_| method(&["RCP", "INTERNET-D", "n.test", "ASCII", "/x"])),
    ProsperoFault::short("unknown_alone", 1, |_| method(&["HYPERSPACE", "INTERNET-D", "n.test", "ASCII", "/x"])),
    ProsperoFault::short("unknown_hostile", 1, |_| method(&["HYPER\u{1b}[2J\r\nSPACE", "INTERNET-D", "n.test", "ASCII", "/x"])).or(&[8]),
    ProsperoFault::short("nfs_first", 0, |_| method_first(&["NFS", "INTERNET-D", "n.test", "ASCII", "/export/x", "/export"])),
    ProsperoFault::short("unknown_first", 0, |_| method_first(&["HYPERSPACE", "x"])),
    ProsperoFault::short("local_alone", 1, |_| method(LOCAL)).or(&[90]),
    ProsperoFault::short("local_of_a_file", 1, |_| object(ProsperoObject::file(SHORT).own_access(&[LOCAL]))).or(&[90]),
    ProsperoFault::short("local_own_name", 1, |_| holding("/etc/passwd", ProsperoObject::file(SHORT).own_access(&[&["LOCAL", "", "", "", ""]]))).at("/etc/passwd").or(&[90]),
    ProsperoFault::short("local_first", 0, |_| method_first(LOCAL)),
    ProsperoFault::short("local_outside", 1, |_| method(&["LOCAL", "INTERNET-D", "", "ASCII", "/srv/../etc/passwd"])).or(&[90]),
    ProsperoFault::short("ftp_with_login", 67, |_| method(&["FTP", "INTERNET-D", "", "ASCII", "/x", "BINARY"])).or(&[1, 7, 90]),
    ProsperoFault::short("aftp_directory", 8, |_| method(&["AFTP", "INTERNET-D", "", "ASCII", "/x", "DIRECTORY"])).or(&[1, 7, 90]),
    ProsperoFault::short("telnet", 0, |_| method(&["TELNET", "INTERNET-D", "t.test", "ASCII", "", "log in as guest", "guest"])).or(&[1, 2]).shows(&["t.test"]),
    ProsperoFault::short("tn3270", 0, |_| method(&["TN3270", "INTERNET-D", "t.test", "ASCII", "", "log in", "guest"])).or(&[1, 2]).shows(&["t.test"]),
    ProsperoFault::short("telnet_hostile", 0, |_| method(&["TELNET", "INTERNET-D", "t.test", "ASCII", "", "\u{1b}[2J;reboot", "-x;`y`"])).or(&[1, 2, 8, 93]).shows(&["t.test"]),
    // Ways that lead nowhere: nobody listens there for TCP.
    ProsperoFault::short("aftp_nobody_there", 7, |_| method(&["AFTP", "", "", "", "", "BINARY"])),
    ProsperoFault::short("gopher_nobody_there", 7, |_| method(&["GOPHER", "", "", "ASCII", "0/x", "0"])),
    ProsperoFault::short("gopher_without_type", 7, |_| method(&["GOPHER", "", "", "ASCII", "0/x"])),
    ProsperoFault::short("gopher_without_type_or_name", 7, |_| method(&["GOPHER", "", "", "ASCII", "", ""])).or(&[1, 8]),
    ProsperoFault::short("gopher_odd_type", 7, |_| method(&["GOPHER", "", "", "ASCII", "0/x", "\u{1b}"])).or(&[1, 3, 8, 93]),
    ProsperoFault::short("wais_nobody_there", 7, |_| method(&["WAIS", "", "", "ASCII", "WAIS-GW/127.0.0.1(1738)/TEXT/t/doc"])),
    ProsperoFault::short("wais_odd_name", 8, |_| method(&["WAIS", "", "", "ASCII", "WAIS-GW/x"])).or(&[1, 3, 78]),
    ProsperoFault::short("aftp_low_port", 90, |_| method(&["AFTP", "INTERNET-D", "127.0.0.1(25)", "ASCII", "/x", "BINARY"])),
    ProsperoFault::short("gopher_low_port", 90, |_| method(&["GOPHER", "INTERNET-D", "127.0.0.1(25)", "ASCII", "0/x", "0"])),
    ProsperoFault::short("aftp_not_wanted", 90, |_| method(&["AFTP", "", "", "", "", "BINARY"])).with(&["--proto-redir", "=prospero"]).or(&[1]),
    // Ways that cannot be read.
    ProsperoFault::short("access_of_3_tokens", 8, |_| method(&["AFTP", "INTERNET-D", "f.test"])).or(&[1, 78]),
    ProsperoFault::short("access_of_1_token", 8, |_| method(&["AFTP"])).or(&[1, 78]),
    ProsperoFault::short("access_of_no_token", 8, |_| method(&[""])).or(&[1, 78]),
    ProsperoFault::short("access_of_3_tokens_first", 0, |_| method_first(&["AFTP", "INTERNET-D", "f.test"])).or(&[8]),
    ProsperoFault::short("access_many_tokens", 7, |_| method(&["AFTP", "", "", "", "", "BINARY", "x", "y", "z"])).or(&[1, 8]),
    ProsperoFault::short("access_nul_in_method", 1, |_| method(&["AFTP\0", "", "", "", "", "BINARY"])).or(&[8]),
    ProsperoFault::short("access_nul_in_host", 8, |_| method(&["AFTP", "INTERNET-D", "f.test\0.x", "ASCII", "/x", "BINARY"])).or(&[1, 3, 93]),
    ProsperoFault::short("access_nul_in_path", 93, |_| method(&["AFTP", "", "", "ASCII", "/x\0y", "BINARY"])).or(&[1, 3, 8]),
    ProsperoFault::short("access_lines_in_path", 93, |_| method(&["AFTP", "", "", "ASCII", "/x\r\nDELE y", "BINARY"])).or(&[1, 3, 8]),
    ProsperoFault::short("access_lines_in_selector", 93, |_| method(&["GOPHER", "", "", "ASCII", "0/x\r\nDELE y", "0"])).or(&[1, 3, 8]),
    ProsperoFault::short("access_odd_host", 8, |_| method(&["AFTP", "INTERNET-D", "user@127.0.0.1/x?y#z", "ASCII", "/x", "BINARY"])).or(&[1, 3, 93]),
    ProsperoFault::short("access_port_70000", 8, |_| method(&["AFTP", "INTERNET-D", "127.0.0.1(70000)", "ASCII", "/x", "BINARY"])).or(&[1, 3]),
    ProsperoFault::short("access_open_quote", 8, |s| info_text(s, b"ATTRIBUTE OBJECT FIELD ACCESS-METHOD AFTP '' '' '' 'x BINARY\n")).or(&[18]),
    ProsperoFault::short("access_many", 0, |_| many_methods()),
];

/// More ways that are not built in than anyone has.
fn many_methods() -> ProsperoSite {
    object((0..200).fold(ProsperoObject::file(SHORT), |object, _| object.access(&["NFS", "x"])))
}
