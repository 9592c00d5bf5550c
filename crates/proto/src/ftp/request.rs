//! An FTP URL as a request: the directories to change to, and the operation to perform there (RFC 1738 §3.2.2).

use std::fmt;

use fetch_url_core::{FtpUrl, Typecode};

use super::{Command, Verb};
use crate::ForbiddenByte;

/// The request of a URL, relative to the directory after the login.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FtpRequest {
    /// The arguments of the CWD commands, percent-decoded, in order.
    pub cwds: Vec<Vec<u8>>,
    /// The operation to perform in the last directory.
    pub operation: Operation,
    /// Query the modification time also of a file that is retrieved as text.
    pub queries_time_of_text: bool,
}

/// The operation of an [`FtpRequest`], performed in its last directory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "the callers must handle every operation")]
pub enum Operation {
    /// Query size and modification time of a file (SIZE, MDTM), without a transfer.
    Stat {
        /// The name of the file, percent-decoded.
        name: Vec<u8>,
    },
    /// List the directory, or its subdirectory `name`.
    List {
        /// The argument of the command, percent-decoded.
        name: Option<Vec<u8>>,
        /// The command that lists.
        verb: ListVerb,
    },
    /// Only change to the directory, to check that it exists.
    ChangeDir,
    /// Retrieve a file.
    Retrieve {
        /// The name of the file, percent-decoded.
        name: Vec<u8>,
        /// The representation type.
        transfer_type: TransferType,
    },
}

/// The commands that list a directory, from the most informative to the least.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "FTP has no other listing command")]
pub enum ListVerb {
    /// MLSD: names with facts in a standard format (RFC 3659 §7).
    Mlsd,
    /// LIST: a format of the server, intended for human readers.
    List,
    /// NLST: names only, as RFC 1738 §3.2.2 requires. The default.
    #[default]
    Nlst,
}

impl ListVerb {
    /// Returns the command to try if the server does not implement this one.
    pub const fn fallback(self) -> Option<Self> {
        match self {
            Self::Mlsd => Some(Self::List),
            Self::List => Some(Self::Nlst),
            Self::Nlst => None,
        }
    }

    /// Returns the command name.
    pub const fn verb(self) -> Verb {
        match self {
            Self::Mlsd => Verb::Mlsd,
            Self::List => Verb::List,
            Self::Nlst => Verb::Nlst,
        }
    }
}

/// The representation type of a transfer: the argument of TYPE (RFC 959 §3.1.1).
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "`Other` covers every other type")]
pub enum TransferType {
    /// `A`: text whose lines end with CR LF.
    Ascii,
    /// `I`: the bytes of the file, unchanged.
    Image,
    /// Another type, such as `E` or `L 8`, from a typecode of the CERN grammar of 1993.
    Other(String),
}

impl fmt::Display for TransferType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ascii => "A",
            Self::Image => "I",
            Self::Other(argument) => argument,
        })
    }
}

/// How the directories of a path are turned into CWD commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "there is no other method")]
pub enum CwdMethod {
    /// One CWD for each directory, as RFC 1738 §3.2.2 requires. The default.
    #[default]
    MultiCwd,
    /// One CWD with the whole directory path.
    SingleCwd,
    /// No CWD: the whole path is the argument of the final command.
    NoCwd,
}

/// Options of a request that the URL does not contain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "callers set its fields by name")]
pub struct RequestOptions {
    /// How directories become CWD commands.
    pub method: CwdMethod,
    /// Query metadata only, without a transfer.
    pub stat_only: bool,
    /// Transfer files as text (`TYPE A`) if the URL has no typecode.
    pub ascii: bool,
    /// List the path as a directory, whatever its typecode.
    pub list: bool,
    /// The command for listings.
    pub list_verb: ListVerb,
    /// Query the modification time also of a file that is retrieved as text. That of other files is always queried.
    pub queries_time_of_text: bool,
}

