//! What a reply means: for each command the codes that RFC 959 §5.4 and its successors allow.

use super::{Asked, Fault, Pace, Session, Stage, Step};
use crate::ftp::{Command, Modified, Verb, facts, port};
use crate::text::Reply;

/// A server that closes the connection says so by this code, whatever it was asked.
const CLOSING: u16 = 421;

impl Session {
    /// Takes the reply to what was asked first.
    pub(super) fn hear(&mut self, reply: Reply) -> Result<(), Fault> {
        if reply.code == CLOSING {
            return Err(self.refusal.take().unwrap_or(Fault::Closing(reply)));
        }
        match self.asked.front() {
            None => Err(Fault::OutOfStep { asked: None, reply }),
            Some(Asked::Greeting) => {
                self.asked.pop_front();
                self.greeted(reply)
            }
            Some(Asked::Command(command)) if command.verb().is_transfer() => self.hear_transfer(reply),
            Some(Asked::Command(command)) => {
                let command = command.clone();
                self.asked.pop_front();
                // Behind a refusal the others are only counted.
                if self.refusal.is_some() { Ok(()) } else { self.judge(&command, reply) }
            }
        }
    }

    fn greeted(&mut self, reply: Reply) -> Result<(), Fault> {
        match reply.code {
            220 => Ok(()),
            // 120: ready in so many minutes.
            120 | 400..=599 => Err(refused(None, reply)),
            _ => Err(Fault::OutOfStep { asked: None, reply }),
        }
    }

    fn judge(&mut self, command: &Command, reply: Reply) -> Result<(), Fault> {
        match (command.verb(), reply.code) {
            (Verb::User, 230 | 232) => self.logged_in_at_once(),
            (Verb::User, 331) => self.password_wanted(),
            (Verb::User | Verb::Pass, 332) => return self.account_wanted(reply),
            // Once USER was enough, nothing that is said of the password counts.
            (Verb::Pass, _) if self.login.is_done() => {}
            (Verb::Pass | Verb::Acct, 230 | 202) => self.login.done(),
            (Verb::Pbsz | Verb::Prot | Verb::Eprt | Verb::Port, 200) | (Verb::Rest, 350) => {}
            (Verb::Cwd, 250 | 200) => self.way.take(command.argument().unwrap_or_default()),
            (Verb::Type, 200) => self.form = form(command),
            (Verb::Pwd, 257) => self.way.learn(&text(&reply)),
            (Verb::Size, 213) => self.facts.size = facts::size(&text(&reply)),
            (Verb::Mdtm, 213) => self.facts.modified = Modified::read(&text(&reply)),
            (Verb::Epsv, 229) => return self.port_named(port::of_epsv(&text(&reply)), Verb::Epsv, reply),
            (Verb::Pasv, 227) => return self.port_named(port::of_pasv(&text(&reply)), Verb::Pasv, reply),
            // What is not known does no harm.
            (Verb::Pwd, 202 | 400..=599) => {}
            // Asked alone, any answer is one to this.
            (Verb::Size | Verb::Mdtm, 200..=299) if self.pace == Pace::OneByOne => {}
            (Verb::Size | Verb::Mdtm, 202 | 400..=599) => {
                self.facts.refusal.get_or_insert(reply);
            }
            (Verb::Rest, 400..=599) => self.data.rest_refused = true,
            (Verb::Epsv, 500..=599) => self.ask_instead(Verb::Pasv, None),
            (Verb::Eprt, 500..=599) if self.data.plain_port.is_some() => {
                let argument = self.data.plain_port.take();
                self.ask_instead(Verb::Port, argument);
            }
            (_, 400..=599) => self.refuse(command, reply),
            _ => return Err(Fault::OutOfStep { asked: Some(command.verb()), reply }),
        }
        Ok(())
    }

    /// 230 to USER: no password is needed, and none is sent that has not gone out.
    fn logged_in_at_once(&mut self) {
        self.login.done();
        self.todo.retain(|command| command.verb() != Verb::Pass);
    }

    fn password_wanted(&mut self) {
        if self.login.password().is_none() {
            self.interrupt = Some(Step::AskPassword);
        }
    }

    fn account_wanted(&mut self, reply: Reply) -> Result<(), Fault> {
        // What went out behind it was said by somebody not logged in.
        let is_alone = self.asked.iter().all(|asked| matches!(asked, Asked::Greeting));
        let Some(account) = self.login.take_account() else { return Err(Fault::AccountNeeded(reply)) };
        if !is_alone {
            return Err(Fault::OutOfStep { asked: Some(Verb::Pass), reply });
        }
        self.todo.retain(|command| command.verb() != Verb::Pass);
        self.todo.push_front(account);
        Ok(())
    }

    fn port_named(&mut self, port: Option<u16>, verb: Verb, reply: Reply) -> Result<(), Fault> {
        match (port, verb) {
            (Some(port), _) => self.data.port = Some(port),
            (None, Verb::Epsv) => self.ask_instead(Verb::Pasv, None),
            (None, _) => return Err(Fault::OutOfStep { asked: Some(verb), reply }),
        }
        Ok(())
    }

    /// Asks by an older command what the server does not know by a newer.
    fn ask_instead(&mut self, verb: Verb, argument: Option<String>) {
        self.data.no_epsv |= verb == Verb::Pasv;
        self.todo.push_front(match argument {
            Some(argument) => Command::own(verb, argument),
            None => Command::new(verb),
        });
    }

    /// The first refusal ends the errand; what was said behind it is still answered.
    fn refuse(&mut self, command: &Command, reply: Reply) {
        let is_cwd = command.verb() == Verb::Cwd;
        let is_way_home = is_cwd && self.way.lose(command.argument().unwrap_or_default());
        if self.awaits(|verb| verb == Verb::Type) {
            // Whether the TYPE behind it is taken, nobody listens to.
            self.form = Some(super::Form::Other(String::new()));
        }
        self.todo.clear();
        self.refusal = Some(Fault::Refused { asked: Some(command.clone()), is_way_home, reply });
    }

    fn hear_transfer(&mut self, reply: Reply) -> Result<(), Fault> {
        let Some(Asked::Command(command)) = self.asked.front().cloned() else {
            return Err(Fault::OutOfStep { asked: None, reply });
        };
        let has_begun = self.stage == Stage::Receiving;
        let is_listing = command.verb() != Verb::Retr;
        match (reply.code, has_begun) {
            (125 | 150, false) => {
                // From here on only its end counts.
                (self.stage, self.interrupt) = (Stage::Receiving, Some(Step::Receive));
                return Ok(());
            }
            (226 | 250, true) => {}
            // An empty directory, and no data connection for it.
            (226 | 250, false) if is_listing => {}
            (400..=599, false) => self.refuse(&command, reply),
            (400..=599, true) => return Err(Fault::Broken(reply)),
            _ => return Err(Fault::OutOfStep { asked: Some(command.verb()), reply }),
        }
        self.stage = Stage::Ended;
        self.asked.pop_front();
        Ok(())
    }
}

fn refused(asked: Option<Command>, reply: Reply) -> Fault {
    Fault::Refused { asked, is_way_home: false, reply }
}

/// The text behind the code of its last line.
fn text(reply: &Reply) -> Vec<u8> {
    reply.lines.last().map(|line| line.to_vec()).unwrap_or_default()
}

fn form(command: &Command) -> Option<super::Form> {
    let words = String::from_utf8(command.argument()?.to_vec()).ok()?;
    Some(match words.as_str() {
        "A" => super::Form::Ascii,
        "I" => super::Form::Image,
        _ => super::Form::Other(words),
    })
}
