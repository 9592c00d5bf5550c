//! Where an object is and what is wanted of it: a URL in FTP's words (RFC 1738 §3.2.2).

use std::fmt;

use fetch_url_core::{FtpUrl, Typecode};

use super::{Command, Verb};
use crate::ForbiddenOctet;

/// One object and the way to it, from the directory that a login leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Errand {
    /// The arguments of the CWD commands, decoded.
    pub cwds: Vec<Vec<u8>>,
    /// What to do there.
    pub task: Task,
}

/// What to do in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "RFC 1738 has the last two, and HEAD is everybody's")]
pub enum Task {
    /// Ask what is known of a file.
    Facts {
        /// Its name.
        name: Vec<u8>,
    },
    /// List the directory, or the one in it that `name` names.
    List {
        /// Its name.
        name: Option<Vec<u8>>,
        /// By which command.
        by: ListVerb,
    },
    /// Only get there.
    Reach,
    /// Retrieve a file.
    Retrieve {
        /// Its name.
        name: Vec<u8>,
        /// In which form.
        form: Form,
    },
}

/// The commands that list, the most telling one first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "there are no others")]
pub enum ListVerb {
    /// Facts for programs (RFC 3659 §7).
    Mlsd,
    /// For people; programs read it too.
    List,
    /// Names: RFC 1738's.
    #[default]
    Nlst,
}

impl ListVerb {
    /// The one to try when a server does not know this one.
    pub const fn plainer(self) -> Option<Self> {
        match self {
            Self::Mlsd => Some(Self::List),
            Self::List => Some(Self::Nlst),
            Self::Nlst => None,
        }
    }

    /// The command.
    pub const fn verb(self) -> Verb {
        match self {
            Self::Mlsd => Verb::Mlsd,
            Self::List => Verb::List,
            Self::Nlst => Verb::Nlst,
        }
    }
}

/// The argument of TYPE (RFC 959 §3.1.1).
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "the last one is for all the others")]
pub enum Form {
    /// Text with CRLF at its line ends.
    Ascii,
    /// Octets as they are.
    Image,
    /// One of the 1993 BNF's.
    Other(String),
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ascii => "A",
            Self::Image => "I",
            Self::Other(words) => words,
        })
    }
}

/// How the directories of a path are walked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "these are all the ways")]
pub enum Method {
    /// One CWD for each: RFC 1738 §3.2.2.
    #[default]
    Rfc1738,
    /// One CWD for all of them.
    SingleCwd,
    /// None: the whole path goes into the command.
    NoCwd,
}

/// What a caller wants beyond what the URL says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "filled in by name")]
pub struct Wish {
    /// How the directories of the path are walked.
    pub method: Method,
    /// Only what is known of the object.
    pub facts_only: bool,
    /// As text where the URL has no typecode.
    pub ascii: bool,
    /// As a listing, whatever the URL says.
    pub list: bool,
    /// The command for listings.
    pub list_by: ListVerb,
}

impl Errand {
    /// What `url` stands for.
    ///
    /// # Errors
    /// A decoded CR, LF or NUL.
    pub fn new(url: &FtpUrl<'_>, wish: &Wish) -> Result<Self, ForbiddenOctet> {
        let Some(path) = url.path() else {
            let list = Task::List { name: None, by: wish.list_by };
            return Ok(Self { cwds: Vec::new(), task: if wish.facts_only { Task::Reach } else { list } });
        };
        let cwds: Vec<Vec<u8>> = path.cwds().map(|cwd| cwd.decode().into_owned()).collect();
        let name = path.name().decode().into_owned();
        for part in cwds.iter().chain([&name]) {
            crate::Octets::LINE.check("path", part)?;
        }
        let is_listing = wish.list || name.is_empty() || path.typecode() == Some(Typecode::Directory);
        let (mut cwds, mut name) = walked(cwds, name, wish.method);
        // Servers say of what is not there that it lists as nothing, or list the error. CWD does not;
        // with NLST it is the URL that says what the argument is.
        let enters = wish.facts_only || (wish.list_by != ListVerb::Nlst && wish.method != Method::NoCwd);
        if is_listing && enters && !name.is_empty() {
            cwds.push(std::mem::take(&mut name));
        }
        let task = if is_listing && wish.facts_only {
            Task::Reach
        } else if is_listing {
            Task::List { name: Some(name).filter(|name| !name.is_empty()), by: wish.list_by }
        } else if wish.facts_only {
            Task::Facts { name }
        } else {
            Task::Retrieve { name, form: form(path.typecode(), wish.ascii) }
        };
        Ok(Self { cwds, task })
    }

    /// The same directory listed by another command.
    #[must_use]
    pub fn listed_by(mut self, verb: ListVerb) -> Self {
        if let Task::List { by, .. } = &mut self.task {
            *by = verb;
        }
        self
    }

    /// The command that the data connection answers; none when only facts are wanted.
    pub(super) fn transfer(&self) -> Result<Option<Command>, ForbiddenOctet> {
        match &self.task {
            Task::Facts { .. } | Task::Reach => Ok(None),
            Task::List { name: None, by } => Ok(Some(Command::new(by.verb()))),
            Task::List { name: Some(name), by } => Command::with(by.verb(), name.clone()).map(Some),
            Task::Retrieve { name, .. } => Command::with(Verb::Retr, name.clone()).map(Some),
        }
    }

