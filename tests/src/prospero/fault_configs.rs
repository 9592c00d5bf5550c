//! The server configurations that the rows of the Prospero fault tables use.

use std::net::{Ipv4Addr, SocketAddrV4};

use crate::fault::row::FaultFixture;
use crate::prospero::config::ProsperoConfig;
use crate::prospero::host::ProsperoHost;
use crate::prospero::link::ProsperoLink;
use crate::prospero::object::ProsperoObject;
use crate::prospero::packet::ProsperoPacket;
use crate::prospero::rule::{ProsperoAction, ProsperoPackets, ProsperoTrigger};

/// A text that is sent in one packet.
pub(crate) const SHORT: &[u8] = b"A short text.\nOf two lines, 'quoted'.\n";
/// The response of a server without the object.
pub(crate) const NOT_FOUND: &[u8] = b"FAILURE NOT-FOUND\n";
/// Added to the id of a request: an id that none of the client's requests has. A client counts its ids up, so a small
/// number would be the id of a request that follows, and a late packet would be a response to it.
pub(crate) const OTHER_ID: u16 = 0x8000;
/// Options for rows in which the client would otherwise wait until its default timeout.
pub(crate) const MAX_TIME: &[&str] = &["-m", "0.4"];

/// A correct server with the file, the short text, and a directory of both.
pub(crate) fn correct(fixture: &FaultFixture) -> ProsperoConfig {
    let links = [
        ProsperoLink::file("the long file", "/srv/file"),
        ProsperoLink::file("the short text", "/srv/short"),
    ];
    with_object("/srv/short", ProsperoObject::file(SHORT))
        .object("/srv/file", ProsperoObject::file(fixture.content.clone()))
        .object("/srv/dir", ProsperoObject::directory(links))
}

/// A server with only this object.
pub(crate) fn with_object(hsoname: &str, object: ProsperoObject) -> ProsperoConfig {
    ProsperoConfig::new().root("/srv/").object(hsoname, object)
}

/// A server with this object instead of the short text.
pub(crate) fn with_short(object: ProsperoObject) -> ProsperoConfig {
    with_object("/srv/short", object)
}

/// A server with a file of these bytes instead of the short text.
pub(crate) fn with_content(bytes: &[u8]) -> ProsperoConfig {
    with_short(ProsperoObject::file(bytes))
}

/// Takes this action on every request.
pub(crate) fn always(fixture: &FaultFixture, action: ProsperoAction) -> ProsperoConfig {
    correct(fixture).always(action)
}

/// Takes this action on requests for contents.
pub(crate) fn on_contents(fixture: &FaultFixture, action: ProsperoAction) -> ProsperoConfig {
    correct(fixture).on(ProsperoTrigger::Contents, action)
}

/// Takes this action on requests for the contents of a file without a size.
pub(crate) fn without_size(action: ProsperoAction) -> ProsperoConfig {
    let object = ProsperoObject::attributes_only().access_method(&["PROSPERO-CONTENTS", "", "", "", ""]);
    with_object("/srv/file", object).on(ProsperoTrigger::Contents, action)
}

/// Takes this action on requests for links.
pub(crate) fn on_list(fixture: &FaultFixture, action: ProsperoAction) -> ProsperoConfig {
    correct(fixture).on(ProsperoTrigger::List, action)
}

/// Sends this text as every response.
pub(crate) fn text(fixture: &FaultFixture, text: &[u8]) -> ProsperoConfig {
    correct(fixture).replace_text(text)
}

/// Sends this text in response to requests for contents.
pub(crate) fn contents_text(fixture: &FaultFixture, text: &[u8]) -> ProsperoConfig {
    on_contents(fixture, ProsperoAction::Answer(text.to_vec()))
}

/// Sends this text in response to requests for attributes.
pub(crate) fn info_text(fixture: &FaultFixture, text: &[u8]) -> ProsperoConfig {
    correct(fixture).on(ProsperoTrigger::Info, ProsperoAction::Answer(text.to_vec()))
}

/// Sends this text in response to requests for links.
pub(crate) fn list_text(fixture: &FaultFixture, text: &[u8]) -> ProsperoConfig {
    on_list(fixture, ProsperoAction::Answer(text.to_vec()))
}

/// Does not send these packets.
pub(crate) fn drop_packets(fixture: &FaultFixture, packets: ProsperoPackets) -> ProsperoConfig {
    always(fixture, ProsperoAction::Drop(packets))
}

