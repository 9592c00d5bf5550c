//! The configuration of an FTP server: its files, its accounts, its behaviour and its faults.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use crate::cert::ServerCert;
use crate::ftp::rule::{FtpAction, FtpRule, FtpTrigger};
use crate::ftp::tree::{Content, Node, Tree};
use crate::server::plain_or_tls_connection::Ending;

/// The configuration of an FTP server: its files and its behaviour. Without accounts, every user and password is
/// accepted.
#[derive(Clone, Debug)]
pub struct FtpConfig {
    pub(crate) tree: Tree,
    pub(crate) users: Vec<(Vec<u8>, Vec<u8>)>,
    pub(crate) account: Option<Vec<u8>>,
    pub(crate) login_directory: Vec<u8>,
    pub(crate) unknown_commands: Vec<String>,
    pub(crate) rules: Vec<FtpRule>,
    pub(crate) greeting: Vec<u8>,
    pub(crate) behaviour: Behaviour,
}

/// How a server behaves on every connection.
#[derive(Clone, Debug)]
pub(crate) struct Behaviour {
    pub(crate) ip: IpAddr,
    pub(crate) data_ip: Option<IpAddr>,
    pub(crate) data_cert: Option<ServerCert>,
    pub(crate) delay: Duration,
    pub(crate) empty_cwd: EmptyCwd,
    pub(crate) final_reply_waits: bool,
    pub(crate) drops_pipelined: bool,
    pub(crate) requires_session_reuse: bool,
    pub(crate) splits_replies: bool,
    pub(crate) unescapes_telnet: bool,
    pub(crate) needs_no_password: bool,
}

/// The effect of `CWD ` with an empty argument. RFC 1738 §3.2.2 requires clients to send it, and servers handle it
/// differently.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum EmptyCwd {
    /// Replies 250 and changes to the login directory: pure-ftpd.
    ToLoginDirectory,
    /// Replies 501: proftpd.
    Rejected501,
    /// Replies 550: vsftpd.
    Rejected550,
}

impl Default for FtpConfig {
    fn default() -> Self {
        Self::new()
    }
}

/// Files and accounts.
impl FtpConfig {
    /// A server with the empty directory `/`.
    #[must_use]
    pub fn new() -> Self {
        let behaviour = Behaviour {
            ip: Ipv4Addr::LOCALHOST.into(),
            data_ip: None,
            data_cert: None,
            delay: Duration::ZERO,
            empty_cwd: EmptyCwd::ToLoginDirectory,
            final_reply_waits: false,
            drops_pipelined: false,
            requires_session_reuse: false,
            splits_replies: false,
            unescapes_telnet: false,
            needs_no_password: false,
        };
        Self {
            tree: Tree::new(),
            users: Vec::new(),
            account: None,
            login_directory: b"/".to_vec(),
            unknown_commands: Vec::new(),
            rules: Vec::new(),
            greeting: b"220 fetch-url test server, executes commands in order like vsFTPd\r\n".to_vec(),
            behaviour,
        }
    }

    /// Adds a file and the directories above it. The path is bytes, and absolute.
    #[must_use]
    pub fn file(mut self, path: impl AsRef<[u8]>, content: impl Into<Vec<u8>>) -> Self {
        let content = Content::Bytes(Arc::from(content.into()));
        self.tree.add(path.as_ref(), Node::File(content));
        self
    }

    /// Adds a file with the first `size` bytes of [`pattern`](crate::pattern()), generated while they are
    /// sent.
    #[must_use]
    pub fn pattern(mut self, path: impl AsRef<[u8]>, size: u64) -> Self {
        self.tree.add(path.as_ref(), Node::File(Content::Pattern(size)));
        self
    }

    /// Adds a directory.
    #[must_use]
    pub fn dir(mut self, path: impl AsRef<[u8]>) -> Self {
        self.tree.add(path.as_ref(), Node::Directory);
        self
    }

