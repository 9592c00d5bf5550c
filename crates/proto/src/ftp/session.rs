//! One control connection: what to say next, and what the replies mean. No socket, no clock.
//!
//! ```text
//! greeting ─▶ (TLS) ─▶ USER ─▶ (PASS) ─▶ (ACCT) ─▶ CWD … ─▶ TYPE, SIZE, MDTM ─▶ EPSV ─▶ Ready
//!                                                    ▲                                   │
//!                                                    └── Done ◀── 226 ◀── Receive ◀── RETR
//! ```
//!
//! Commands whose meaning does not depend on a reply still to come go out together; their replies
//! are matched in order.

mod judge;
mod login;
mod step;
mod way;

use std::collections::VecDeque;

use super::{Command, Errand, Facts, Form, Task, Verb};
use crate::text::Reply;

pub use login::Login;
pub use step::{DataRoad, Fault, Pace, Step};

/// What a reply will be the reply to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Asked {
    Greeting,
    Command(Command),
}

/// One control connection's side of the conversation.
#[derive(Debug)]
pub struct Session {
    pace: Pace,
    login: Login,
    /// Their replies are still to come, in this order.
    asked: VecDeque<Asked>,
    /// Not yet said.
    todo: VecDeque<Command>,
    /// What to do before anything else is said or heard.
    interrupt: Option<Step>,
    stage: Stage,
    /// The first refusal: the replies behind it are heard before it is told.
    refusal: Option<Fault>,
    way: way::Way,
    form: Option<Form>,
    facts: Facts,
    transfer: Option<Command>,
    data: Data,
    is_overlapping: bool,
}

/// How far the errand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// On the way there.
    Preparing,
    /// The transfer was asked for.
    Transferring,
    /// It has begun.
    Receiving,
    /// It is over, or was refused.
    Ended,
}

/// What is known of data connections.
#[derive(Debug, Default)]
struct Data {
    /// The server listens there.
    port: Option<u16>,
    /// It does not know EPSV.
    no_epsv: bool,
    /// The argument of PORT, when EPRT is refused.
    plain_port: Option<String>,
    /// It did not begin where REST said.
    rest_refused: bool,
}

impl Session {
    /// A session with a server that has not greeted yet. In TLS from the first octet or since AUTH,
    /// the data connection is to be protected too.
    pub fn new(pace: Pace, login: Login) -> Self {
        let mut this = Self {
            pace,
            login,
            asked: VecDeque::from([Asked::Greeting]),
            todo: VecDeque::new(),
            interrupt: None,
            stage: Stage::Preparing,
            refusal: None,
            way: way::Way::default(),
            form: None,
            facts: Facts::default(),
            transfer: None,
            data: Data::default(),
            is_overlapping: false,
        };
        this.todo.extend(this.login.commands());
        this
    }

    /// The directory that the login leads to is asked for, so that the session can go back to it
    /// (RFC 1738 §3.2.5).
    #[must_use]
    pub fn learning_home(mut self) -> Self {
        self.todo.push_back(Command::new(Verb::Pwd));
        self
    }

    /// Whether the directory of `errand` can be reached from where this session is, and by how many
    /// commands.
    pub fn steps_to(&self, errand: &Errand) -> Option<usize> {
        self.way.to(&errand.cwds).map(|way| way.len())
    }

    /// Whether this session is where `errand` leads, and in its form: then nothing that could be refused
    /// stands before its transfer.
    pub fn is_ready_for(&self, errand: &Errand) -> bool {
        let has_form = match &errand.task {
            Task::Facts { .. } | Task::Reach => false,
            Task::List { .. } => self.form.as_ref().is_none_or(|form| *form == Form::Ascii),
            Task::Retrieve { form, .. } => *form == Form::Image && self.form.as_ref() == Some(form),
        };
        has_form && self.steps_to(errand) == Some(0)
    }

