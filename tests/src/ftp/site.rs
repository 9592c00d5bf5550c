//! What an FTP server of the tests is told: its files, who may log in, its manners and its faults.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use crate::cert::ServerCert;
use crate::ftp::rule::{Act, Ending, On, Rule};
use crate::ftp::tree::{Content, Node, Tree};

/// A site. Without users anybody may log in with any password.
#[derive(Clone, Debug)]
pub struct FtpSite {
    pub(crate) tree: Tree,
    pub(crate) users: Vec<(Vec<u8>, Vec<u8>)>,
    pub(crate) account: Option<Vec<u8>>,
    pub(crate) home: Vec<u8>,
    pub(crate) refused: Vec<String>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) greeting: Vec<u8>,
    pub(crate) manners: Manners,
}

/// What a server does all the time.
#[derive(Clone, Debug)]
pub(crate) struct Manners {
    pub(crate) ip: IpAddr,
    pub(crate) data_ip: Option<IpAddr>,
    pub(crate) data_cert: Option<ServerCert>,
    pub(crate) delay: Duration,
    pub(crate) empty_cwd: EmptyCwd,
    pub(crate) final_waits: bool,
    pub(crate) one_at_a_time: bool,
    pub(crate) session_reuse: bool,
    pub(crate) splits: bool,
    pub(crate) telnet: bool,
    pub(crate) trusting: bool,
}

/// What `CWD ` with a null argument does (RFC 1738 §3.2.2 sends it; servers differ).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum EmptyCwd {
    /// 250, and the login directory is the current one: pure-ftpd.
    GoesHome,
    /// 501: proftpd.
    Refused,
    /// 550: vsftpd.
    Stays,
}

impl Default for FtpSite {
    fn default() -> Self {
        Self::new()
    }
}

/// What there is, and for whom.
impl FtpSite {
    /// Nothing but the directory `/`.
    #[must_use]
    pub fn new() -> Self {
        let manners = Manners {
            ip: Ipv4Addr::LOCALHOST.into(),
            data_ip: None,
            data_cert: None,
            delay: Duration::ZERO,
            empty_cwd: EmptyCwd::GoesHome,
            final_waits: false,
            one_at_a_time: false,
            session_reuse: false,
            splits: false,
            telnet: false,
            trusting: false,
        };
        Self {
            tree: Tree::new(),
            users: Vec::new(),
            account: None,
            home: b"/".to_vec(),
            refused: Vec::new(),
            rules: Vec::new(),
            greeting: b"220 fetch-url test server\r\n".to_vec(),
            manners,
        }
    }

    /// A file, and the directories above it. A path is octets, and absolute.
    #[must_use]
    pub fn file(mut self, path: impl AsRef<[u8]>, content: impl Into<Vec<u8>>) -> Self {
        let content = Content::Octets(Arc::from(content.into()));
        self.tree.add(path.as_ref(), Node::File(content));
        self
    }

    /// A file of the first `size` octets of [`pattern`](crate::pattern()), made as they are sent.
    #[must_use]
    pub fn pattern(mut self, path: impl AsRef<[u8]>, size: u64) -> Self {
        self.tree.add(path.as_ref(), Node::File(Content::Pattern(size)));
        self
    }

    /// A directory.
    #[must_use]
    pub fn dir(mut self, path: impl AsRef<[u8]>) -> Self {
        self.tree.add(path.as_ref(), Node::Directory);
        self
    }

    /// A directory whose listings have so many entries, `entry-0000000.txt` and so on; they cannot be fetched.
    #[must_use]
    pub fn crowd(mut self, path: impl AsRef<[u8]>, entries: u64) -> Self {
        self.tree.add(path.as_ref(), Node::Crowd(entries));
        self
    }

    /// When a name was last modified, as MDTM tells it: `19941201123456`.
    #[must_use]
    pub fn modified(mut self, path: impl AsRef<[u8]>, time: &str) -> Self {
        self.tree.set_modified(path.as_ref(), time);
        self
    }

    /// Somebody who may log in.
    #[must_use]
    pub fn user(mut self, name: impl AsRef<[u8]>, password: impl AsRef<[u8]>) -> Self {
        self.users.push((name.as_ref().to_vec(), password.as_ref().to_vec()));
        self
    }

    /// `anonymous` and `ftp` may log in with any password, as well as those of [`Self::user`].
    #[must_use]
    pub fn anonymous(mut self) -> Self {
        for name in ["anonymous", "ftp"] {
            self.users.push((name.into(), Vec::new()));
        }
        self
    }

    /// After the password the server asks for this account (332).
    #[must_use]
    pub fn account(mut self, account: impl AsRef<[u8]>) -> Self {
        self.account = Some(account.as_ref().to_vec());
        self
    }

    /// 230 to USER, without a password: pure-ftpd.
    #[must_use]
    pub fn without_passwords(mut self) -> Self {
        self.manners.trusting = true;
        self
    }

    /// The directory after the login, made if it is missing.
    #[must_use]
    pub fn login_directory(mut self, path: impl AsRef<[u8]>) -> Self {
        self.home = path.as_ref().to_vec();
        self.dir(path)
    }
}

/// How the server is.
impl FtpSite {
    /// The whole greeting, without its last CR LF.
    #[must_use]
    pub fn greeting(mut self, text: impl AsRef<[u8]>) -> Self {
        self.greeting = [text.as_ref(), b"\r\n"].concat();
        self
    }

