//! `ftp://user:password@host:port/cwd1/…/cwdN/name;type=x` (RFC 1738 §3.2).
//!
//! Names with `1993` belong to the draft BNF of November 1993 that preceded RFC 1738 (`Dialect::Cern1993`).

use std::fmt::{self, Display as _};

use crate::authority::PasswordDisplay;
use crate::component::push_authority;
use crate::percent_encoding::sets;
use crate::reader::{ComponentRule, Reader, parse_decimal};
use crate::scheme_table::Scheme;
use crate::{Authority, Component, Note, NoteKind, ParseError, ParseErrorKind as Kind, PercentEncoded};

const PATH: ComponentRule = ComponentRule::new(sets::FPATH);
const PATH_1993: ComponentRule = ComponentRule::new(sets::PATH_1993);

/// An `ftp` or `ftps` URL: a file or directory on an FTP server (RFC 1738 §3.2).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FtpUrl<'a> {
    scheme: &'static Scheme,
    authority: Authority<'a>,
    path: Option<FtpPath<'a>>,
}

impl<'a> FtpUrl<'a> {
    #[inline]
    pub(crate) fn parse<T>(
        reader: &mut Reader<'a>,
        scheme: &'static Scheme,
        wrap: impl FnOnce(Self, Vec<Note>) -> T,
    ) -> Result<T, ParseError> {
        reader.expect_slashes()?;
        let authority = reader.read_authority(sets::SLASH_ONLY)?;
        let path = if reader.eat(b'/') { Some(FtpPath::parse(reader)?) } else { None };
        reader.expect_end()?;
        Ok(wrap(Self { scheme, authority, path }, reader.take_notes()))
    }

    /// Returns the row of `ftp` or `ftps` in the table of schemes.
    pub const fn scheme(&self) -> &'static Scheme {
        self.scheme
    }

    /// Returns user information, host and port.
    pub const fn authority(&self) -> &Authority<'a> {
        &self.authority
    }

    pub(crate) const fn authority_mut(&mut self) -> &mut Authority<'a> {
        &mut self.authority
    }

    /// Returns the path without the slash that follows the host; `None` if the URL ends after the host.
    pub const fn path(&self) -> Option<&FtpPath<'a>> {
        self.path.as_ref()
    }

    pub(crate) fn write(&self, f: &mut fmt::Formatter<'_>, passwords: PasswordDisplay) -> fmt::Result {
        f.write_str(self.scheme.name)?;
        f.write_str("://")?;
        self.authority.write(f, passwords)?;
        match &self.path {
            Some(path) => {
                f.write_str("/")?;
                path.fmt(f)
            }
            None => Ok(()),
        }
    }

    pub(crate) fn push_components(&self, components: &mut Vec<Component>) {
        push_authority(&self.authority, components);
        if let Some(path) = &self.path {
            path.push_components(components);
        }
    }

    /// Returns the same URL with owned text, independent of the parsed text.
    pub fn into_owned(self) -> FtpUrl<'static> {
        FtpUrl {
            scheme: self.scheme,
            authority: self.authority.into_owned(),
            path: self.path.map(FtpPath::into_owned),
        }
    }
}

/// The path of an FTP URL: `cwd1/…/cwdN/name[;type=x]` (RFC 1738 §3.2.2). Display prints it without a leading slash.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FtpPath<'a> {
    text: PercentEncoded<'a>,
    typecode: Option<Typecode>,
}

impl<'a> FtpPath<'a> {
    #[inline(always)]
    fn parse(reader: &mut Reader<'a>) -> Result<Self, ParseError> {
        let bytes = reader.remaining();
        let start = reader.position();
        if !reader.is_cern1993() && sets::FPATH.end_of_run(bytes, 0) == bytes.len() {
            reader.advance(bytes.len());
            let text = PercentEncoded::borrowed(reader.slice(start..start + bytes.len()));
            return Ok(Self { text, typecode: None });
        }
        Self::parse_irregular(reader)
    }

    /// Parses a path with a typecode, or with characters that the grammar does not allow.
    fn parse_irregular(reader: &mut Reader<'a>) -> Result<Self, ParseError> {
        let end = reader.position() + reader.remaining().len();
        let (length, typecode) = Typecode::split_off(reader)?;
        let path_end = reader.position() + length;
        reader.set_end(path_end);
        let rule = if reader.is_cern1993() { PATH_1993 } else { PATH };
        let text = reader.read_component(rule, sets::EMPTY)?;
        reader.set_end(end);
        reader.advance(end - path_end);
        Ok(Self { text, typecode })
    }