    /// Takes on an errand; the data connection is made as `road` says.
    ///
    /// # Errors
    /// A forbidden octet, or the directory is out of reach: [`Self::steps_to`] tells.
    pub fn go(&mut self, errand: &Errand, road: &DataRoad) -> Result<(), Fault> {
        // From nowhere the same names would lead to another file.
        let way = self.way.to(&errand.cwds).ok_or(Fault::OutOfReach)?;
        (self.stage, self.facts) = (Stage::Preparing, Facts::default());
        self.transfer = errand.transfer()?;
        let data = if self.transfer.is_some() { self.data_command(road) } else { None };
        // Where the way is long, the data connection can be on its way while the other replies come.
        let (first, last) = if self.pace == Pace::Ahead { (data, None) } else { (None, data) };
        self.todo.extend(first);
        for cwd in way {
            self.todo.push_back(Command::with(Verb::Cwd, cwd)?);
        }
        match &errand.task {
            Task::Facts { name } => self.ask_facts(name)?,
            Task::List { .. } => {
                if self.form.as_ref().is_some_and(|form| *form != Form::Ascii) {
                    self.todo.push_back(Command::own(Verb::Type, Form::Ascii));
                }
            }
            Task::Reach => {}
            Task::Retrieve { name, form: Form::Image } => self.ask_facts(name)?,
            Task::Retrieve { form, .. } => self.todo.push_back(Command::own(Verb::Type, form)),
        }
        self.todo.extend(last);
        Ok(())
    }

    /// SIZE depends on TYPE (RFC 3659 §4).
    fn ask_facts(&mut self, name: &[u8]) -> Result<(), Fault> {
        if self.form != Some(Form::Image) {
            self.todo.push_back(Command::own(Verb::Type, Form::Image));
        }
        self.todo.push_back(Command::with(Verb::Size, name)?);
        self.todo.push_back(Command::with(Verb::Mdtm, name)?);
        Ok(())
    }

    /// Asks for the data connection; none when that was done ahead.
    fn data_command(&mut self, road: &DataRoad) -> Option<Command> {
        Some(match road {
            DataRoad::Begun => return None,
            DataRoad::Passive | DataRoad::PassiveV4 if self.data.port.is_some() || self.awaits_port() => {
                return None;
            }
            DataRoad::Passive if !self.data.no_epsv => Command::new(Verb::Epsv),
            DataRoad::Passive | DataRoad::PassiveV4 => Command::new(Verb::Pasv),
            DataRoad::Active { extended: Some(extended), plain } => {
                self.data.plain_port.clone_from(plain);
                Command::own(Verb::Eprt, extended)
            }
            DataRoad::Active { extended: None, plain } => {
                Command::own(Verb::Port, plain.as_deref().unwrap_or_default())
            }
        })
    }

    fn awaits_port(&self) -> bool {
        self.awaits(|verb| matches!(verb, Verb::Epsv | Verb::Pasv))
    }

    /// Whether the reply to such a command is still to come.
    fn awaits(&self, is_it: impl Fn(Verb) -> bool) -> bool {
        self.asked.iter().any(|asked| match asked {
            Asked::Greeting => false,
            Asked::Command(command) => is_it(command.verb()),
        })
    }

    /// How many commands may be under way.
    pub const fn pace(&self) -> Pace {
        self.pace
    }

    /// What is known of the file, once [`Step::Ready`] has come.
    pub const fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Whether the transfer of the errand is still to be asked for.
    pub fn is_preparing(&self) -> bool {
        self.stage == Stage::Preparing
    }

    /// Where the server listens; taken once. None when it is the server that connects.
    pub const fn take_port(&mut self) -> Option<u16> {
        self.data.port.take()
    }

