//! `ftp://user:password@host:port/cwd1/…/cwdN/name;type=x` (RFC 1738 §3.2).

use std::fmt;

use crate::escape::sets;
use crate::host::Passwords;
use crate::part::login_parts;
use crate::reader::{Reader, Rule, decimal, whole};
use crate::scheme_table::Scheme;
use crate::{Escaped, Login, NoteKind, ParseError, ParseErrorKind as Kind, Parsed, Part, Url};

const PATH: Rule = Rule::new(sets::FPATH);
const PATH_1993: Rule = Rule::new(sets::PATH_1993);

/// A file or a directory reached by FTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FtpUrl<'a> {
    scheme: &'static Scheme,
    login: Login<'a>,
    path: Option<FtpPath<'a>>,
}

impl<'a> FtpUrl<'a> {
    #[inline]
    pub(crate) fn parse(reader: &mut Reader<'a>, scheme: &'static Scheme) -> Result<Parsed<'a>, ParseError> {
        reader.slashes()?;
        let login = reader.login(sets::SLASH_ONLY)?;
        let path = if reader.eat(b'/') { Some(FtpPath::parse(reader)?) } else { None };
        whole!(reader, Url::Ftp(Self { scheme, login, path }))
    }

    /// `ftp` or `ftps`.
    pub const fn scheme(&self) -> &'static Scheme {
        self.scheme
    }

    /// Who asks whom.
    pub const fn login(&self) -> &Login<'a> {
        &self.login
    }

    pub(crate) const fn login_mut(&mut self) -> &mut Login<'a> {
        &mut self.login
    }

    /// What stands after the slash that follows the host; that slash is not part of it.
    pub const fn path(&self) -> Option<&FtpPath<'a>> {
        self.path.as_ref()
    }

    pub(crate) fn print(&self, f: &mut fmt::Formatter<'_>, passwords: Passwords) -> fmt::Result {
        write!(f, "{}://", self.scheme.name)?;
        self.login.print(f, passwords)?;
        match &self.path {
            Some(path) => write!(f, "/{path}"),
            None => Ok(()),
        }
    }

    pub(crate) fn parts(&self, parts: &mut Vec<Part>) {
        login_parts(&self.login, parts);
        if let Some(path) = &self.path {
            path.parts(parts);
        }
    }

    pub(crate) fn into_owned(self) -> FtpUrl<'static> {
        FtpUrl {
            scheme: self.scheme,
            login: self.login.into_owned(),
            path: self.path.map(FtpPath::into_owned),
        }
    }
}

/// `cwd1/…/cwdN/name[;type=x]` (§3.2.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FtpPath<'a> {
    text: Escaped<'a>,
    typecode: Option<Typecode>,
}

impl<'a> FtpPath<'a> {
    #[inline(always)]
    fn parse(reader: &mut Reader<'a>) -> Result<Self, ParseError> {
        let octets = reader.rest();
        let start = reader.at();
        if !reader.is_1993() && sets::FPATH.run(octets, 0) == octets.len() {
            reader.skip(octets.len());
            let text = Escaped::borrowed(reader.slice(start..start + octets.len()));
            return Ok(Self { text, typecode: None });
        }
        Self::parse_odd(reader)
    }

    /// With a typecode, or with characters that the grammar does not have here.
    fn parse_odd(reader: &mut Reader<'a>) -> Result<Self, ParseError> {
        let whole = reader.at() + reader.rest().len();
        let (length, typecode) = Typecode::find(reader)?;
        let path_end = reader.at() + length;
        reader.stop_at(path_end);
        let text = reader.component(if reader.is_1993() { PATH_1993 } else { PATH }, sets::NONE)?;
        reader.stop_at(whole);
        reader.skip(whole - path_end);
        Ok(Self { text, typecode })
    }

    /// The arguments of the CWD commands, in order; an empty one is a null argument.
    pub fn cwds(&self) -> impl Iterator<Item = Escaped<'_>> {
        let mut segments = self.text.split('/');
        segments.next_back();
        segments
    }

    /// The last segment: what RETR or NLST is given. May be empty.
    pub fn name(&self) -> Escaped<'_> {
        self.text.split('/').next_back().unwrap_or(Escaped::borrowed(""))
    }

    /// The typecode that was written (§3.2.2).
    pub const fn typecode(&self) -> Option<Typecode> {
        self.typecode
    }

    fn parts(&self, parts: &mut Vec<Part>) {
        parts.extend(
            self.cwds()
                .map(|cwd| Part::new("cwd", cwd, "RFC 1738 §3.2.2: decoded, the argument of a CWD command")),
        );
        parts.push(Part::new("name", self.name(), "RFC 1738 §3.2.2: decoded, the argument of RETR or NLST"));
        if let Some(typecode) = self.typecode {
            parts.push(Part::new("type", typecode, "RFC 1738 §3.2.2: a is ASCII, i image, d a listing"));
        }
    }

    fn into_owned(self) -> FtpPath<'static> {
        FtpPath { text: self.text.into_owned(), typecode: self.typecode }
    }
}