impl FtpRequest {
    /// Creates the request of `url` (RFC 1738 §3.2.2).
    ///
    /// # Errors
    /// A percent-decoded part of the path contains CR, LF or NUL.
    pub fn new(url: &FtpUrl<'_>, options: &RequestOptions) -> Result<Self, ForbiddenByte> {
        let Some(path) = url.path() else {
            let list = Operation::List { name: None, verb: options.list_verb };
            return Ok(Self {
                cwds: Vec::new(),
                operation: if options.stat_only { Operation::ChangeDir } else { list },
                queries_time_of_text: options.queries_time_of_text,
            });
        };
        let cwds: Vec<Vec<u8>> = path.cwds().map(|cwd| cwd.decode().into_owned()).collect();
        let name = path.name().decode().into_owned();
        for part in cwds.iter().chain([&name]) {
            crate::ForbiddenSet::LINE.check("path", part)?;
        }
        let is_listing = options.list || name.is_empty() || path.typecode() == Some(Typecode::Directory);
        let (mut cwds, mut name) = apply_method(cwds, name, options.method);
        // For a missing directory, some servers send an empty listing, or the error as a listing. CWD reports the
        // error. With NLST, RFC 1738 makes the name its argument.
        let needs_cwd =
            options.stat_only || (options.list_verb != ListVerb::Nlst && options.method != CwdMethod::NoCwd);
        if is_listing && needs_cwd && !name.is_empty() {
            cwds.push(std::mem::take(&mut name));
        }
        let operation = if is_listing && options.stat_only {
            Operation::ChangeDir
        } else if is_listing {
            Operation::List { name: Some(name).filter(|name| !name.is_empty()), verb: options.list_verb }
        } else if options.stat_only {
            Operation::Stat { name }
        } else {
            Operation::Retrieve { name, transfer_type: transfer_type_of(path.typecode(), options.ascii) }
        };
        Ok(Self { cwds, operation, queries_time_of_text: options.queries_time_of_text })
    }

    /// Returns the same request with another listing command; other operations stay as they are.
    #[must_use]
    pub fn with_list_verb(mut self, verb: ListVerb) -> Self {
        if let Operation::List { verb: list_verb, .. } = &mut self.operation {
            *list_verb = verb;
        }
        self
    }

    /// Returns the command that is answered on the data connection, or `None` for requests without a transfer.
    pub(super) fn transfer_command(&self) -> Result<Option<Command>, ForbiddenByte> {
        match &self.operation {
            Operation::Stat { .. } | Operation::ChangeDir => Ok(None),
            Operation::List { name: None, verb } => Ok(Some(Command::new(verb.verb()))),
            Operation::List { name: Some(name), verb } => {
                Command::with_argument(verb.verb(), name.clone()).map(Some)
            }
            Operation::Retrieve { name, .. } => Command::with_argument(Verb::Retr, name.clone()).map(Some),
        }
    }

    /// Returns the commands in the order in which they are sent, as far as they are known before any reply, without the
    /// login.
    ///
    /// # Errors
    /// An argument contains CR, LF or NUL.
    pub fn commands(&self) -> Result<Vec<Command>, ForbiddenByte> {
        let mut commands = Vec::new();
        for cwd in &self.cwds {
            commands.push(Command::with_argument(Verb::Cwd, cwd.clone())?);
        }
        match &self.operation {
            Operation::Stat { name } => {
                commands.push(Command::with_safe_argument(Verb::Type, TransferType::Image));
                commands.push(Command::with_argument(Verb::Size, name.clone())?);
                commands.push(Command::with_argument(Verb::Mdtm, name.clone())?);
            }
            Operation::List { .. } => commands.push(Command::new(Verb::Epsv)),
            Operation::ChangeDir => {}
            Operation::Retrieve { name, transfer_type } => {
                commands.push(Command::with_safe_argument(Verb::Type, transfer_type));
                if *transfer_type == TransferType::Image {
                    commands.push(Command::with_argument(Verb::Size, name.clone())?);
                }
                if *transfer_type == TransferType::Image || self.queries_time_of_text {
                    commands.push(Command::with_argument(Verb::Mdtm, name.clone())?);
                }
                commands.push(Command::new(Verb::Epsv));
            }
        }
        commands.extend(self.transfer_command()?);
        Ok(commands)
    }
}

/// Returns the arguments of CWD and the name of the object according to `method`.
fn apply_method(cwds: Vec<Vec<u8>>, name: Vec<u8>, method: CwdMethod) -> (Vec<Vec<u8>>, Vec<u8>) {
    if cwds.is_empty() {
        return (cwds, name);
    }
    // An empty first segment, as in `//etc/motd`, makes the joined path start with a slash.
    let directory = match cwds.join(&b'/') {
        joined if joined.is_empty() => b"/".to_vec(),
        joined => joined,
    };
    match method {
        CwdMethod::MultiCwd => (cwds, name),
        CwdMethod::SingleCwd => (vec![directory], name),
        CwdMethod::NoCwd => {
            let separator: &[u8] = if directory.ends_with(b"/") || name.is_empty() { b"" } else { b"/" };
            (Vec::new(), [&directory[..], separator, &name].concat())
        }
    }
}