    /// The transfer begins, `offset` octets into the file. When `ahead`, the server is told to listen for the
    /// next one in the same breath.
    pub fn transfer(&mut self, offset: u64, ahead: bool) {
        self.stage = Stage::Transferring;
        self.data.rest_refused = false;
        if offset > 0 {
            self.todo.push_back(Command::own(Verb::Rest, offset));
        }
        self.todo.extend(self.transfer.take());
        if ahead && self.pace != Pace::OneByOne {
            let verb = if self.data.no_epsv { Verb::Pasv } else { Verb::Epsv };
            self.todo.push_back(Command::new(verb));
        }
    }

    /// The server did not begin where it was told to.
    pub const fn began_at_start(&self) -> bool {
        self.data.rest_refused
    }

    /// What to do next. `heard` is the reply that [`Step::Hear`] asked for; nothing after every other
    /// step, and after [`Step::Receive`] once the data connection has come to its end.
    ///
    /// # Errors
    /// The session cannot go on with this errand; after [`Fault::Refused`] alone with another.
    pub fn next(&mut self, heard: Option<Reply>) -> Result<Step, Fault> {
        if let Some(reply) = heard {
            self.hear(reply)?;
            self.is_overlapping &= !self.asked.is_empty();
        }
        if let Some(step) = self.interrupt.take() {
            return Ok(step);
        }
        let sayable = self.sayable();
        if sayable > 0 {
            let commands: Vec<Command> = self.todo.drain(..sayable).collect();
            self.is_overlapping |= !self.asked.is_empty() || commands.len() > 1;
            self.asked.extend(commands.iter().cloned().map(Asked::Command));
            return Ok(Step::Say(commands));
        }
        if self.awaits_more() {
            return Ok(Step::Hear);
        }
        if let Some(refusal) = self.refusal.take() {
            return Err(refusal);
        }
        Ok(if self.stage == Stage::Preparing { Step::Ready } else { Step::Done })
    }

    /// Whether a reply must be heard before the errand can go on. What was asked for ahead is heard
    /// when it is needed.
    fn awaits_more(&self) -> bool {
        match self.stage {
            Stage::Ended => self.asked.len() > usize::from(self.awaits_port()),
            _ => !self.asked.is_empty(),
        }
    }

    /// Whether the reply that tells the next port is still to come.
    pub fn has_asked_ahead(&self) -> bool {
        self.stage == Stage::Ended && self.awaits_port()
    }

    /// Whether the login is done with.
    pub const fn is_logged_in(&self) -> bool {
        self.login.is_done()
    }

    /// The connection is gone: what the server said before that.
    pub fn lost(&mut self) -> Option<Fault> {
        self.refusal.take()
    }

    /// Whether commands went out before the replies to others had come, and some are still to come: a
    /// server that cannot take that is silent now. What waits for the greeting waits for no command, and
    /// whether a password is right, or where a file is, some servers take their time to say.
    pub fn is_overlapping(&self) -> bool {
        let is_patient = match self.asked.front() {
            Some(Asked::Command(command)) => {
                let verb = command.verb();
                verb.is_transfer() || matches!(verb, Verb::User | Verb::Pass | Verb::Acct)
            }
            _ => true,
        };
        self.is_overlapping && !is_patient
    }

    /// The password that [`Step::AskPassword`] asked for.
    ///
    /// # Errors
    /// It has an octet in it that would end the line.
    pub fn password(&mut self, password: &[u8]) -> Result<(), Fault> {
        self.todo.push_front(Command::with(Verb::Pass, password)?);
        Ok(())
    }

    /// How many of the commands to say can go out now.
    fn sayable(&self) -> usize {
        if self.pace == Pace::OneByOne {
            return usize::from(self.asked.is_empty() && !self.todo.is_empty());
        }
        if self.todo.is_empty() {
            return 0;
        }
        let closes = |command: &Command| self.login.closes(command.verb(), self.pace);
        let is_closed = self.asked.iter().any(|asked| match asked {
            Asked::Greeting => self.pace != Pace::Ahead,
            Asked::Command(command) => closes(command),
        });
        if is_closed {
            return 0;
        }
        self.todo.iter().position(closes).map_or(self.todo.len(), |last| last + 1)
    }
}
