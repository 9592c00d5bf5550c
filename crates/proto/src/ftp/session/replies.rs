//! The meaning of replies: for each command the codes that RFC 959 §5.4 and later RFCs allow.

use super::server_software::finishes_transfers_first;
use super::{Pending, Pipelining, RequestStage, Session, SessionError, SessionStep};
use crate::ftp::{Command, ModifiedTime, Verb, file_metadata, port};
use crate::text::Reply;

/// The code of a server that is about to close the connection, in reply to any command.
const CLOSING: u16 = 421;

impl Session {
    /// Handles the reply to the first pending command.
    pub(super) fn handle_reply(&mut self, reply: Reply) -> Result<(), SessionError> {
        if reply.code == CLOSING {
            return Err(self.rejection.take().unwrap_or(SessionError::Closing(reply)));
        }
        match self.pending.front() {
            None => Err(SessionError::UnexpectedReply { command: None, reply }),
            Some(Pending::Greeting) => {
                self.pending.pop_front();
                self.handle_greeting(reply)
            }
            Some(Pending::Command(command)) if command.verb().is_transfer() => {
                self.handle_transfer_reply(reply)
            }
            Some(Pending::Command(command)) => {
                let command = command.clone();
                self.pending.pop_front();
                if self.rejection.is_some() {
                    self.handle_reply_after_rejection(&command, reply.code);
                    return Ok(());
                }
                self.handle_command_reply(&command, reply)
            }
        }
    }

    /// Handles the reply to a command that was sent before another one was rejected. It is ignored, except that the
    /// directory of the session follows the CWDs: the next request starts there.
    fn handle_reply_after_rejection(&mut self, command: &Command, code: u16) {
        let argument = command.argument().unwrap_or_default();
        match (command.verb(), code) {
            (Verb::Cwd, 200..=299) => self.working_dir.record_accepted_cwd(argument),
            (Verb::Cwd, _) => {
                self.working_dir.record_rejected_cwd(argument);
            }
            _ => {}
        }
    }

    fn handle_greeting(&mut self, reply: Reply) -> Result<(), SessionError> {
        match reply.code {
            220 | 230 => {
                self.finishes_transfers_first = finishes_transfers_first(&reply);
                if reply.code == 230 {
                    self.skip_login();
                }
                Ok(())
            }
            // 120: service ready in nnn minutes.
            120 | 400..=599 => Err(rejected(None, reply)),
            _ => Err(SessionError::UnexpectedReply { command: None, reply }),
        }
    }