/// Returns the representation type of a typecode (RFC 959 §4.1.2). Without one it is image: no byte is changed.
pub(super) fn transfer_type_of(typecode: Option<Typecode>, ascii: bool) -> TransferType {
    match typecode {
        Some(Typecode::Ascii) => TransferType::Ascii,
        Some(Typecode::AsciiForm(form)) => TransferType::Other(format!("A {form}")),
        Some(Typecode::Ebcdic(form)) => TransferType::Other(format!("E {form}")),
        Some(Typecode::Local(bits)) => TransferType::Other(format!("L {bits}")),
        None if ascii => TransferType::Ascii,
        _ => TransferType::Image,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fetch_url_core::{Url, parse};

    fn commands(url: &str, options: &RequestOptions) -> String {
        let parsed = parse(url).expect("a URL");
        let Url::Ftp(url) = parsed.url else { panic!("not an ftp URL") };
        let request = FtpRequest::new(&url, options).expect("no forbidden byte");
        let commands = request.commands().expect("no forbidden byte");
        commands.iter().map(ToString::to_string).collect::<Vec<_>>().join(" · ")
    }

    #[test]
    fn paths_become_commands_by_method() {
        let by = |method| RequestOptions { method, ..RequestOptions::default() };
        for (path, rfc1738, single, none) in [
            ("a/b/c", "CWD a · CWD b", "CWD a/b", "a/b/c"),
            ("c", "", "", "c"),
            ("/etc/c", "CWD  · CWD etc", "CWD /etc", "/etc/c"),
            ("/c", "CWD ", "CWD /", "/c"),
            ("%2Fetc/c", "CWD /etc", "CWD /etc", "/etc/c"),
            ("%2F/c", "CWD /", "CWD /", "/c"),
            ("a/../c", "CWD a · CWD ..", "CWD a/..", "a/../c"),
        ] {
            let url = format!("ftp://h/{path}");
            let facts = |name: &str| format!("TYPE I · SIZE {name} · MDTM {name} · EPSV · RETR {name}");
            for (method, cwds) in [(CwdMethod::MultiCwd, rfc1738), (CwdMethod::SingleCwd, single)] {
                let joint = if cwds.is_empty() { "" } else { " · " };
                assert_eq!(commands(&url, &by(method)), format!("{cwds}{joint}{}", facts("c")), "{path}");
            }
            assert_eq!(commands(&url, &by(CwdMethod::NoCwd)), facts(none), "{path}");
        }
        assert_eq!(commands("ftp://h/a/b/", &by(CwdMethod::NoCwd)), "EPSV · NLST a/b");
        assert_eq!(commands("ftp://h/a/b/;type=d", &by(CwdMethod::SingleCwd)), "CWD a/b · EPSV · NLST");
    }

    #[test]
    fn options_change_the_commands() {
        let options = RequestOptions { stat_only: true, ..RequestOptions::default() };
        assert_eq!(commands("ftp://h/a/b", &options), "CWD a · TYPE I · SIZE b · MDTM b");
        for (url, expected) in
            [("ftp://h/a/b/", "CWD a · CWD b"), ("ftp://h/a/b;type=d", "CWD a · CWD b"), ("ftp://h", "")]
        {
            assert_eq!(commands(url, &options), expected, "{url}");
        }
        let options = RequestOptions { ascii: true, ..RequestOptions::default() };
        assert_eq!(commands("ftp://h/b", &options), "TYPE A · EPSV · RETR b");
        assert_eq!(commands("ftp://h/b;type=i", &options), "TYPE I · SIZE b · MDTM b · EPSV · RETR b");
        let options = RequestOptions { queries_time_of_text: true, ..RequestOptions::default() };
        assert_eq!(commands("ftp://h/b;type=a", &options), "TYPE A · MDTM b · EPSV · RETR b");
        let options = RequestOptions { list: true, list_verb: ListVerb::Mlsd, ..RequestOptions::default() };
        assert_eq!(commands("ftp://h/b", &options), "CWD b · EPSV · MLSD");
        let options = RequestOptions { method: CwdMethod::NoCwd, ..options };
        assert_eq!(commands("ftp://h/a/b", &options), "EPSV · MLSD a/b");
    }
}
