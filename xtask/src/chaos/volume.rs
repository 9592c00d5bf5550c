//! File systems of a round: a small one that fills, and one that becomes read-only.
//!
//! Only root can mount them. They are mounted in a mount namespace of their own, so nothing is left of them when the
//! process ends, however it ends.

use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The size without a restriction; the largest round needs less than 100 MB.
const LARGE: &str = "size=1g";

/// A mounted tmpfs, which is unmounted when it is dropped.
#[derive(Debug)]
pub(super) struct Volume {
    path: PathBuf,
}

impl Volume {
    /// Mounts a large tmpfs at `path`, an empty directory.
    pub(super) fn mount(path: &Path) -> Result<Self> {
        let words = ["-t", "tmpfs", "-o", LARGE, "tmpfs"];
        run(Command::new("mount").args(words).arg(path))?;
        Ok(Self { path: path.to_owned() })
    }

    /// Leaves `bytes` free for new content.
    pub(super) fn limit(&self, bytes: u32) -> Result<()> {
        let output = Command::new("df").args(["--output=used", "-B1"]).arg(&self.path).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let used: u64 = text.lines().last().and_then(|line| line.trim().parse().ok()).unwrap_or_default();
        self.remount(&format!("rw,size={}", used + u64::from(bytes)))
    }

    /// Rejects all changes.
    pub(super) fn make_read_only(&self) -> Result<()> {
        self.remount("ro")
    }

    /// Removes both restrictions.
    pub(super) fn release(&self) -> Result<()> {
        self.remount(&format!("rw,{LARGE}"))
    }

    fn remount(&self, options: &str) -> Result<()> {
        run(Command::new("mount").args(["-o", &format!("remount,{options}")]).arg(&self.path))
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        // Busy for a moment after a process of the round was killed: detached at once, unmounted a little later.
        if let Err(error) = run(Command::new("umount").arg("--lazy").arg(&self.path)) {
            println!("{} is not unmounted: {error}", self.path.display());
        }
    }
}

fn run(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(Error::other(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
}

/// Returns a command that runs `program` in a mount namespace of its own; the error says why this process cannot.
pub(super) fn in_mount_namespace(program: &Path) -> Result<Command> {
    run(Command::new("unshare").args(["--mount", "true"]))?;
    let mut command = Command::new("unshare");
    command.arg("--mount").arg(program);
    Ok(command)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Passes without a check where the test may not mount.
    #[test]
    fn full_volume_and_read_only_volume_reject_writes_until_they_are_released() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let Ok(volume) = Volume::mount(folder.path()) else { return Ok(()) };
        let file = folder.path().join("f");
        volume.limit(8192)?;
        assert!(fs::write(&file, vec![1; 100_000]).is_err());
        volume.release()?;
        fs::write(&file, vec![1; 100_000])?;
        volume.limit(0)?;
        assert!(fs::write(folder.path().join("g"), vec![1; 100_000]).is_err());
        volume.make_read_only()?;
        assert!(fs::write(&file, "x").is_err() && fs::remove_file(&file).is_err());
        volume.release()?;
        fs::remove_file(&file)?;
        drop(volume);
        assert!(fs::write(&file, "x").is_ok());
        Ok(())
    }
}
