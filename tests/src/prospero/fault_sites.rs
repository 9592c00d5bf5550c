//! The sites that the lists of Prospero faults are made of.

use std::net::{Ipv4Addr, SocketAddrV4};

use crate::prospero::faults::ProsperoFaultSetting;
use crate::prospero::link::ProsperoLink;
use crate::prospero::object::ProsperoObject;
use crate::prospero::packet::ProsperoPacket;
use crate::prospero::place::ProsperoHost;
use crate::prospero::rule::{ProsperoAct, ProsperoOn, ProsperoPackets};
use crate::prospero::site::ProsperoSite;

/// A text that comes in one packet.
pub(crate) const SHORT: &[u8] = b"A short text.\nOf two lines, 'quoted'.\n";
/// As if nobody had it.
pub(crate) const NOT_FOUND: &[u8] = b"FAILURE NOT-FOUND\n";
/// For clients that would wait for their own time.
pub(crate) const BRIEF: &[&str] = &["-m", "0.4"];

/// The file, the short text, a directory of both, and no fault.
pub(crate) fn honest(setting: &ProsperoFaultSetting) -> ProsperoSite {
    let links = [
        ProsperoLink::file("the long file", "/srv/file"),
        ProsperoLink::file("the short text", "/srv/short"),
    ];
    holding("/srv/short", ProsperoObject::file(SHORT))
        .object("/srv/file", ProsperoObject::file(setting.content.clone()))
        .object("/srv/dir", ProsperoObject::directory(links))
}

/// This object and no other.
pub(crate) fn holding(hsoname: &str, object: ProsperoObject) -> ProsperoSite {
    ProsperoSite::new().root("/srv/").object(hsoname, object)
}

/// The short text is this object.
pub(crate) fn object(object: ProsperoObject) -> ProsperoSite {
    holding("/srv/short", object)
}

/// The short text is a file of these octets.
pub(crate) fn octets(octets: &[u8]) -> ProsperoSite {
    object(ProsperoObject::file(octets))
}

/// This happens at every request.
pub(crate) fn act(setting: &ProsperoFaultSetting, act: ProsperoAct) -> ProsperoSite {
    honest(setting).always(act)
}

/// This happens when contents are asked for.
pub(crate) fn contents(setting: &ProsperoFaultSetting, act: ProsperoAct) -> ProsperoSite {
    honest(setting).on(ProsperoOn::Contents, act)
}

/// This happens when the contents of a file are asked for whose size nobody tells.
pub(crate) fn no_size(act: ProsperoAct) -> ProsperoSite {
    let object = ProsperoObject::elsewhere().access(&["PROSPERO-CONTENTS", "", "", "", ""]);
    holding("/srv/file", object).on(ProsperoOn::Contents, act)
}

/// This happens when links are asked for.
pub(crate) fn list(setting: &ProsperoFaultSetting, act: ProsperoAct) -> ProsperoSite {
    honest(setting).on(ProsperoOn::List, act)
}

/// This text is the answer to every request.
pub(crate) fn text(setting: &ProsperoFaultSetting, text: &[u8]) -> ProsperoSite {
    honest(setting).answering(text)
}

/// This text is the answer when contents are asked for.
pub(crate) fn contents_text(setting: &ProsperoFaultSetting, text: &[u8]) -> ProsperoSite {
    contents(setting, ProsperoAct::Answer(text.to_vec()))
}

/// This text is the answer when attributes are asked for; no other question is answered.
pub(crate) fn info_text(setting: &ProsperoFaultSetting, text: &[u8]) -> ProsperoSite {
    honest(setting).on(ProsperoOn::Info, ProsperoAct::Answer(text.to_vec()))
}

/// This text is the answer when links are asked for.
pub(crate) fn links(setting: &ProsperoFaultSetting, text: &[u8]) -> ProsperoSite {
    list(setting, ProsperoAct::Answer(text.to_vec()))
}

/// These packets do not come.
pub(crate) fn lose(setting: &ProsperoFaultSetting, packets: ProsperoPackets) -> ProsperoSite {
    act(setting, ProsperoAct::Lose(packets))
}