    fn handle_command_reply(&mut self, command: &Command, reply: Reply) -> Result<(), SessionError> {
        match (command.verb(), reply.code) {
            (Verb::User, 230 | 232) => self.skip_password(),
            (Verb::User, 331) => self.ask_password(),
            (Verb::User | Verb::Pass, 332) => return self.send_account(reply),
            // If the greeting or USER was enough to log in, the replies to commands sent ahead are ignored.
            (Verb::User | Verb::Pass, _) if self.login.is_complete() => {}
            (Verb::Pass | Verb::Acct, 230 | 202) => self.login.complete(),
            (Verb::Pbsz | Verb::Prot | Verb::Eprt | Verb::Port, 200) | (Verb::Rest, 350) => {}
            (Verb::Cwd, 250 | 200) => {
                self.working_dir.record_accepted_cwd(command.argument().unwrap_or_default())
            }
            (Verb::Type, 200) => self.transfer_type = type_argument(command),
            (Verb::Pwd, 257) => self.working_dir.learn_login_dir(&last_line(&reply)),
            (Verb::Size, 213) => {
                self.metadata.size = file_metadata::parse_size(&last_line(&reply));
                self.metadata.is_accepted = true;
            }
            (Verb::Mdtm, 213) => {
                self.metadata.modified = ModifiedTime::parse(&last_line(&reply));
                self.metadata.is_accepted = true;
            }
            (Verb::Epsv, 229) => {
                return self.take_data_port(port::parse_epsv_port(&last_line(&reply)), Verb::Epsv, reply);
            }
            (Verb::Pasv, 227) => {
                return self.take_data_port(port::parse_pasv_port(&last_line(&reply)), Verb::Pasv, reply);
            }
            // Some servers do not implement NOOP. 226 and 250 are replies to a transfer.
            (Verb::Noop, 200..=225 | 500..=504 | 530) => {}
            (Verb::Noop, _) => {
                return Err(SessionError::UnexpectedReply { command: Some(Verb::Noop), reply });
            }
            (verb, _) if !self.is_pipelined && self.accept_similar_code(command, verb, reply.code) => {}
            // The login directory is optional.
            (Verb::Pwd, 202 | 400..=599) => {}
            // Without pipelining, any positive reply belongs to this command.
            (Verb::Size | Verb::Mdtm, 200..=299) if self.pipelining == Pipelining::Off => {
                self.metadata.is_accepted |= reply.code != 202;
            }
            (Verb::Size | Verb::Mdtm, 202 | 400..=599) => {
                self.metadata.rejection.get_or_insert(reply);
            }
            (Verb::Rest, 400..=599) => {
                (self.data.rest_rejected, self.data.has_unused_offset) = (true, false);
            }
            (Verb::Epsv, 400..=599) => self.fall_back_to(Verb::Pasv, None),
            (Verb::Eprt, 500..=599) if self.data.plain_port.is_some() => {
                let argument = self.data.plain_port.take();
                self.fall_back_to(Verb::Port, argument);
            }
            (_, 400..=599) => self.reject(command, reply),
            _ => return Err(SessionError::UnexpectedReply { command: Some(command.verb()), reply }),
        }
        Ok(())
    }

    /// Handles a reply whose first digit is expected and whose other digits are not: the first digit says whether the
    /// command succeeded (RFC 959 §4.2). Returns `false` for other replies.
    ///
    /// Only for a reply that cannot belong to another command. With pipelining, an unexpected code is an error, and the
    /// request is repeated one command at a time.
    fn accept_similar_code(&mut self, command: &Command, verb: Verb, code: u16) -> bool {
        match (verb, code) {
            // 220 is excluded: it is a second greeting.
            (Verb::User, 200..=219 | 221..=299) => self.skip_password(),
            (Verb::User, 300..=399) => self.ask_password(),
            (Verb::Pass | Verb::Acct, 200..=299) => self.login.complete(),
            (Verb::Pbsz | Verb::Prot | Verb::Eprt | Verb::Port, 200..=299) | (Verb::Rest, 300..=399) => {}
            (Verb::Cwd, 200..=299) => {
                self.working_dir.record_accepted_cwd(command.argument().unwrap_or_default())
            }
            (Verb::Type, 200..=299) => self.transfer_type = type_argument(command),
            // A positive reply without a port.
            (Verb::Epsv, 200..=399) => self.fall_back_to(Verb::Pasv, None),
            _ => return false,
        }
        true
    }

    /// Handles the greeting 230 (the connection is logged in): a queued USER or PASS is not sent.
    fn skip_login(&mut self) {
        self.login.complete();
        self.queued.retain(|command| !matches!(command.verb(), Verb::User | Verb::Pass));
    }

    /// Handles 230 in reply to USER: no password is needed, so a queued one is not sent.
    fn skip_password(&mut self) {
        self.login.complete();
        self.queued.retain(|command| command.verb() != Verb::Pass);
    }

    /// Handles 331: asks the caller for a password if none was given.
    fn ask_password(&mut self) {
        if self.login.password().is_none() {
            self.urgent = Some(SessionStep::AskPassword);
        }
    }