    /// The commands, as far as they are known before a server has answered.
    pub fn commands(&self) -> Result<Vec<Command>, ForbiddenOctet> {
        let mut commands = Vec::new();
        for cwd in &self.cwds {
            commands.push(Command::with(Verb::Cwd, cwd.clone())?);
        }
        match &self.task {
            Task::Facts { name } => {
                commands.push(Command::own(Verb::Type, Form::Image));
                commands.push(Command::with(Verb::Size, name.clone())?);
                commands.push(Command::with(Verb::Mdtm, name.clone())?);
            }
            Task::List { .. } => commands.push(Command::new(Verb::Epsv)),
            Task::Reach => {}
            Task::Retrieve { name, form } => {
                commands.push(Command::own(Verb::Type, form));
                if *form == Form::Image {
                    commands.push(Command::with(Verb::Size, name.clone())?);
                    commands.push(Command::with(Verb::Mdtm, name.clone())?);
                }
                commands.push(Command::new(Verb::Epsv));
            }
        }
        commands.extend(self.transfer()?);
        Ok(commands)
    }
}

/// The path as `method` walks it.
fn walked(cwds: Vec<Vec<u8>>, name: Vec<u8>, method: Method) -> (Vec<Vec<u8>>, Vec<u8>) {
    if cwds.is_empty() {
        return (cwds, name);
    }
    // A first null argument, as in `//etc/motd`, makes the joined path begin with a slash.
    let directory = match cwds.join(&b'/') {
        joined if joined.is_empty() => b"/".to_vec(),
        joined => joined,
    };
    match method {
        Method::Rfc1738 => (cwds, name),
        Method::SingleCwd => (vec![directory], name),
        Method::NoCwd => {
            let joint: &[u8] = if directory.ends_with(b"/") || name.is_empty() { b"" } else { b"/" };
            (Vec::new(), [&directory[..], joint, &name].concat())
        }
    }
}

/// RFC 959 §4.1.2; without a typecode no octet is changed: image.
pub(super) fn form(typecode: Option<Typecode>, ascii: bool) -> Form {
    match typecode {
        Some(Typecode::Ascii) => Form::Ascii,
        Some(Typecode::AsciiForm(form)) => Form::Other(format!("A {form}")),
        Some(Typecode::Ebcdic(form)) => Form::Other(format!("E {form}")),
        Some(Typecode::Local(bits)) => Form::Other(format!("L {bits}")),
        None if ascii => Form::Ascii,
        _ => Form::Image,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fetch_url_core::{Url, parse};

    fn commands(url: &str, wish: &Wish) -> String {
        let parsed = parse(url).expect("it is a URL");
        let Url::Ftp(url) = parsed.url else { panic!("it is ftp") };
        let errand = Errand::new(&url, wish).expect("nothing is forbidden");
        let commands = errand.commands().expect("nothing is forbidden");
        commands.iter().map(ToString::to_string).collect::<Vec<_>>().join(" · ")
    }

    #[test]
    fn ways_to_walk() {
        let by = |method| Wish { method, ..Wish::default() };
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
            for (method, cwds) in [(Method::Rfc1738, rfc1738), (Method::SingleCwd, single)] {
                let joint = if cwds.is_empty() { "" } else { " · " };
                assert_eq!(commands(&url, &by(method)), format!("{cwds}{joint}{}", facts("c")), "{path}");
            }
            assert_eq!(commands(&url, &by(Method::NoCwd)), facts(none), "{path}");
        }
        assert_eq!(commands("ftp://h/a/b/", &by(Method::NoCwd)), "EPSV · NLST a/b");
        assert_eq!(commands("ftp://h/a/b/;type=d", &by(Method::SingleCwd)), "CWD a/b · EPSV · NLST");
    }

    #[test]
    fn wishes() {
        let wish = Wish { facts_only: true, ..Wish::default() };
        assert_eq!(commands("ftp://h/a/b", &wish), "CWD a · TYPE I · SIZE b · MDTM b");
        for (url, reached) in
            [("ftp://h/a/b/", "CWD a · CWD b"), ("ftp://h/a/b;type=d", "CWD a · CWD b"), ("ftp://h", "")]
        {
            assert_eq!(commands(url, &wish), reached, "{url}");
        }
        let wish = Wish { ascii: true, ..Wish::default() };
        assert_eq!(commands("ftp://h/b", &wish), "TYPE A · EPSV · RETR b");
        assert_eq!(commands("ftp://h/b;type=i", &wish), "TYPE I · SIZE b · MDTM b · EPSV · RETR b");
        let wish = Wish { list: true, list_by: ListVerb::Mlsd, ..Wish::default() };
        assert_eq!(commands("ftp://h/b", &wish), "CWD b · EPSV · MLSD");
        let wish = Wish { method: Method::NoCwd, ..wish };
        assert_eq!(commands("ftp://h/a/b", &wish), "EPSV · MLSD a/b");
    }
}