    /// Adds a directory that lists `entries` files, `entry-0000000.txt` and so on. The files cannot be
    /// retrieved.
    #[must_use]
    pub fn generated_dir(mut self, path: impl AsRef<[u8]>, entries: u64) -> Self {
        self.tree.add(path.as_ref(), Node::Generated(entries));
        self
    }

    /// Sets the modification time of a path, as MDTM returns it: `19941201123456`.
    #[must_use]
    pub fn modified(mut self, path: impl AsRef<[u8]>, time: &str) -> Self {
        self.tree.set_modified(path.as_ref(), time);
        self
    }

    /// Adds a user.
    #[must_use]
    pub fn user(mut self, name: impl AsRef<[u8]>, password: impl AsRef<[u8]>) -> Self {
        self.users.push((name.as_ref().to_vec(), password.as_ref().to_vec()));
        self
    }

    /// Accepts `anonymous` and `ftp` with any password, besides the users of [`Self::user`].
    #[must_use]
    pub fn anonymous(mut self) -> Self {
        for name in ["anonymous", "ftp"] {
            self.users.push((name.into(), Vec::new()));
        }
        self
    }

    /// Requires this account after the password (332).
    #[must_use]
    pub fn account(mut self, account: impl AsRef<[u8]>) -> Self {
        self.account = Some(account.as_ref().to_vec());
        self
    }

    /// Replies 230 to USER and needs no password: pure-ftpd.
    #[must_use]
    pub fn without_passwords(mut self) -> Self {
        self.behaviour.needs_no_password = true;
        self
    }

    /// Sets the working directory after login, and creates it if it is missing.
    #[must_use]
    pub fn login_directory(mut self, path: impl AsRef<[u8]>) -> Self {
        self.login_directory = path.as_ref().to_vec();
        self.dir(path)
    }
}

/// Behaviour.
impl FtpConfig {
    /// Sets the whole greeting, without its last CR LF.
    #[must_use]
    pub fn greeting(mut self, text: impl AsRef<[u8]>) -> Self {
        self.greeting = [text.as_ref(), b"\r\n"].concat();
        self
    }

    /// Replies 500 to this command and leaves it out of FEAT.
    #[must_use]
    pub fn without(mut self, verb: &str) -> Self {
        self.unknown_commands.push(verb.to_ascii_uppercase());
        self
    }

    /// Waits this long before each reply.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.behaviour.delay = delay;
        self
    }

    /// Discards the received data when a command is executed: clients must not pipeline.
    #[must_use]
    pub fn drops_pipelined_commands(mut self) -> Self {
        self.behaviour.drops_pipelined = true;
        self
    }

    /// Sends replies byte by byte.
    #[must_use]
    pub fn split_replies(mut self) -> Self {
        self.behaviour.splits_replies = true;
        self
    }

    /// Sends the final reply of a transfer only when the client has closed the data connection: proftpd.
    #[must_use]
    pub fn final_after_client_closes(mut self) -> Self {
        self.behaviour.final_reply_waits = true;
        self
    }

    /// Reads two 0xFF bytes of a command as one, as Telnet does (RFC 959 §2.3): BSD.
    #[must_use]
    pub fn unescapes_telnet(mut self) -> Self {
        self.behaviour.unescapes_telnet = true;
        self
    }

    /// Sets the effect of `CWD ` with an empty argument.
    #[must_use]
    pub fn empty_cwd(mut self, how: EmptyCwd) -> Self {
        self.behaviour.empty_cwd = how;
        self
    }

    /// Listens on ::1.
    #[must_use]
    pub fn ipv6(mut self) -> Self {
        self.behaviour.ip = Ipv6Addr::LOCALHOST.into();
        self
    }

    /// Listens for data connections on another address than for control connections, and names it in 227.
    #[must_use]
    pub fn data_listener_on(mut self, ip: impl Into<IpAddr>) -> Self {
        self.behaviour.data_ip = Some(ip.into());
        self
    }

    /// Presents another certificate on data connections.
    #[must_use]
    pub fn data_cert(mut self, cert: &ServerCert) -> Self {
        self.behaviour.data_cert = Some(cert.clone());
        self
    }

    /// Refuses data connections with a new TLS session: an empty transfer, 522, and the end of the control
    /// connection, as vsftpd does.
    #[must_use]
    pub fn requires_session_reuse(mut self) -> Self {
        self.behaviour.requires_session_reuse = true;
        self
    }
}

