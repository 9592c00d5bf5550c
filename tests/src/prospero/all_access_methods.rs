//! A directory with links of all known access methods, for tests and the demo.

use std::net::SocketAddr;

use crate::prospero::config::ProsperoConfig;
use crate::prospero::host::ProsperoHost;
use crate::prospero::link::ProsperoLink;
use crate::prospero::object::ProsperoObject;

/// The content of the file that is retrieved over Prospero itself.
const CONTENTS: &[u8] = b"This file came over Prospero itself.\n";

/// A link to another service: name, hsoname there, method, and the sixth token of the method.
type Row<'a> = (&'a str, &'a str, &'a str, &'a [&'a str]);

impl ProsperoConfig {
    /// A server with the directory `/every`. Its links, and the objects with the same names, point to
    ///
    /// * `file.bin` and `file.txt` in `pub` of the FTP server,
    /// * the selector `0/file.txt` of the gopher server,
    /// * two documents in the database `t` of the WAIS server, with the identifiers `doc` and
    ///   [`wais_locator_id`](Self::wais_locator_id),
    /// * `/every/contents.txt` and `/every/dir` on this server, and `/every/far` on another port,
    /// * hosts that do not exist, by methods that are not supported.
    #[must_use]
    pub fn all_access_methods(ftp: SocketAddr, gopher: SocketAddr, wais: SocketAddr) -> Self {
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
        let config = rows.iter().fold(Self::new(), |config, (host, row)| {
            config.object(format!("/every/{}", row.0), object(host, *row))
        });
        let inside = ProsperoLink::file("inside.txt", "/every/contents.txt");
        config
            .object("/every", ProsperoObject::directory(links))
            .object("/every/dir", ProsperoObject::directory([inside.clone()]))
            .object("/every/far", ProsperoObject::directory([inside]))
            .object("/every/contents.txt", ProsperoObject::file(CONTENTS).description("a small file"))
            .object("/every/moved", ProsperoObject::forwarded(ProsperoHost::OtherPort, "/every/contents.txt"))
            .object("/every/gone", ProsperoObject::forwarded(ProsperoHost::Here, "/every/nosuch"))
    }

    /// Returns the document identifier of the locator `1=host:port;2=t;3=a;`.
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
        ProsperoLink::new("EXTERNAL", "prospero-contents", "/every/contents.txt").access_method(&of_link),
        ProsperoLink::directory("dir", "/every/dir"),
        ProsperoLink::directory("union", "/every/dir").union(),
        ProsperoLink::directory("far", "/every/far").on_host(ProsperoHost::OtherPort),
        ProsperoLink::symbolic("symbolic", "#/EDU/X", "/a/b"),
        ProsperoLink::new("OBJECT", "it's an + object", "/every/contents.txt"),
        ProsperoLink::new("NULL", "null", ""),
    ]
}

/// Returns an external link. Host and hsoname of the method are those of the link.
fn link(host: &str, (name, hsoname, method, more): Row<'_>) -> ProsperoLink {
    ProsperoLink::external(name, host, hsoname).access_method(&[&[method, "", "", "", ""], more].concat())
}

/// Returns an object with only an access method, which contains host and hsoname.
fn object(host: &str, (_, hsoname, method, more): Row<'_>) -> ProsperoObject {
    ProsperoObject::attributes_only()
        .access_method(&[&[method, "INTERNET-D", host, "ASCII", hsoname], more].concat())
}

fn host(addr: SocketAddr) -> String {
    format!("{}({})", addr.ip(), addr.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locator_and_identifier_name_the_same_document() {
        let wais = SocketAddr::from(([127, 0, 0, 1], 210));
        assert_eq!(ProsperoConfig::wais_locator_id(wais), b"\x01\x0d127.0.0.1:210\x02\x01t\x03\x01a");
        let config = ProsperoConfig::all_access_methods(wais, wais, wais);
        assert!(config.find(b"/every", 0).is_ok() && config.find(b"/every/tn3270", 0).is_ok());
    }
}
