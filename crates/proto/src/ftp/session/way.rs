//! Where a session is, and how it gets elsewhere (RFC 1738 §3.2.5): only by the CWDs of a URL, from
//! where a login led.

/// The CWDs that were taken since the login.
#[derive(Debug)]
pub(super) struct Way {
    /// None when one was refused: nobody knows where that leaves us.
    taken: Option<Vec<Vec<u8>>>,
    /// The directory that the login led to, by its absolute name.
    home: Option<Vec<u8>>,
}

impl Default for Way {
    fn default() -> Self {
        Self { taken: Some(Vec::new()), home: None }
    }
}

impl Way {
    /// The CWDs still to take on the way of `cwds`; none when it cannot be reached.
    pub(super) fn to(&self, cwds: &[Vec<u8>]) -> Option<Vec<Vec<u8>>> {
        if let Some(rest) = self.taken.as_ref().and_then(|taken| cwds.strip_prefix(&taken[..])) {
            return Some(rest.to_vec());
        }
        let home = self.home.clone()?;
        Some(std::iter::once(home).chain(cwds.iter().cloned()).collect())
    }

    /// A CWD was taken.
    pub(super) fn take(&mut self, cwd: &[u8]) {
        if self.home.as_deref() == Some(cwd) && cwd.starts_with(b"/") {
            self.taken = Some(Vec::new());
        } else if let Some(taken) = &mut self.taken {
            taken.push(cwd.to_vec());
        }
    }

    /// A CWD was refused; whether it was the way back to where the login led, which then is none.
    pub(super) fn lose(&mut self, cwd: &[u8]) -> bool {
        self.taken = None;
        self.home.take_if(|home| home == cwd).is_some()
    }

    /// The reply to PWD, taken before any CWD: the name in quotes, quotes in it doubled (RFC 959
    /// appendix II). Not every server doubles them, so that a name with quotes is none.
    pub(super) fn learn(&mut self, text: &[u8]) {
        let name = text.split(|&octet| octet == b'"').nth(1).unwrap_or_default();
        let has_two = text.iter().filter(|&&octet| octet == b'"').count() == 2;
        let is_sound = has_two && name.starts_with(b"/") && !name.contains(&0xff) && !name.contains(&0);
        self.home = is_sound.then(|| name.to_vec());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Vec<Vec<u8>> {
        text.split(' ').filter(|part| !part.is_empty()).map(|part| part.as_bytes().to_vec()).collect()
    }

    #[test]
    fn ways() {
        let mut way = Way::default();
        assert_eq!(way.to(&path("a b")), Some(path("a b")));
        way.take(b"a");
        way.take(b"b");
        assert_eq!(way.to(&path("a b")), Some(Vec::new()));
        assert_eq!(way.to(&path("a b c")), Some(path("c")));
        assert_eq!(way.to(&path("a")), None);
        assert_eq!(way.to(&path("x")), None);
        way.learn(b" \"/users/me\" is the current directory");
        assert_eq!(way.to(&path("x y")), Some(path("/users/me x y")));
        way.take(b"/users/me");
        assert_eq!(way.to(&path("x")), Some(path("x")));
        assert!(!way.lose(b"x"));
        assert_eq!(way.to(&path("x")), Some(path("/users/me x")));
        assert!(way.lose(b"/users/me"));
        assert_eq!(way.to(&path("x")), None);
    }

    #[test]
    fn a_way_that_is_lost_is_not_guessed() {
        let mut way = Way::default();
        way.lose(b"x");
        assert_eq!(way.to(&[]), None);
        for odd in ["\"/a\"\"b\"", "\"relative\"", "no quotes", "\"/open", ""] {
            way.learn(odd.as_bytes());
            assert_eq!(way.to(&[]), None, "{odd}");
        }
    }
}