/// Faults. All of them are rules; these methods are short forms of frequent rules.
impl FtpConfig {
    /// Adds a rule.
    #[must_use]
    pub fn rule(mut self, rule: FtpRule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Takes this action on these commands, see [`FtpTrigger::Line`].
    #[must_use]
    pub fn on(self, trigger: impl Into<FtpTrigger>, action: FtpAction) -> Self {
        self.rule(FtpRule::on(trigger, action))
    }

    /// Sends these bytes instead of executing the commands.
    #[must_use]
    pub fn answer(self, trigger: impl Into<FtpTrigger>, reply: impl Into<Vec<u8>>) -> Self {
        self.on(trigger, FtpAction::Answer(reply.into()))
    }

    /// Executes the commands, but sends this reply; see [`FtpAction::ReplaceReply`].
    #[must_use]
    pub fn replace_reply(self, trigger: impl Into<FtpTrigger>, reply: impl Into<Vec<u8>>) -> Self {
        self.on(trigger, FtpAction::ReplaceReply(reply.into()))
    }

    /// Sends nothing for this time instead of a reply.
    #[must_use]
    pub fn stall_at(self, trigger: impl Into<FtpTrigger>, length: Duration) -> Self {
        self.on(trigger, FtpAction::End(Ending::Stall(length)))
    }

    /// Closes the control connection instead of replying.
    #[must_use]
    pub fn close_at(self, trigger: impl Into<FtpTrigger>) -> Self {
        self.on(trigger, FtpAction::End(Ending::Close))
    }

    /// Resets the data connection of RETR after this many bytes.
    #[must_use]
    pub fn reset_data_after(self, bytes: u64) -> Self {
        self.on("RETR", FtpAction::CutData(bytes, Ending::Reset))
    }

    /// Closes the data connection of RETR after this many bytes.
    #[must_use]
    pub fn close_data_after(self, bytes: u64) -> Self {
        self.on("RETR", FtpAction::CutData(bytes, Ending::Close))
    }

    /// Sets the final reply of RETR.
    #[must_use]
    pub fn final_reply(self, reply: impl Into<Vec<u8>>) -> Self {
        self.replace_reply("RETR", reply)
    }

    /// Sends no final reply to RETR and waits for the next command.
    #[must_use]
    pub fn no_final_reply(self) -> Self {
        self.replace_reply("RETR", "")
    }

    /// Sends the final reply of RETR before the data.
    #[must_use]
    pub fn final_reply_first(self) -> Self {
        self.on("RETR", FtpAction::FinalReplyFirst)
    }

    /// Resets the control connection instead of sending the final reply of RETR.
    #[must_use]
    pub fn reset_control_before_final_reply(self) -> Self {
        self.on("RETR", FtpAction::EndBeforeFinalReply(Ending::Reset))
    }

    /// Names this host in 227, while the server listens on its own address.
    #[must_use]
    pub fn pasv_address(self, host: [u8; 4]) -> Self {
        let [a, b, c, d] = host;
        let reply = format!("227 Entering Passive Mode ({a},{b},{c},{d},{{high}},{{low}})\r\n");
        self.replace_reply("PASV", reply)
    }

    /// Sends 227 without parentheses, which RFC 959 does not require.
    #[must_use]
    pub fn pasv_without_parentheses(self) -> Self {
        self.replace_reply("PASV", "227 Entering Passive Mode. {host},{high},{low}\r\n")
    }

    /// Sends these bytes after the reply to AUTH, in plaintext and in the same segment.
    #[must_use]
    pub fn inject_after_auth(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.on("AUTH", FtpAction::After(bytes.into()))
    }
}