    /// Returns the directories, in order: each one, decoded, is the argument of one CWD command (§3.2.2). An empty one is
    /// a CWD command with an empty argument.
    pub fn cwds(&self) -> impl Iterator<Item = PercentEncoded<'_>> {
        let mut segments = self.text.split('/');
        segments.next_back();
        segments
    }

    /// Returns the last segment, which may be empty: decoded, it is the argument of RETR, or of NLST for a directory.
    pub fn name(&self) -> PercentEncoded<'_> {
        self.text.split('/').next_back().unwrap_or(PercentEncoded::borrowed(""))
    }

    /// Returns the typecode that was written after the path, if any (§3.2.2).
    pub const fn typecode(&self) -> Option<Typecode> {
        self.typecode
    }

    fn push_components(&self, components: &mut Vec<Component>) {
        let rule = "RFC 1738 §3.2.2: decoded, the argument of a CWD command";
        components.extend(self.cwds().map(|cwd| Component::new("cwd", cwd, rule)));
        let rule = "RFC 1738 §3.2.2: decoded, the argument of RETR or NLST";
        components.push(Component::new("name", self.name(), rule));
        if let Some(typecode) = self.typecode {
            let rule = "RFC 1738 §3.2.2: a is ASCII, i is image, d is a directory listing";
            components.push(Component::new("type", typecode, rule));
        }
    }

    fn into_owned(self) -> FtpPath<'static> {
        FtpPath { text: self.text.into_owned(), typecode: self.typecode }
    }
}

impl fmt::Display for FtpPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text.as_str())?;
        match self.typecode {
            Some(typecode) => write!(f, ";type={typecode}"),
            None => Ok(()),
        }
    }
}

/// The transfer type that a URL names: `;type=a`, `;type=i` or `;type=d` (RFC 1738 §3.2.2). The other variants are forms
/// of the 1993 BNF, with the codes of RFC 959 §3.1.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Typecode {
    /// `a`: ASCII text.
    Ascii,
    /// 1993 `A` and a format code: ASCII text with format control `N`, `T` or `C` (RFC 959 §3.1.1.5).
    AsciiForm(char),
    /// `d`: a directory listing.
    Directory,
    /// 1993 `E` and a format code: EBCDIC text with format control `N`, `T` or `C`.
    Ebcdic(char),
    /// `i`: image, the bytes of the file unchanged.
    Image,
    /// 1993 `L` and a number: local bytes of that many bits, 0 to 255.
    Local(u8),
}

impl Typecode {
    /// Returns the length of the path in the remaining text, and the typecode after it.
    #[inline]
    fn split_off(reader: &mut Reader<'_>) -> Result<(usize, Option<Self>), ParseError> {
        let bytes = reader.remaining();
        let Some(semicolon) = bytes.iter().rposition(|&byte| byte == b';') else {
            return Ok((bytes.len(), None));
        };
        let suffix = &bytes[semicolon + 1..];
        let has_name = suffix.get(..5).is_some_and(|name| name.eq_ignore_ascii_case(b"type="));
        if !has_name && !reader.is_cern1993() {
            return Ok((bytes.len(), None));
        }
        let start = reader.position() + semicolon + 1;
        let code = if has_name { &suffix[5..] } else { suffix };
        let Some(typecode) = Self::from_code(code, reader.is_cern1993()) else {
            return Err(ParseError::new(Kind::BadTypecode, start..start + suffix.len()));
        };
        if !has_name || typecode.is_historic() {
            reader.note(NoteKind::Historic, start..start + suffix.len());
        }
        if has_name && !typecode.is_canonical(suffix) {
            reader.note(NoteKind::TypecodeCase, start..start + suffix.len());
        }
        Ok((semicolon, Some(typecode)))
    }

    /// Returns `true` if only the 1993 BNF has this typecode.
    const fn is_historic(self) -> bool {
        matches!(self, Self::AsciiForm(_) | Self::Ebcdic(_) | Self::Local(_))
    }

    /// Returns `true` if Display prints the typecode like `suffix`, which is `type=code` in upper or lower case.
    fn is_canonical(self, suffix: &[u8]) -> bool {
        let is_upper = self.is_historic();
        let (name, code) = suffix.split_at(5);
        let has_case =
            |byte: &u8| if is_upper { !byte.is_ascii_lowercase() } else { !byte.is_ascii_uppercase() };
        let has_zeros = code.len() > 2 && code[1] == b'0';
        name == b"type=" && code.iter().all(has_case) && !has_zeros
    }

    fn from_code(code: &[u8], is_cern1993: bool) -> Option<Self> {
        let format =
            |byte: u8| Some(byte.to_ascii_uppercase() as char).filter(|format| "NTC".contains(*format));
        match code {
            b"a" | b"A" => Some(Self::Ascii),
            b"i" | b"I" => Some(Self::Image),
            b"d" | b"D" => Some(Self::Directory),
            [b'a' | b'A', byte] if is_cern1993 => format(*byte).map(Self::AsciiForm),
            [b'e' | b'E', byte] if is_cern1993 => format(*byte).map(Self::Ebcdic),
            [b'l' | b'L', digits @ ..] if is_cern1993 => {
                u8::try_from(parse_decimal(digits)?).ok().map(Self::Local)
            }
            _ => None,
        }
    }
}

impl fmt::Display for Typecode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ascii => f.write_str("a"),
            Self::AsciiForm(format) => write!(f, "A{format}"),
            Self::Directory => f.write_str("d"),
            Self::Ebcdic(format) => write!(f, "E{format}"),
            Self::Image => f.write_str("i"),
            Self::Local(bits) => write!(f, "L{bits}"),
        }
    }
}