    /// Does not know a command: 500, and FEAT is silent about it.
    #[must_use]
    pub fn no(mut self, verb: &str) -> Self {
        self.refused.push(verb.to_ascii_uppercase());
        self
    }

    /// Waits so long before each reply.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.manners.delay = delay;
        self
    }

    /// Loses what has come already when it begins with a command: it must be asked one thing at a time.
    #[must_use]
    pub fn one_at_a_time(mut self) -> Self {
        self.manners.one_at_a_time = true;
        self
    }

    /// Sends its replies octet by octet.
    #[must_use]
    pub fn split_replies(mut self) -> Self {
        self.manners.splits = true;
        self
    }

    /// Says the final reply of a transfer only when the client has closed the data connection: proftpd.
    #[must_use]
    pub fn final_after_client_closes(mut self) -> Self {
        self.manners.final_waits = true;
        self
    }

    /// Takes two 0xFF octets of a command for one, as Telnet has it (RFC 959 §2.3): BSD.
    #[must_use]
    pub fn telnet(mut self) -> Self {
        self.manners.telnet = true;
        self
    }

    /// What `CWD ` does.
    #[must_use]
    pub fn empty_cwd(mut self, how: EmptyCwd) -> Self {
        self.manners.empty_cwd = how;
        self
    }

    /// Listens on ::1.
    #[must_use]
    pub fn ipv6(mut self) -> Self {
        self.manners.ip = Ipv6Addr::LOCALHOST.into();
        self
    }

    /// Listens for data connections on another address than for control connections, and names it in 227.
    #[must_use]
    pub fn data_listener_on(mut self, ip: impl Into<IpAddr>) -> Self {
        self.manners.data_ip = Some(ip.into());
        self
    }

    /// Shows another certificate on data connections.
    #[must_use]
    pub fn data_cert(mut self, cert: &ServerCert) -> Self {
        self.manners.data_cert = Some(cert.clone());
        self
    }

    /// A data connection whose TLS session is new gets an empty, clean end and 522, then the control
    /// connection is closed: vsftpd.
    #[must_use]
    pub fn requires_session_reuse(mut self) -> Self {
        self.manners.session_reuse = true;
        self
    }
}

/// Faults. All of them are rules; those with a name here are frequent.
impl FtpSite {
    /// One more rule.
    #[must_use]
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// What happens on these commands, see [`On::Line`].
    #[must_use]
    pub fn on(self, on: impl Into<On>, act: Act) -> Self {
        self.rule(Rule::on(on, act))
    }

    /// The exact octets of the reply to these commands, which are not carried out.
    #[must_use]
    pub fn answer(self, on: impl Into<On>, reply: impl Into<Vec<u8>>) -> Self {
        self.on(on, Act::Answer(reply.into()))
    }

    /// The exact octets of the reply to these commands, which are carried out; see [`Act::Reword`].
    #[must_use]
    pub fn reword(self, on: impl Into<On>, reply: impl Into<Vec<u8>>) -> Self {
        self.on(on, Act::Reword(reply.into()))
    }

    /// Silence instead of the reply.
    #[must_use]
    pub fn stall_at(self, on: impl Into<On>, length: Duration) -> Self {
        self.on(on, Act::End(Ending::Stall(length)))
    }

    /// The end of the control connection instead of the reply.
    #[must_use]
    pub fn close_at(self, on: impl Into<On>) -> Self {
        self.on(on, Act::End(Ending::Close))
    }

    /// The data connection of RETR is reset after so many octets.
    #[must_use]
    pub fn reset_data_after(self, octets: u64) -> Self {
        self.on("RETR", Act::CutData(octets, Ending::Reset))
    }

    /// The data connection of RETR is closed after so many octets.
    #[must_use]
    pub fn close_data_after(self, octets: u64) -> Self {
        self.on("RETR", Act::CutData(octets, Ending::Close))
    }

    /// The final reply of RETR.
    #[must_use]
    pub fn final_reply(self, reply: impl Into<Vec<u8>>) -> Self {
        self.reword("RETR", reply)
    }

    /// RETR has no final reply; the server waits for the next command.
    #[must_use]
    pub fn no_final_reply(self) -> Self {
        self.reword("RETR", "")
    }

    /// The final reply of RETR comes before the data.
    #[must_use]
    pub fn final_before_data(self) -> Self {
        self.on("RETR", Act::FinalFirst)
    }

    /// The control connection is reset in the place of the final reply of RETR.
    #[must_use]
    pub fn control_reset_before_final(self) -> Self {
        self.on("RETR", Act::EndAtFinal(Ending::Reset))
    }

    /// 227 names this host, while the server listens on its own.
    #[must_use]
    pub fn pasv_address(self, host: [u8; 4]) -> Self {
        let [a, b, c, d] = host;
        self.reword("PASV", format!("227 Entering Passive Mode ({a},{b},{c},{d},{{high}},{{low}})\r\n"))
    }

    /// 227 without parentheses, which RFC 959 does not ask for.
    #[must_use]
    pub fn pasv_without_parentheses(self) -> Self {
        self.reword("PASV", "227 Entering Passive Mode. {host},{high},{low}\r\n")
    }

    /// These octets right behind the reply to AUTH, in clear and in the same segment.
    #[must_use]
    pub fn inject_after_auth(self, octets: impl Into<Vec<u8>>) -> Self {
        self.on("AUTH", Act::After(octets.into()))
    }
}
