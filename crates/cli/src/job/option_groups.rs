//! The cookies, logs and files that the option groups of a command line (`--next`) share.

use std::path::PathBuf;

use fetch_url::Error;
use fetch_url::http::CookieJar;

use super::Invocation;
use crate::error::usage_error;
use crate::render::events::Events;

impl Invocation {
    /// If at least one option group has a cookie jar, gives all groups one jar with the cookies of all, as in curl.
    pub(crate) fn share_cookies(groups: &mut [Self]) -> Result<(), Error> {
        let lines: Vec<Vec<u8>> =
            groups.iter().filter_map(Self::cookies).map(CookieJar::to_netscape).collect();
        if groups.len() > 1 && !lines.is_empty() {
            let shared = CookieJar::from_netscape(&lines.join(&b'\n'))?;
            groups.iter_mut().for_each(|group| group.options.http.cookies = Some(shared.clone()));
        }
        Ok(())
    }

    /// Lets the option groups share their logs: one writer for each file of `--events`, the highest `-v`, and one
    /// `--trace`.
    ///
    /// # Errors
    /// `Code::Usage` if two groups have different values of `--trace`.
    pub(crate) fn share_logs(groups: &mut [Self]) -> Result<(), Error> {
        let mut events: Vec<Events> = groups.iter().filter_map(|group| group.events.clone()).collect();
        Events::share(&mut events);
        let with_events = groups.iter_mut().filter_map(|group| group.events.as_mut());
        with_events.zip(events).for_each(|(own, shared)| *own = shared);
        let mut traces = groups.iter().filter_map(|group| group.log.trace.clone());
        let trace = traces.next();
        if traces.any(|other| Some(other) != trace) {
            return Err(usage_error("--trace: all groups of --next are traced to one file"));
        }
        let verbose = groups.iter().map(|group| group.log.verbose).max().unwrap_or(0);
        for group in groups {
            (group.log.verbose, group.log.trace) = (verbose, trace.clone());
        }
        Ok(())
    }

    /// Tells each option group which files the groups before it read and the others write, so that no object replaces
    /// them. A file that a later group reads, such as that of `-T`, may be an object of an earlier one.
    pub(crate) fn share_files(groups: &mut [Self]) {
        let mut read_files = Vec::new();
        let written_files: Vec<Vec<PathBuf>> = groups.iter().map(Self::program_files).collect();
        let is_group = groups.len() > 1;
        for (index, group) in groups.iter_mut().enumerate() {
            group.is_group = is_group;
            read_files.append(&mut group.read_files);
            group.read_files.clone_from(&read_files);
            let others = written_files.iter().enumerate().filter(|(other, _)| *other != index);
            group.files_of_other_groups = others.flat_map(|(_, files)| files.iter().cloned()).collect();
        }
    }

    /// Returns the files that this group writes besides the objects.
    fn program_files(&self) -> Vec<PathBuf> {
        let journal = self.journal.iter().map(|journal| &journal.path);
        self.side_files.iter().chain(journal).cloned().collect()
    }
}