/// Sends this packet before each window.
pub(crate) fn packet_before(fixture: &FaultFixture, packet: ProsperoPacket) -> ProsperoConfig {
    always(fixture, ProsperoAction::PacketBefore(packet))
}

/// Sends this packet instead of every response.
pub(crate) fn only_packet(fixture: &FaultFixture, packet: ProsperoPacket) -> ProsperoConfig {
    correct(fixture).replace_packets(vec![packet])
}

/// Sends these packets instead of every response. A packet is number, total and data.
pub(crate) fn only_packets(fixture: &FaultFixture, packets: &[(u16, u16, &[u8])]) -> ProsperoConfig {
    let packet = |(number, total, data): &(u16, u16, &[u8])| ProsperoPacket::data(*number, *total, data);
    correct(fixture).replace_packets(packets.iter().map(packet).collect())
}

/// Puts these bytes at this position of the packets. All headers have at least 9 bytes.
pub(crate) fn patch(
    fixture: &FaultFixture,
    which: ProsperoPackets,
    at: usize,
    bytes: &[u8],
) -> ProsperoConfig {
    let patch = ProsperoAction::Patch(which, at, bytes.to_vec());
    always(fixture, ProsperoAction::MinHeaderLength(9)).always(patch)
}

/// Patches the packets of responses to requests for contents.
pub(crate) fn patch_contents(
    fixture: &FaultFixture,
    which: ProsperoPackets,
    at: usize,
    bytes: &[u8],
) -> ProsperoConfig {
    let patch = ProsperoAction::Patch(which, at, bytes.to_vec());
    on_contents(fixture, ProsperoAction::MinHeaderLength(9)).on(ProsperoTrigger::Contents, patch)
}

/// Redirects every request to this server.
pub(crate) fn redirect(fixture: &FaultFixture, to: ProsperoHost) -> ProsperoConfig {
    only_packet(fixture, ProsperoPacket::redirect(4, to))
}

/// An address. No server need listen there.
pub(crate) fn addr(bytes: [u8; 4], port: u16) -> ProsperoHost {
    ProsperoHost::At(SocketAddrV4::new(Ipv4Addr::from(bytes), port))
}

/// Forwards `/srv/moved` to the file on this server.
pub(crate) fn forward(fixture: &FaultFixture, host: ProsperoHost) -> ProsperoConfig {
    correct(fixture).object("/srv/moved", ProsperoObject::forwarded(host, "/srv/file"))
}

/// Forwards `/srv/c1` to `/srv/c2` and so on, to the file after `length` times.
pub(crate) fn forward_chain(fixture: &FaultFixture, length: usize) -> ProsperoConfig {
    let target =
        |number| if number == length { "/srv/file".to_owned() } else { format!("/srv/c{}", number + 1) };
    (1..=length).fold(correct(fixture), |config, number| {
        let object = ProsperoObject::forwarded(ProsperoHost::Here, target(number));
        config.object(format!("/srv/c{number}"), object)
    })
}

/// Forwards two objects to each other.
pub(crate) fn forward_loop() -> ProsperoConfig {
    let moved = |to: &str| ProsperoObject::forwarded(ProsperoHost::Here, to);
    with_short(moved("/srv/other")).object("/srv/other", moved("/srv/short"))
}

/// A server whose short text has only this access method.
pub(crate) fn only_method(tokens: &[&str]) -> ProsperoConfig {
    with_short(ProsperoObject::attributes_only().access_method(tokens))
}

/// A server whose short text has this access method, and the intrinsic ones after it.
pub(crate) fn first_method(tokens: &[&str]) -> ProsperoConfig {
    with_short(ProsperoObject::file(SHORT).access_method(tokens))
}

/// A server with a directory of this link.
pub(crate) fn with_link(link: ProsperoLink) -> ProsperoConfig {
    with_object("/srv/dir", ProsperoObject::directory([link]))
}

/// A server with a directory of a link with this name.
pub(crate) fn with_link_name(name: &[u8]) -> ProsperoConfig {
    with_link(ProsperoLink::file(name, "/srv/x"))
}

/// A server with a directory of more links than fit into a window.
pub(crate) fn many_links() -> ProsperoConfig {
    let link = |number| ProsperoLink::file(format!("number {number}"), format!("/srv/number {number}"));
    with_object("/srv/dir", ProsperoObject::directory((0..3000).map(link)))
}