/// This comes first, and then what is right.
pub(crate) fn first(setting: &ProsperoFaultSetting, packet: ProsperoPacket) -> ProsperoSite {
    act(setting, ProsperoAct::First(packet))
}

/// This comes, and nothing else, whatever is asked.
pub(crate) fn only(setting: &ProsperoFaultSetting, packet: ProsperoPacket) -> ProsperoSite {
    honest(setting).instead(vec![packet])
}

/// These packets are the answer, whatever is asked.
pub(crate) fn packets(setting: &ProsperoFaultSetting, packets: &[(u16, u16, &[u8])]) -> ProsperoSite {
    honest(setting).instead(
        packets.iter().map(|(number, total, data)| ProsperoPacket::data(*number, *total, data)).collect(),
    )
}

/// These octets are at this place of every packet. All headers have all fields that one needs.
pub(crate) fn patched(
    setting: &ProsperoFaultSetting,
    which: ProsperoPackets,
    at: usize,
    octets: &[u8],
) -> ProsperoSite {
    act(setting, ProsperoAct::Headers(9)).always(ProsperoAct::Patch(which, at, octets.to_vec()))
}

/// The same, when contents are asked for.
pub(crate) fn patched_contents(
    setting: &ProsperoFaultSetting,
    which: ProsperoPackets,
    at: usize,
    octets: &[u8],
) -> ProsperoSite {
    let patch = ProsperoAct::Patch(which, at, octets.to_vec());
    contents(setting, ProsperoAct::Headers(9)).on(ProsperoOn::Contents, patch)
}

/// Every answer names this server to be asked instead.
pub(crate) fn redirect(setting: &ProsperoFaultSetting, to: ProsperoHost) -> ProsperoSite {
    only(setting, ProsperoPacket::redirect(4, to))
}

/// An address that need not be there.
pub(crate) fn addr(octets: [u8; 4], port: u16) -> ProsperoHost {
    ProsperoHost::At(SocketAddrV4::new(Ipv4Addr::from(octets), port))
}

/// The file has moved there.
pub(crate) fn forwarded(setting: &ProsperoFaultSetting, host: ProsperoHost) -> ProsperoSite {
    honest(setting).object("/srv/moved", ProsperoObject::forwarded(host, "/srv/file"))
}

/// The file has moved so many times, from `/srv/c1` to `/srv/c2` and on.
pub(crate) fn chain(setting: &ProsperoFaultSetting, hops: usize) -> ProsperoSite {
    let target = |hop| if hop == hops { "/srv/file".to_owned() } else { format!("/srv/c{}", hop + 1) };
    (1..=hops).fold(honest(setting), |site, hop| {
        site.object(format!("/srv/c{hop}"), ProsperoObject::forwarded(ProsperoHost::Here, target(hop)))
    })
}

/// Two objects have moved to each other.
pub(crate) fn ring() -> ProsperoSite {
    let moved = |to: &str| ProsperoObject::forwarded(ProsperoHost::Here, to);
    holding("/srv/short", moved("/srv/other")).object("/srv/other", moved("/srv/short"))
}

/// The short text can be had only in this way.
pub(crate) fn method(tokens: &[&str]) -> ProsperoSite {
    object(ProsperoObject::elsewhere().access(tokens))
}

/// The short text, which can be had in this way, in one on the server's own file system, and over Prospero.
pub(crate) fn method_first(tokens: &[&str]) -> ProsperoSite {
    object(ProsperoObject::file(SHORT).access(tokens))
}

/// A directory of this link.
pub(crate) fn link(link: ProsperoLink) -> ProsperoSite {
    holding("/srv/dir", ProsperoObject::directory([link]))
}

/// A link with this name, written as it is.
pub(crate) fn named(name: &[u8]) -> ProsperoSite {
    link(ProsperoLink::file(name, "/srv/x"))
}

/// A directory with more links than one window has room for.
pub(crate) fn many() -> ProsperoSite {
    let link = |number| ProsperoLink::file(format!("number {number}"), format!("/srv/number {number}"));
    holding("/srv/dir", ProsperoObject::directory((0..3000).map(link)))
}
