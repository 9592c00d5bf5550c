//! The sites that `fault_list.rs` is made of.

use std::time::Duration;

use crate::ftp::faults::FtpFaultSetting;
use crate::ftp::rule::{Act, Ending, On};
use crate::ftp::site::FtpSite;

/// So often that no client may wait for the end, and so little that it does not fill a disk.
const ENDLESS: u64 = 1 << 20;

/// The content under its name, and no fault.
pub(crate) fn honest(setting: &FtpFaultSetting) -> FtpSite {
    FtpSite::new().file("/pub/a.bin", setting.content.clone())
}

/// Silence in the place of a reply.
pub(crate) fn silent(setting: &FtpFaultSetting, on: impl Into<On>) -> FtpSite {
    honest(setting).stall_at(on, setting.stall)
}

/// The data stop after so many octets; nothing more is said.
pub(crate) fn silent_data(setting: &FtpFaultSetting, octets: usize) -> FtpSite {
    honest(setting).on("RETR", Act::CutData(octets as u64, Ending::Stall(setting.stall)))
}

/// Another reply to a command, which is not carried out.
pub(crate) fn answer(setting: &FtpFaultSetting, on: impl Into<On>, reply: &str) -> FtpSite {
    honest(setting).answer(on, reply)
}

/// Another reply, and the end of the control connection.
pub(crate) fn answer_and_close(setting: &FtpFaultSetting, on: impl Into<On> + Clone, reply: &str) -> FtpSite {
    answer(setting, on.clone(), reply).close_at(on)
}

/// Another size than the true one.
pub(crate) fn size(setting: &FtpFaultSetting, octets: usize) -> FtpSite {
    answer(setting, "SIZE", &format!("213 {octets}\r\n"))
}

/// A greeting instead of the honest one.
pub(crate) fn greeting(setting: &FtpFaultSetting, text: &str) -> FtpSite {
    honest(setting).greeting(text)
}

/// Another reply to a command, which is carried out.
pub(crate) fn reword(setting: &FtpFaultSetting, on: impl Into<On>, reply: &str) -> FtpSite {
    honest(setting).reword(on, reply)
}

/// A reply before the honest one.
pub(crate) fn before(setting: &FtpFaultSetting, on: impl Into<On>, reply: &str) -> FtpSite {
    honest(setting).on(on, Act::Before(reply.into()))
}

/// A reply after the honest one.
pub(crate) fn after(setting: &FtpFaultSetting, on: impl Into<On>, reply: &str) -> FtpSite {
    honest(setting).on(on, Act::After(reply.into()))
}

/// A start and then the same again and again, in the place of a reply.
pub(crate) fn endless(
    setting: &FtpFaultSetting,
    on: impl Into<On> + Clone,
    start: &str,
    again: &str,
) -> FtpSite {
    let site = before(setting, on.clone(), start);
    site.on(on, Act::Flood(again.into(), ENDLESS))
}

/// The end of the control connection in the place of a reply.
pub(crate) fn ended(setting: &FtpFaultSetting, on: impl Into<On>, how: Ending) -> FtpSite {
    honest(setting).on(on, Act::End(how))
}

/// The data connection is reset after so many octets; 426.
pub(crate) fn reset(setting: &FtpFaultSetting, octets: usize) -> FtpSite {
    honest(setting).reset_data_after(octets as u64)
}

/// The data connection is closed after so many octets; 426.
pub(crate) fn short(setting: &FtpFaultSetting, octets: usize) -> FtpSite {
    honest(setting).close_data_after(octets as u64)
}

/// The server says 226 whatever happened.
pub(crate) fn lying(site: FtpSite) -> FtpSite {
    site.final_reply("226 Transfer complete.\r\n")
}

/// All the data, and then this.
pub(crate) fn finally(setting: &FtpFaultSetting, reply: &str) -> FtpSite {
    honest(setting).final_reply(reply)
}

/// All the data, and then the end of the control connection.
pub(crate) fn finally_ended(setting: &FtpFaultSetting, how: Ending) -> FtpSite {
    honest(setting).on("RETR", Act::EndAtFinal(how))
}

/// Another reply in the place of 150.
pub(crate) fn mark(setting: &FtpFaultSetting, reply: &str) -> FtpSite {
    honest(setting).on("RETR", Act::Mark(reply.into()))
}

/// This reply to EPSV; PASV works.
pub(crate) fn epsv(setting: &FtpFaultSetting, reply: &str) -> FtpSite {
    reword(setting, "EPSV", reply)
}

/// EPSV is not known, and this is the reply to PASV.
pub(crate) fn pasv(setting: &FtpFaultSetting, reply: &str) -> FtpSite {
    reword(setting, "PASV", reply).no("EPSV")
}

/// The ports that these commands name are refused.
pub(crate) fn dead_ports(setting: &FtpFaultSetting, verbs: &[&str]) -> FtpSite {
    verbs.iter().fold(honest(setting), |site, verb| site.on(*verb, Act::DeadPort))
}

/// The content, a hundred octets at a time.
pub(crate) fn dripped(setting: &FtpFaultSetting) -> FtpSite {
    honest(setting).on("RETR", Act::Drip(100, Duration::from_millis(2)))
}

/// No data at all, and this final reply.
pub(crate) fn nothing_and(setting: &FtpFaultSetting, reply: &str) -> FtpSite {
    finally(setting, reply).on("RETR", Act::Data(Vec::new()))
}

/// Under TLS: so many octets, an end of the data connection without close_notify, and 226.
pub(crate) fn unconfirmed(setting: &FtpFaultSetting, octets: usize) -> FtpSite {
    lying(honest(setting).on("RETR", Act::CutData(octets as u64, Ending::Fin)))
}

/// A listing that is one line of a megabyte.
pub(crate) fn endless_name(setting: &FtpFaultSetting) -> FtpSite {
    let line = vec![b'x'; 1 << 20];
    ["NLST", "LIST", "MLSD"]
        .iter()
        .fold(honest(setting), |site, verb| site.on(*verb, Act::Data(line.clone())))
}
