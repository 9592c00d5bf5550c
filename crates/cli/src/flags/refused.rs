//! Options of a fetch that other sub-commands define, too, but refuse when they are used.

/// Options by their ids. The sub-command rejects them, ignores them in config files, and does not list them in its help.
#[derive(Clone, Copy, Debug)]
pub struct RefusedOptions {
    own: &'static [&'static str],
}

/// Options that apply to one file, which no sub-command for many files accepts.
const ONE_FILE: &[&str] = &[
    "output",
    "remote_name",
    "remote_name_all",
    "remote_header_name",
    "dump_header",
    "upload_file",
    "etag_save",
    "etag_compare",
    "remove_on_error",
    "input_file",
    "checksum",
    "time_cond",
    "range",
    "head",
    "include",
    "no_fail",
    "fail_with_body",
    "list_only",
    "connect",
    "open",
];

/// Options that `mirror` refuses, because they apply to a single object, or because it always does the opposite.
pub const SINGLE_OBJECT_OPTIONS: RefusedOptions = RefusedOptions {
    own: &[
        "output_dir",
        "keep_both",
        "metalink",
        "no_clobber",
        "globoff",
        "method",
        "data",
        "data_raw",
        "data_binary",
        "data_urlencode",
        "json",
        "form",
        "form_string",
        "form_escape",
        "get",
        "format",
        "list_format",
    ],
};

/// Options that `queue work` refuses: they name files or lines of one machine, or an existing file would be an error,
/// although a line may be handed out again after its file is complete. It reads no configuration file.
pub const BATCH_OPTIONS: RefusedOptions = RefusedOptions {
    own: &[
        "keep_both",
        "no_clobber",
        "metalink",
        "dry_run",
        "next_group",
        "continue_at",
        "continue_flag",
        "fail_early",
        "cookie_jar",
        "config",
        "disable",
    ],
};

impl RefusedOptions {
    /// Returns the ids of the options.
    pub fn ids(self) -> impl Iterator<Item = &'static str> {
        ONE_FILE.iter().chain(self.own).copied()
    }

    /// Returns `true` if the option is refused.
    pub fn contains(self, id: &str) -> bool {
        self.ids().any(|refused| refused == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirror_refuses_all_options_that_send_data() {
        let command = crate::flags::command();
        for argument in command.get_arguments() {
            let id = argument.get_id().as_str();
            let sends = ["data", "form", "json", "upload"].iter().any(|start| id.starts_with(start));
            assert!(!sends || SINGLE_OBJECT_OPTIONS.contains(id), "{id}");
        }
    }

    #[test]
    fn every_refused_option_exists() {
        let command = crate::flags::command();
        for id in SINGLE_OBJECT_OPTIONS.ids().chain(BATCH_OPTIONS.ids()) {
            let is_built = cfg!(feature = "open") || id != "open";
            let exists = command.get_arguments().any(|argument| argument.get_id() == id);
            assert!(exists || !is_built, "{id} is not an option");
        }
    }
}
