//! What holds after every fault: N1, N4, N7 and N8 of the fault matrix (SECURITY.md, section 3).

use std::time::Duration;

use fetch_url_tests::Target;

use super::{Ran, ended, ensure, journal_of, part_of, started, until};

/// N7: one line that names program and URL, hints on lines of their own, no panic.
pub(crate) fn report_is_one_line(ran: &Ran, server: &str) -> Result<(), String> {
    let lines: Vec<&str> = ran.stderr.lines().collect();
    let (talk, rest): (Vec<&str>, Vec<&str>) = lines.iter().partition(|line| line.starts_with("fetch-url: "));
    ensure(!ran.stderr.contains("panicked"), || format!("panicked: {}", ran.stderr))?;
    if ran.exit == 0 {
        return ensure(!talk.iter().any(|line| line.contains("rror")), || format!("talks: {}", ran.stderr));
    }
    ensure(talk.len() == 1, || format!("{} lines: {}", talk.len(), ran.stderr))?;
    // A chain of redirects may name the hop where it ended.
    ensure(talk[0].starts_with(&format!("fetch-url: {server}")), || format!("names no URL: {}", talk[0]))?;
    ensure(rest.iter().all(|line| line.starts_with("  hint: ")), || format!("not hints: {}", ran.stderr))
}

/// N1 and N4: the name holds the old or the whole; what is left is a true prefix beside its journal.
pub(crate) fn disk_is_sound(target: &Target, exit: i32, content: &[u8]) -> Result<(), String> {
    let error = |error: std::io::Error| error.to_string();
    let leftovers = target.leftovers().map_err(error)?;
    if exit == 0 {
        let is_whole = target.content().map_err(error)?.as_deref() == Some(content);
        ensure(is_whole, || "exit 0, and the content is another".to_owned())?;
        return ensure(leftovers.is_empty(), || format!("exit 0 leaves {leftovers:?}"));
    }
    ensure(target.is_untouched().map_err(error)?, || "the name was touched".to_owned())?;
    let (part, journal) = (part_of(&target.path()), journal_of(&target.path()));
    ensure(leftovers.iter().all(|path| *path == part || *path == journal), || {
        format!("leaves {leftovers:?}")
    })?;
    ensure(part.exists() || !journal.exists(), || "a journal of nothing".to_owned())?;
    match std::fs::read(&part) {
        Ok(octets) => ensure(content.starts_with(&octets), || "the .part is no prefix".to_owned()),
        Err(_) => Ok(()),
    }
}

/// The most memory that a run used, in KiB, and how it ended.
pub(crate) fn measured(arguments: &[&str]) -> (u64, Ran) {
    let mut child = started(arguments);
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    until(Duration::from_secs(25), || {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
        most = most.max(line.trim().trim_end_matches(" kB").parse().unwrap_or(0));
        child.try_wait().expect("our own child").is_some()
    });
    (most, ended(child))
}
