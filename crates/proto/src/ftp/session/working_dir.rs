//! The working directory of a session. Other directories are reached only by the CWDs of a URL, relative to the
//! directory after the login (RFC 1738 §3.2.5).

/// The working directory, as the CWDs that the server has accepted since the login.
#[derive(Debug)]
pub(super) struct WorkingDir {
    /// The accepted CWDs; `None` after a rejected CWD, when the directory is unknown.
    accepted: Option<Vec<Vec<u8>>>,
    /// The absolute path of the login directory, if PWD returned one.
    login_dir: Option<Vec<u8>>,
}

impl Default for WorkingDir {
    fn default() -> Self {
        Self { accepted: Some(Vec::new()), login_dir: None }
    }
}

impl WorkingDir {
    /// Returns the CWDs that lead from here to the directory of `cwds`, or `None` if it cannot be reached.
    pub(super) fn cwds_to(&self, cwds: &[Vec<u8>]) -> Option<Vec<Vec<u8>>> {
        if let Some(rest) = self.accepted.as_ref().and_then(|accepted| cwds.strip_prefix(&accepted[..])) {
            return Some(rest.to_vec());
        }
        let login_dir = self.login_dir.clone()?;
        Some(std::iter::once(login_dir).chain(cwds.iter().cloned()).collect())
    }

    /// Records that the server has accepted a CWD.
    pub(super) fn record_accepted_cwd(&mut self, cwd: &[u8]) {
        if self.login_dir.as_deref() == Some(cwd) && cwd.starts_with(b"/") {
            self.accepted = Some(Vec::new());
        } else if let Some(accepted) = &mut self.accepted {
            accepted.push(cwd.to_vec());
        }
    }

    /// Records that the server has rejected a CWD. Returns `true` if it was the one to the login directory, which is
    /// then forgotten.
    pub(super) fn record_rejected_cwd(&mut self, cwd: &[u8]) -> bool {
        self.accepted = None;
        self.login_dir.take_if(|login_dir| login_dir == cwd).is_some()
    }

    /// Parses the reply to PWD, sent before any CWD: the path in quotes, with quotes in it doubled (RFC 959 appendix
    /// II). Some servers do not double them, so a path that contains quotes is ignored.
    pub(super) fn learn_login_dir(&mut self, text: &[u8]) {
        let name = text.split(|&byte| byte == b'"').nth(1).unwrap_or_default();
        let has_two = text.iter().filter(|&&byte| byte == b'"').count() == 2;
        // It becomes an argument of CWD.
        let is_sendable = !name.iter().any(|byte| matches!(byte, 0 | b'\r' | b'\n' | 0xff));
        let is_usable = has_two && name.starts_with(b"/") && is_sendable;
        self.login_dir = is_usable.then(|| name.to_vec());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Vec<Vec<u8>> {
        text.split(' ').filter(|part| !part.is_empty()).map(|part| part.as_bytes().to_vec()).collect()
    }

    #[test]
    fn cwds_lead_to_reachable_directories_only() {
        let mut dir = WorkingDir::default();
        assert_eq!(dir.cwds_to(&path("a b")), Some(path("a b")));
        dir.record_accepted_cwd(b"a");
        dir.record_accepted_cwd(b"b");
        assert_eq!(dir.cwds_to(&path("a b")), Some(Vec::new()));
        assert_eq!(dir.cwds_to(&path("a b c")), Some(path("c")));
        assert_eq!(dir.cwds_to(&path("a")), None);
        assert_eq!(dir.cwds_to(&path("x")), None);
        dir.learn_login_dir(b" \"/users/me\" is the current directory");
        assert_eq!(dir.cwds_to(&path("x y")), Some(path("/users/me x y")));
        dir.record_accepted_cwd(b"/users/me");
        assert_eq!(dir.cwds_to(&path("x")), Some(path("x")));
        assert!(!dir.record_rejected_cwd(b"x"));
        assert_eq!(dir.cwds_to(&path("x")), Some(path("/users/me x")));
        assert!(dir.record_rejected_cwd(b"/users/me"));
        assert_eq!(dir.cwds_to(&path("x")), None);
    }

    #[test]
    fn unknown_directory_and_odd_pwd_replies_are_not_used() {
        let mut dir = WorkingDir::default();
        dir.record_rejected_cwd(b"x");
        assert_eq!(dir.cwds_to(&[]), None);
        for odd in ["\"/a\"\"b\"", "\"relative\"", "no quotes", "\"/open", "\"/a\rb\"", ""] {
            dir.learn_login_dir(odd.as_bytes());
            assert_eq!(dir.cwds_to(&[]), None, "{odd}");
        }
    }
}
