//! [`Authority`]: user information, host and port of a URL (RFC 1738 §3.1).

use std::fmt::{self, Display as _};

use crate::{HostPort, PercentEncoded};

/// A password in a URL. Debug and Display print `***` in its place.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Password<'a>(PercentEncoded<'a>);

impl<'a> Password<'a> {
    pub(crate) const fn new(text: PercentEncoded<'a>) -> Self {
        Self(text)
    }

    /// Returns the password itself. Use it only for the command that sends it, never for output.
    pub const fn expose(&self) -> &PercentEncoded<'a> {
        &self.0
    }

    /// Returns the same password with owned text, independent of the parsed text.
    pub fn into_owned(self) -> Password<'static> {
        Password(self.0.into_owned())
    }
}

impl fmt::Debug for Password<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(***)")
    }
}

impl fmt::Display for Password<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// The user information of a URL: `user[:password]` in front of `@` (RFC 1738 §3.1, RFC 3986 §3.2.1).
///
/// An empty value differs from a missing one: `ftp://@h/` has an empty user, `ftp://h/` has no user information;
/// `ftp://u:@h/` has an empty password, `ftp://u@h/` has none.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UserInfo<'a> {
    pub(crate) user: PercentEncoded<'a>,
    pub(crate) password: Option<Password<'a>>,
}

impl<'a> UserInfo<'a> {
    /// Returns the user name, which may be empty.
    pub const fn user(&self) -> &PercentEncoded<'a> {
        &self.user
    }

    /// Returns the password, if a `:` was written after the user name.
    pub const fn password(&self) -> Option<&Password<'a>> {
        self.password.as_ref()
    }

    /// Returns the same value with owned text, independent of the parsed text.
    pub fn into_owned(self) -> UserInfo<'static> {
        UserInfo { user: self.user.into_owned(), password: self.password.map(Password::into_owned) }
    }
}

/// The authority of a URL: `[user[:password]@]host[:port]` (RFC 1738 §5 `login`, RFC 3986 §3.2).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Authority<'a> {
    pub(crate) user_info: Option<UserInfo<'a>>,
    pub(crate) host_port: HostPort<'a>,
}

impl<'a> Authority<'a> {
    /// Returns user name and password, if the authority contains an `@`.
    pub const fn user_info(&self) -> Option<&UserInfo<'a>> {
        self.user_info.as_ref()
    }

    /// Returns the user name, if the authority contains an `@`.
    pub const fn user(&self) -> Option<&PercentEncoded<'a>> {
        match &self.user_info {
            Some(user_info) => Some(&user_info.user),
            None => None,
        }
    }

    /// Returns the password, if one was written.
    pub const fn password(&self) -> Option<&Password<'a>> {
        match &self.user_info {
            Some(user_info) => user_info.password(),
            None => None,
        }
    }

    /// Returns host and port.
    pub const fn host_port(&self) -> &HostPort<'a> {
        &self.host_port
    }

    /// Returns the same authority with owned text, independent of the parsed text.
    pub fn into_owned(self) -> Authority<'static> {
        Authority {
            user_info: self.user_info.map(UserInfo::into_owned),
            host_port: self.host_port.into_owned(),
        }
    }

    /// Writes the authority as in a URL.
    pub(crate) fn write(&self, f: &mut fmt::Formatter<'_>, passwords: PasswordDisplay) -> fmt::Result {
        if let Some(UserInfo { user, password }) = &self.user_info {
            f.write_str(user.as_str())?;
            match (password, passwords) {
                (Some(password), PasswordDisplay::Show) => write!(f, ":{}", password.expose())?,
                (Some(password), PasswordDisplay::Mask) => write!(f, ":{password}")?,
                (Some(_), PasswordDisplay::Omit) | (None, _) => {}
            }
            f.write_str("@")?;
        }
        self.host_port.fmt(f)
    }
}

/// How the text of a URL shows its password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PasswordDisplay {
    /// As it was written.
    Show,
    /// As `***`.
    Mask,
    /// Without the password and its `:`.
    Omit,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn password_is_not_printed() {
        let password = Password::new(PercentEncoded::borrowed("canary"));
        assert!(!format!("{password} {password:?}").contains("canary"));
    }
}
