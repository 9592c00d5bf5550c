//! The fault table of redirects and access methods.

use crate::prospero::config::ProsperoConfig;
use crate::prospero::fault_configs::{
    SHORT, addr, first_method, forward, forward_chain, forward_loop, info_text, only_method, with_object,
    with_short,
};
use crate::prospero::faults::ProsperoFault;
use crate::prospero::host::ProsperoHost;
use crate::prospero::object::ProsperoObject;

const HERE: ProsperoHost = ProsperoHost::Here;
const LOCAL: &[&str] = &["LOCAL", "INTERNET-D", "127.0.0.1", "ASCII", "/etc/passwd"];

/// The faults of a server in redirects and access methods, and unusual but correct behaviour (exit status 0).
#[rustfmt::skip] // a table
pub static PROSPERO_REDIRECT_FAULTS: &[ProsperoFault] = &[
    // Forwarded.
    ProsperoFault::file("forwarded", 0, |s| forward(s, HERE)).at("/srv/moved"),
    ProsperoFault::file("forwarded_5_times", 0, |s| forward_chain(s, 5)).at("/srv/c1"),
    ProsperoFault::file("forwarded_30_times", 47, |s| forward_chain(s, 30)).at("/srv/c1"),
    ProsperoFault::file("forwarded_limit", 47, |s| forward_chain(s, 5)).at("/srv/c1").with(&["--max-redirs", "2"]).or(&[0]),
    ProsperoFault::short("forwarded_ring", 47, |_| forward_loop()),
    ProsperoFault::short("forwarded_to_itself", 47, |_| with_short(ProsperoObject::forwarded(HERE, "/srv/short"))),
    ProsperoFault::short("forwarded_to_nothing", 78, |_| with_short(ProsperoObject::forwarded(HERE, "/srv/none"))),
    ProsperoFault::file("forwarded_other_port", 0, |s| forward(s, ProsperoHost::OtherPort)).at("/srv/moved"),
    ProsperoFault::file("forwarded_other_address", 0, |s| forward(s, ProsperoHost::OtherAddress)).or(&[90]).at("/srv/moved"),
    ProsperoFault::file("forwarded_low_port", 90, |s| forward(s, addr([127, 0, 0, 1], 25))).at("/srv/moved"),
    ProsperoFault::file("forwarded_port_0", 8, |s| forward(s, addr([127, 0, 0, 1], 0))).at("/srv/moved").or(&[3, 90]),
    ProsperoFault::file("forwarded_port_70000", 8, |s| forward(s, ProsperoHost::named("127.0.0.1(70000)"))).at("/srv/moved").or(&[3, 90]),
    ProsperoFault::file("forwarded_no_host", 8, |s| forward(s, ProsperoHost::named(""))).at("/srv/moved").or(&[0, 1, 3]),
    ProsperoFault::file("forwarded_odd_host", 8, |s| forward(s, ProsperoHost::named("user@127.0.0.1/x?y#z"))).at("/srv/moved").or(&[3, 93]),
    ProsperoFault::file("forwarded_host_in_digits", 8, |s| forward(s, ProsperoHost::named("0x7f.1"))).at("/srv/moved").or(&[3]),
    ProsperoFault::file("forwarded_host_of_lines", 8, |s| forward(s, ProsperoHost::named("127.0.0.1\r\nSTATUS\n"))).at("/srv/moved").or(&[3, 93]),
    ProsperoFault::short("forwarded_hostile_name", 93, |_| with_short(ProsperoObject::forwarded(HERE, "/srv/a\nSTATUS\n"))).or(&[8]),
    ProsperoFault::short("forwarded_cut", 8, |s| info_text(s, b"FORWARDED INTERNET-D\n")),
    ProsperoFault::short("forwarded_other_kind", 8, |s| info_text(s, b"FORWARDED VIRTUAL-SYSTEM #'/EDU/X' ASCII '/a' 0\n")).or(&[1, 3]),
    // Access methods that are not supported, and local files.
    ProsperoFault::short("nfs_alone", 1, |_| only_method(&["NFS", "INTERNET-D", "n.test", "ASCII", "/export/x", "/export"])).message(&["NFS"]),
    ProsperoFault::short("afs_alone", 1, |_| only_method(&["AFS", "INTERNET-D", "n.test", "ASCII", "/afs/x"])).message(&["AFS"]),
    ProsperoFault::short("rcp_alone", 1, |_| only_method(&["RCP", "INTERNET-D", "n.test", "ASCII", "/x"])),
    ProsperoFault::short("unknown_alone", 1, |_| only_method(&["HYPERSPACE", "INTERNET-D", "n.test", "ASCII", "/x"])),
    ProsperoFault::short("unknown_hostile", 1, |_| only_method(&["HYPER\u{1b}[2J\r\nSPACE", "INTERNET-D", "n.test", "ASCII", "/x"])).or(&[8]),
    ProsperoFault::short("nfs_first", 0, |_| first_method(&["NFS", "INTERNET-D", "n.test", "ASCII", "/export/x", "/export"])),
    ProsperoFault::short("unknown_first", 0, |_| first_method(&["HYPERSPACE", "x"])),
    ProsperoFault::short("local_alone", 1, |_| only_method(LOCAL)).or(&[90]),
    ProsperoFault::short("local_of_a_file", 1, |_| with_short(ProsperoObject::file(SHORT).intrinsic_access_methods(&[LOCAL]))).or(&[90]),
    ProsperoFault::short("local_own_name", 1, |_| with_object("/etc/passwd", ProsperoObject::file(SHORT).intrinsic_access_methods(&[&["LOCAL", "", "", "", ""]]))).at("/etc/passwd").or(&[90]),
    ProsperoFault::short("local_first", 0, |_| first_method(LOCAL)),
    ProsperoFault::short("local_outside", 1, |_| only_method(&["LOCAL", "INTERNET-D", "", "ASCII", "/srv/../etc/passwd"])).or(&[90]),
    ProsperoFault::short("ftp_with_login", 67, |_| only_method(&["FTP", "INTERNET-D", "", "ASCII", "/x", "BINARY"])).or(&[1, 7, 90]),
    ProsperoFault::short("aftp_directory", 8, |_| only_method(&["AFTP", "INTERNET-D", "", "ASCII", "/x", "DIRECTORY"])).or(&[1, 7, 90]),
    ProsperoFault::short("telnet", 0, |_| only_method(&["TELNET", "INTERNET-D", "t.test", "ASCII", "", "log in as guest", "guest"])).or(&[1, 2]).shows(&["t.test"]),
    ProsperoFault::short("tn3270", 0, |_| only_method(&["TN3270", "INTERNET-D", "t.test", "ASCII", "", "log in", "guest"])).or(&[1, 2]).shows(&["t.test"]),
    ProsperoFault::short("telnet_hostile", 0, |_| only_method(&["TELNET", "INTERNET-D", "t.test", "ASCII", "", "\u{1b}[2J;reboot", "-x;`y`"])).or(&[1, 2, 8, 93]).shows(&["t.test"]),
    // Access methods without a server.
    ProsperoFault::short("aftp_connection_refused", 7, |_| only_method(&["AFTP", "", "", "", "", "BINARY"])),
    ProsperoFault::short("gopher_connection_refused", 7, |_| only_method(&["GOPHER", "", "", "ASCII", "0/x", "0"])),
    ProsperoFault::short("gopher_without_type", 7, |_| only_method(&["GOPHER", "", "", "ASCII", "0/x"])),
    ProsperoFault::short("gopher_without_type_or_name", 7, |_| only_method(&["GOPHER", "", "", "ASCII", "", ""])).or(&[1, 8]),
    ProsperoFault::short("gopher_odd_type", 7, |_| only_method(&["GOPHER", "", "", "ASCII", "0/x", "\u{1b}"])).or(&[1, 3, 8, 93]),
    ProsperoFault::short("wais_connection_refused", 7, |_| only_method(&["WAIS", "", "", "ASCII", "WAIS-GW/127.0.0.1(1738)/TEXT/t/doc"])),
    ProsperoFault::short("wais_odd_name", 8, |_| only_method(&["WAIS", "", "", "ASCII", "WAIS-GW/x"])).or(&[1, 3, 78]),
    ProsperoFault::short("aftp_low_port", 90, |_| only_method(&["AFTP", "INTERNET-D", "127.0.0.1(25)", "ASCII", "/x", "BINARY"])),
    ProsperoFault::short("gopher_low_port", 90, |_| only_method(&["GOPHER", "INTERNET-D", "127.0.0.1(25)", "ASCII", "0/x", "0"])),
    ProsperoFault::short("aftp_not_wanted", 90, |_| only_method(&["AFTP", "", "", "", "", "BINARY"])).with(&["--proto-redir", "=prospero"]).or(&[1]),
    // Invalid access methods.
    ProsperoFault::short("access_of_3_tokens", 8, |_| only_method(&["AFTP", "INTERNET-D", "f.test"])).or(&[1, 78]),
    ProsperoFault::short("access_of_1_token", 8, |_| only_method(&["AFTP"])).or(&[1, 78]),
    ProsperoFault::short("access_of_no_token", 8, |_| only_method(&[""])).or(&[1, 78]),
    ProsperoFault::short("access_of_3_tokens_first", 0, |_| first_method(&["AFTP", "INTERNET-D", "f.test"])).or(&[8]),
    ProsperoFault::short("access_many_tokens", 7, |_| only_method(&["AFTP", "", "", "", "", "BINARY", "x", "y", "z"])).or(&[1, 8]),
    ProsperoFault::short("access_nul_in_method", 1, |_| only_method(&["AFTP\0", "", "", "", "", "BINARY"])).or(&[8]),
    ProsperoFault::short("access_nul_in_host", 8, |_| only_method(&["AFTP", "INTERNET-D", "f.test\0.x", "ASCII", "/x", "BINARY"])).or(&[1, 3, 93]),
    ProsperoFault::short("access_nul_in_path", 93, |_| only_method(&["AFTP", "", "", "ASCII", "/x\0y", "BINARY"])).or(&[1, 3, 8]),
    ProsperoFault::short("access_lines_in_path", 93, |_| only_method(&["AFTP", "", "", "ASCII", "/x\r\nDELE y", "BINARY"])).or(&[1, 3, 8]),
    ProsperoFault::short("access_lines_in_selector", 93, |_| only_method(&["GOPHER", "", "", "ASCII", "0/x\r\nDELE y", "0"])).or(&[1, 3, 8]),
    ProsperoFault::short("access_odd_host", 8, |_| only_method(&["AFTP", "INTERNET-D", "user@127.0.0.1/x?y#z", "ASCII", "/x", "BINARY"])).or(&[1, 3, 93]),
    ProsperoFault::short("access_port_70000", 8, |_| only_method(&["AFTP", "INTERNET-D", "127.0.0.1(70000)", "ASCII", "/x", "BINARY"])).or(&[1, 3]),
    ProsperoFault::short("access_open_quote", 8, |s| info_text(s, b"ATTRIBUTE OBJECT FIELD ACCESS-METHOD AFTP '' '' '' 'x BINARY\n")).or(&[18]),
    ProsperoFault::short("access_many", 0, |_| many_methods()),
];

/// A file with 200 access methods that are not supported.
fn many_methods() -> ProsperoConfig {
    with_short((0..200).fold(ProsperoObject::file(SHORT), |object, _| object.access_method(&["NFS", "x"])))
}