impl fmt::Display for FtpPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.text)?;
        match self.typecode {
            Some(typecode) => write!(f, ";type={typecode}"),
            None => Ok(()),
        }
    }
}

/// `;type=a`, `i` or `d`; the other forms are the 1993 BNF's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Typecode {
    /// ASCII text.
    Ascii,
    /// 1993 `A formcode`: ASCII with `N`, `T` or `C` (RFC 959 §3.1.1.5).
    AsciiForm(char),
    /// A listing.
    Directory,
    /// 1993 `E formcode`: EBCDIC with `N`, `T` or `C`.
    Ebcdic(char),
    /// Image: octets as they are.
    Image,
    /// 1993 `L digits`: local octets of so many bits.
    Local(u8),
}

impl Typecode {
    /// How much of what is left belongs to the path, and the typecode behind it.
    #[inline]
    fn find(reader: &mut Reader<'_>) -> Result<(usize, Option<Self>), ParseError> {
        let octets = reader.rest();
        let Some(semicolon) = octets.iter().rposition(|&octet| octet == b';') else {
            return Ok((octets.len(), None));
        };
        let suffix = &octets[semicolon + 1..];
        let is_named = suffix.get(..5).is_some_and(|name| name.eq_ignore_ascii_case(b"type="));
        if !is_named && !reader.is_1993() {
            return Ok((octets.len(), None));
        }
        let start = reader.at() + semicolon + 1;
        let code = if is_named { &suffix[5..] } else { suffix };
        let Some(typecode) = Self::read(code, reader.is_1993()) else {
            return Err(ParseError::new(Kind::BadTypecode, start..start + suffix.len()));
        };
        if !is_named || typecode.is_historic() {
            reader.note(NoteKind::Historic, start..start + suffix.len());
        }
        if is_named && !typecode.is_written_so(suffix) {
            reader.note(NoteKind::TypecodeCase, start..start + suffix.len());
        }
        Ok((semicolon, Some(typecode)))
    }

    /// Only in the 1993 BNF.
    const fn is_historic(self) -> bool {
        matches!(self, Self::AsciiForm(_) | Self::Ebcdic(_) | Self::Local(_))
    }

    /// Whether `type=code` is how Display writes it.
    fn is_written_so(self, suffix: &[u8]) -> bool {
        let is_upper = self.is_historic();
        let (name, code) = suffix.split_at(5);
        let is_in_case =
            |octet: &u8| if is_upper { !octet.is_ascii_lowercase() } else { !octet.is_ascii_uppercase() };
        let has_zeros = code.len() > 2 && code[1] == b'0';
        name == b"type=" && code.iter().all(is_in_case) && !has_zeros
    }

    fn read(code: &[u8], is_1993: bool) -> Option<Self> {
        let form = |octet: u8| Some(octet.to_ascii_uppercase() as char).filter(|form| "NTC".contains(*form));
        match code {
            b"a" | b"A" => Some(Self::Ascii),
            b"i" | b"I" => Some(Self::Image),
            b"d" | b"D" => Some(Self::Directory),
            [b'a' | b'A', octet] if is_1993 => form(*octet).map(Self::AsciiForm),
            [b'e' | b'E', octet] if is_1993 => form(*octet).map(Self::Ebcdic),
            [b'l' | b'L', digits @ ..] if is_1993 => u8::try_from(decimal(digits)?).ok().map(Self::Local),
            _ => None,
        }
    }
}

impl fmt::Display for Typecode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ascii => f.write_str("a"),
            Self::AsciiForm(form) => write!(f, "A{form}"),
            Self::Directory => f.write_str("d"),
            Self::Ebcdic(form) => write!(f, "E{form}"),
            Self::Image => f.write_str("i"),
            Self::Local(bits) => write!(f, "L{bits}"),
        }
    }
}
