//! A directory with links of every access method that the notes know, for tests and the demo.

use std::net::SocketAddr;

use crate::prospero::link::ProsperoLink;
use crate::prospero::object::ProsperoObject;
use crate::prospero::place::ProsperoHost;
use crate::prospero::site::ProsperoSite;

/// What the file that comes over Prospero itself holds.
const CONTENTS: &[u8] = b"This file came over Prospero itself.\n";

/// A link to another service: the name, the hsoname there, the method, and its sixth token.
type Row<'a> = (&'a str, &'a str, &'a str, &'a [&'a str]);

impl ProsperoSite {
    /// The directory `/every`. Its links, and objects of the same names in it, lead to
    ///
    /// * `file.bin` and `file.txt` in `pub` of the FTP server,
    /// * the selector `0/file.txt` of the gopher server,
    /// * two documents of the database `t` of the WAIS server: one whose identifier is `doc`, and one with that
    ///   of [`wais_locator_id`](Self::wais_locator_id),
    /// * `/every/contents.txt` and `/every/dir` here, `/every/far` on another port,
    /// * and nothing: what no client fetches.
    #[must_use]
    pub fn every_access_method(ftp: SocketAddr, gopher: SocketAddr, wais: SocketAddr) -> Self {
        let [ftp, gopher, wais] = [ftp, gopher, wais].map(host);
        let locator = format!("WAIS/OBJECT/1={};2=t;3=a;", wais.replace('(', ":").replace(')', ""));
        let gateway = format!("WAIS-GW/{wais}/TEXT/t/doc");
        let nowhere = "nowhere.invalid";
        let rows: [(&str, Row<'_>); 14] = [
            (&ftp, ("aftp-binary", "/pub/file.bin", "AFTP", &["BINARY"])),
            (&ftp, ("aftp-text", "/pub/file.txt", "AFTP", &["TEXT"])),
            (&ftp, ("ftp", "/pub/file.bin", "FTP", &["BINARY"])),
            (&gopher, ("gopher", "0/file.txt", "GOPHER", &["0"])),
            (&gopher, ("gopher-untyped", "0/file.txt", "GOPHER", &[])),
            (&wais, ("wais-locator", &locator, "WAIS", &[])),
            (&wais, ("wais-gateway", &gateway, "WAIS", &[])),
            (nowhere, ("nfs", "/export/file", "NFS", &["/export"])),
            (nowhere, ("afs", "/afs/cell/file", "AFS", &[])),
            (nowhere, ("rcp", "/file", "RCP", &[])),
            (nowhere, ("telnet", "", "TELNET", &["log in as guest", "guest"])),
            (nowhere, ("tn3270", "", "TN3270", &["log in as guest", "guest"])),
            (nowhere, ("unknown", "/file", "HYPERSPACE", &["x"])),
            ("127.0.0.1", ("local", "/etc/passwd", "LOCAL", &[])),
        ];
        let mut links: Vec<_> = rows.iter().map(|(host, row)| link(host, *row)).collect();
        links.extend(links_of_prospero());
        let site = rows.iter().fold(Self::new(), |site, (host, row)| {
            site.object(format!("/every/{}", row.0), object(host, *row))
        });
        let inside = ProsperoLink::file("inside.txt", "/every/contents.txt");
        site.object("/every", ProsperoObject::directory(links))
            .object("/every/dir", ProsperoObject::directory([inside.clone()]))
            .object("/every/far", ProsperoObject::directory([inside]))
            .object("/every/contents.txt", ProsperoObject::file(CONTENTS).description("a small file"))
            .object("/every/moved", ProsperoObject::forwarded(ProsperoHost::OtherPort, "/every/contents.txt"))
            .object("/every/gone", ProsperoObject::forwarded(ProsperoHost::Here, "/every/nosuch"))
    }

    /// The identifier that `1=host:port;2=t;3=a;` stands for.
    #[must_use]
    pub fn wais_locator_id(wais: SocketAddr) -> Vec<u8> {
        let server = wais.to_string();
        let length = u8::try_from(server.len()).unwrap_or(0);
        [&[1, length], server.as_bytes(), b"\x02\x01t\x03\x01a"].concat()
    }
}

fn links_of_prospero() -> Vec<ProsperoLink> {
    let of_link = ["PROSPERO-CONTENTS", "", "", "", ""];
    vec![
        ProsperoLink::file("contents.txt", "/every/contents.txt"),
        ProsperoLink::new("EXTERNAL", "prospero-contents", "/every/contents.txt").access(&of_link),
        ProsperoLink::directory("dir", "/every/dir"),
        ProsperoLink::directory("union", "/every/dir").union(),
        ProsperoLink::directory("far", "/every/far").on(ProsperoHost::OtherPort),
        ProsperoLink::symbolic("symbolic", "#/EDU/X", "/a/b"),
        ProsperoLink::new("OBJECT", "it's an + object", "/every/contents.txt"),
        ProsperoLink::new("NULL", "null", ""),
    ]
}

/// An external link; all but the method and the last token is taken from the link itself.
fn link(host: &str, (name, hsoname, method, more): Row<'_>) -> ProsperoLink {
    ProsperoLink::external(name, host, hsoname).access(&[&[method, "", "", "", ""], more].concat())
}

/// An object of which only the method is known, with everything in it.
fn object(host: &str, (_, hsoname, method, more): Row<'_>) -> ProsperoObject {
    ProsperoObject::elsewhere().access(&[&[method, "INTERNET-D", host, "ASCII", hsoname], more].concat())
}

fn host(addr: SocketAddr) -> String {
    format!("{}({})", addr.ip(), addr.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locator_and_its_identifier_are_the_same() {
        let wais = SocketAddr::from(([127, 0, 0, 1], 210));
        assert_eq!(ProsperoSite::wais_locator_id(wais), b"\x01\x0d127.0.0.1:210\x02\x01t\x03\x01a");
        let site = ProsperoSite::every_access_method(wais, wais, wais);
        assert!(site.find(b"/every", 0).is_ok() && site.find(b"/every/tn3270", 0).is_ok());
    }
}