    /// Handles 332: sends the account, if there is one.
    fn send_account(&mut self, reply: Reply) -> Result<(), SessionError> {
        // Commands that were sent together with PASS would have been executed without a login.
        let is_last = self.pending.iter().all(|pending| matches!(pending, Pending::Greeting));
        let Some(account) = self.login.take_account() else { return Err(SessionError::AccountNeeded(reply)) };
        if !is_last {
            return Err(SessionError::UnexpectedReply { command: Some(Verb::Pass), reply });
        }
        self.queued.retain(|command| command.verb() != Verb::Pass);
        self.queued.push_front(account);
        Ok(())
    }

    /// Handles the port of a reply to EPSV or PASV.
    fn take_data_port(&mut self, port: Option<u16>, verb: Verb, reply: Reply) -> Result<(), SessionError> {
        match (port, verb) {
            (Some(port), _) => self.data.port = Some(port),
            (None, Verb::Epsv) => self.fall_back_to(Verb::Pasv, None),
            (None, _) => return Err(SessionError::UnexpectedReply { command: Some(verb), reply }),
        }
        Ok(())
    }

    /// Queues an older command instead of one that the server does not implement.
    fn fall_back_to(&mut self, verb: Verb, argument: Option<String>) {
        self.data.no_epsv |= verb == Verb::Pasv;
        self.queued.push_front(match argument {
            Some(argument) => Command::with_safe_argument(verb, argument),
            None => Command::new(verb),
        });
    }

    /// Records the first rejection, which ends the request. Replies to the commands already sent still arrive.
    fn reject(&mut self, command: &Command, reply: Reply) {
        let is_cwd = command.verb() == Verb::Cwd;
        let is_return_to_login_dir =
            is_cwd && self.working_dir.record_rejected_cwd(command.argument().unwrap_or_default());
        if self.is_pending(|verb| verb == Verb::Type) {
            // A TYPE command is pending whose reply will be ignored, so the type is unknown.
            self.transfer_type = Some(super::TransferType::Other(String::new()));
        }
        self.queued.clear();
        self.rejection =
            Some(SessionError::Rejected { command: Some(command.clone()), is_return_to_login_dir, reply });
    }

    fn handle_transfer_reply(&mut self, reply: Reply) -> Result<(), SessionError> {
        let Some(Pending::Command(command)) = self.pending.front().cloned() else {
            return Err(SessionError::UnexpectedReply { command: None, reply });
        };
        let has_started = self.stage == RequestStage::Receiving;
        let is_listing = command.verb() != Verb::Retr;
        match (reply.code, has_started) {
            (125 | 150, false) => {
                self.data.has_unused_offset = false;
                // The session continues when the data connection has ended.
                (self.stage, self.urgent) = (RequestStage::Receiving, Some(SessionStep::ReceiveData));
                return Ok(());
            }
            (226 | 250, true) => {}
            // An empty directory, for which the server opened no data connection; or a late reply to an earlier
            // command, and the listing is still to come. In the latter case the next reply does not fit NOOP.
            (226 | 250, false) if is_listing => self.queued.push_front(Command::new(Verb::Noop)),
            (400..=599, false) => self.reject(&command, reply),
            (400..=599, true) => return Err(SessionError::TransferFailed(reply)),
            _ => return Err(SessionError::UnexpectedReply { command: Some(command.verb()), reply }),
        }
        self.stage = RequestStage::Ended;
        self.pending.pop_front();
        Ok(())
    }
}

fn rejected(command: Option<Command>, reply: Reply) -> SessionError {
    SessionError::Rejected { command, is_return_to_login_dir: false, reply }
}

/// Returns the text of the last line.
fn last_line(reply: &Reply) -> Vec<u8> {
    reply.lines.last().map(|line| line.to_vec()).unwrap_or_default()
}

/// Returns the representation type that a TYPE command sets.
fn type_argument(command: &Command) -> Option<super::TransferType> {
    let argument = String::from_utf8(command.argument()?.to_vec()).ok()?;
    Some(match argument.as_str() {
        "A" => super::TransferType::Ascii,
        "I" => super::TransferType::Image,
        _ => super::TransferType::Other(argument),
    })
}
