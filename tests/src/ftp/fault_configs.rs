//! The server configurations that the rows of `fault_list.rs` use.

use std::time::Duration;

use crate::fault::row::FaultFixture;
use crate::ftp::config::FtpConfig;
use crate::ftp::rule::{FtpAction, FtpTrigger};
use crate::server::plain_or_tls_connection::Ending;

/// The repetitions of an endless reply: too many for any client to read, too few to fill a disk.
const ENDLESS: u64 = 1 << 20;

/// A correct server with the content.
pub(crate) fn correct(fixture: &FaultFixture) -> FtpConfig {
    FtpConfig::new().file("/pub/a.bin", fixture.content.clone())
}

/// Stalls instead of replying.
pub(crate) fn stall(fixture: &FaultFixture, on: impl Into<FtpTrigger>) -> FtpConfig {
    correct(fixture).stall_at(on, fixture.stall)
}

/// Stalls after this many bytes of data.
pub(crate) fn stall_data(fixture: &FaultFixture, bytes: usize) -> FtpConfig {
    correct(fixture).on("RETR", FtpAction::CutData(bytes as u64, Ending::Stall(fixture.stall)))
}

/// Sends this reply instead of executing the command.
pub(crate) fn answer(fixture: &FaultFixture, on: impl Into<FtpTrigger>, reply: &str) -> FtpConfig {
    correct(fixture).answer(on, reply)
}

/// Sends this reply and closes the control connection.
pub(crate) fn answer_and_close(
    fixture: &FaultFixture,
    on: impl Into<FtpTrigger> + Clone,
    reply: &str,
) -> FtpConfig {
    answer(fixture, on.clone(), reply).close_at(on)
}

/// Reports this size.
pub(crate) fn size(fixture: &FaultFixture, bytes: usize) -> FtpConfig {
    answer(fixture, "SIZE", &format!("213 {bytes}\r\n"))
}

/// Sends this greeting.
pub(crate) fn greeting(fixture: &FaultFixture, text: &str) -> FtpConfig {
    correct(fixture).greeting(text)
}

/// Executes the command, but sends this reply.
pub(crate) fn replace_reply(fixture: &FaultFixture, on: impl Into<FtpTrigger>, reply: &str) -> FtpConfig {
    correct(fixture).replace_reply(on, reply)
}

/// Sends this reply before the correct one.
pub(crate) fn before(fixture: &FaultFixture, on: impl Into<FtpTrigger>, reply: &str) -> FtpConfig {
    correct(fixture).on(on, FtpAction::Before(reply.into()))
}

/// Sends this reply after the correct one.
pub(crate) fn after(fixture: &FaultFixture, on: impl Into<FtpTrigger>, reply: &str) -> FtpConfig {
    correct(fixture).on(on, FtpAction::After(reply.into()))
}

/// Sends `start`, then `again` endlessly.
pub(crate) fn endless(
    fixture: &FaultFixture,
    on: impl Into<FtpTrigger> + Clone,
    start: &str,
    again: &str,
) -> FtpConfig {
    let config = before(fixture, on.clone(), start);
    config.on(on, FtpAction::Flood(again.into(), ENDLESS))
}

/// Ends the control connection instead of replying.
pub(crate) fn end_at(fixture: &FaultFixture, on: impl Into<FtpTrigger>, ending: Ending) -> FtpConfig {
    correct(fixture).on(on, FtpAction::End(ending))
}

/// Resets the data connection after this many bytes and replies 426.
pub(crate) fn reset(fixture: &FaultFixture, bytes: usize) -> FtpConfig {
    correct(fixture).reset_data_after(bytes as u64)
}

/// Closes the data connection after this many bytes and replies 426.
pub(crate) fn short(fixture: &FaultFixture, bytes: usize) -> FtpConfig {
    correct(fixture).close_data_after(bytes as u64)
}

/// Replies 226 to every transfer, even if it failed.
pub(crate) fn with_226(config: FtpConfig) -> FtpConfig {
    config.final_reply("226 Transfer complete.\r\n")
}

/// Sends all the data and this final reply.
pub(crate) fn final_reply(fixture: &FaultFixture, reply: &str) -> FtpConfig {
    correct(fixture).final_reply(reply)
}

/// Sends all the data and ends the control connection.
pub(crate) fn end_before_final_reply(fixture: &FaultFixture, ending: Ending) -> FtpConfig {
    correct(fixture).on("RETR", FtpAction::EndBeforeFinalReply(ending))
}

/// Sends this reply instead of 150.
pub(crate) fn preliminary(fixture: &FaultFixture, reply: &str) -> FtpConfig {
    correct(fixture).on("RETR", FtpAction::PreliminaryReply(reply.into()))
}

/// Sends this reply to EPSV. PASV works.
pub(crate) fn epsv(fixture: &FaultFixture, reply: &str) -> FtpConfig {
    replace_reply(fixture, "EPSV", reply)
}

/// Does not know EPSV and sends this reply to PASV.
pub(crate) fn pasv(fixture: &FaultFixture, reply: &str) -> FtpConfig {
    replace_reply(fixture, "PASV", reply).without("EPSV")
}

/// Names closed ports in the replies to these commands.
pub(crate) fn closed_ports(fixture: &FaultFixture, verbs: &[&str]) -> FtpConfig {
    verbs.iter().fold(correct(fixture), |config, verb| config.on(*verb, FtpAction::ClosedPort))
}

/// Sends the content in pieces of 100 bytes.
pub(crate) fn drip(fixture: &FaultFixture) -> FtpConfig {
    correct(fixture).on("RETR", FtpAction::Drip(100, Duration::from_millis(2)))
}

/// Sends no data and this final reply.
pub(crate) fn no_data_and(fixture: &FaultFixture, reply: &str) -> FtpConfig {
    final_reply(fixture, reply).on("RETR", FtpAction::Data(Vec::new()))
}

/// Under TLS: ends the data connection after this many bytes without close_notify, and replies 226.
pub(crate) fn without_close_notify(fixture: &FaultFixture, bytes: usize) -> FtpConfig {
    with_226(correct(fixture).on("RETR", FtpAction::CutData(bytes as u64, Ending::Fin)))
}

/// Sends a listing that is one line of 1 MiB.
pub(crate) fn listing_of_one_line(fixture: &FaultFixture) -> FtpConfig {
    let line = vec![b'x'; 1 << 20];
    ["NLST", "LIST", "MLSD"]
        .iter()
        .fold(correct(fixture), |config, verb| config.on(*verb, FtpAction::Data(line.clone())))
}
