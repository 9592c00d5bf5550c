//! How an errand is put: in other words after the first were not understood.

use fetch_url_proto::ftp::{Command, Fault, Iac, ListVerb, Task, Verb};

use super::line::{Line, Trouble};
use super::options::FtpWalk;
use super::plan::FtpPlan;
use crate::Code;

/// How often a server may name a port that belongs to somebody else: one that chooses among all of them
/// happens upon one now and then.
const MOST_REFUSED_PORTS: u8 = 2;

/// What is different from the first words.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wording {
    /// The whole path goes into the command, since a CWD was refused.
    pub(super) without_cwd: bool,
    pub(super) iac: Iac,
    /// One command at a time.
    pub(super) one_by_one: bool,
    /// The data connection by PASV, since the port that EPSV named is closed.
    pub(super) by_pasv: bool,
    refused_ports: u8,
    /// Listed by a plainer command than was wanted.
    pub(super) list_by: Option<ListVerb>,
}

impl Wording {
    /// The words to try next, and why; none when others would not help.
    pub(super) fn after(trouble: &Trouble, line: &Line, plan: &FtpPlan) -> Option<(Self, String)> {
        let this = plan.wording;
        match trouble {
            Trouble::Silent if line.tells_together() => Some(this.one_by_one(plan)),
            Trouble::Fault(Fault::OutOfStep { .. }) if line.has_told_together() => {
                Some(this.one_by_one(plan))
            }
            Trouble::NoData(error) => this.after_no_data(error, plan),
            Trouble::Fault(Fault::Refused { asked: Some(command), reply, .. }) => {
                this.after_refusal(command, reply.code, plan)
            }
            _ => None,
        }
    }

    fn one_by_one(self, plan: &FtpPlan) -> (Self, String) {
        plan.servers.asks_one_by_one(&plan.host, plan.port);
        let why = "the server lost its way among several commands: one at a time";
        (Self { one_by_one: true, ..self }, why.to_owned())
    }

    fn after_no_data(self, error: &crate::Error, plan: &FtpPlan) -> Option<(Self, String)> {
        match error.code() {
            Code::ConnectFailed if !self.by_pasv && !plan.options.no_epsv => {
                Some((Self { by_pasv: true, ..self }, format!("{error}: by PASV")))
            }
            Code::Policy if self.refused_ports < MOST_REFUSED_PORTS => {
                let refused_ports = self.refused_ports + 1;
                Some((Self { refused_ports, ..self }, format!("{error}: another port")))
            }
            _ => None,
        }
    }

    fn after_refusal(self, command: &Command, code: u16, plan: &FtpPlan) -> Option<(Self, String)> {
        if command.has_iac() && self.iac == Iac::Plain {
            return Some((Self { iac: Iac::Doubled, ..self }, "0xFF is doubled (RFC 854)".to_owned()));
        }
        match (command.verb(), &plan.errand.task) {
            (Verb::Cwd, _) if plan.options.walk == FtpWalk::Auto && !self.without_cwd => {
                let why = "CWD was refused: the whole path in one command (nocwd)";
                Some((Self { without_cwd: true, ..self }, why.to_owned()))
            }
            (Verb::Mlsd | Verb::List, Task::List { by, .. }) if matches!(code, 500..=504) => {
                let plainer = by.plainer()?;
                let why = format!("{} is not known here: {}", by.verb().word(), plainer.verb().word());
                Some((Self { list_by: Some(plainer), ..self }, why))
            }
            _ => None,
        }
    }
}
