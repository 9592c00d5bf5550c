//! Commands of the FTP server about paths and about the server itself, answered on the control connection.

use crate::ftp::config::EmptyCwd;
use crate::ftp::session::{Session, Stop};
use crate::ftp::tree::{ListFormat, Node};

/// Commands, each with its line in FEAT.
const FEATURES: [(&str, &str); 10] = [
    ("AUTH", " AUTH TLS\r\n"),
    ("EPRT", " EPRT\r\n"),
    ("EPSV", " EPSV\r\n"),
    ("MDTM", " MDTM\r\n"),
    ("MLST", " MLST type*;size*;modify*;\r\n"),
    ("PBSZ", " PBSZ\r\n"),
    ("PROT", " PROT\r\n"),
    ("REST", " REST STREAM\r\n"),
    ("SIZE", " SIZE\r\n"),
    ("OPTS", " UTF8\r\n"),
];
/// The features that need TLS.
const TLS_FEATURES: [&str; 3] = ["AUTH", "PBSZ", "PROT"];
const NO_FILE: &str = "550 No such file or directory.\r\n";

impl Session<'_> {
    pub(crate) fn cwd(&mut self, name: &[u8]) -> Result<(), Stop> {
        if name.is_empty() {
            return self.cwd_without_path();
        }
        let path = self.path(name);
        if !self.shared.config.tree.is_directory(&path) {
            return self.reply("550 Failed to change directory.\r\n");
        }
        self.working_directory = path;
        self.reply("250 Directory changed.\r\n")
    }

    fn cwd_without_path(&mut self) -> Result<(), Stop> {
        match self.shared.config.behaviour.empty_cwd {
            EmptyCwd::Rejected501 => self.reply("501 Invalid number of arguments.\r\n"),
            EmptyCwd::Rejected550 => self.reply("550 Failed to change directory.\r\n"),
            EmptyCwd::ToLoginDirectory => {
                self.working_directory = self.shared.config.login_directory.clone();
                self.reply("250 Home again.\r\n")
            }
        }
    }

    pub(crate) fn pwd(&mut self) -> Result<(), Stop> {
        let mut reply = b"257 \"".to_vec();
        for byte in &self.working_directory {
            reply.extend(std::iter::repeat_n(*byte, if *byte == b'"' { 2 } else { 1 }));
        }
        reply.extend_from_slice(b"\" is the current directory\r\n");
        self.reply(reply)
    }

    pub(crate) fn set_type(&mut self, name: &[u8]) -> Result<(), Stop> {
        match name.to_ascii_uppercase().as_slice() {
            b"I" | b"L 8" => self.data.is_image = true,
            b"A" | b"A N" => self.data.is_image = false,
            _ => return self.reply("504 Type not supported.\r\n"),
        }
        self.reply("200 Type set.\r\n")
    }

    pub(crate) fn set_mode_or_structure(&mut self, verb: &str, name: &[u8]) -> Result<(), Stop> {
        match (verb, name.to_ascii_uppercase().as_slice()) {
            ("MODE", b"S") | ("STRU", b"F") => self.reply("200 ok.\r\n"),
            _ => self.reply("504 Not supported.\r\n"),
        }
    }

    /// Replies the size of the stored file, for TYPE I only: the size depends on the type (RFC 3659 §4).
    pub(crate) fn size(&mut self, name: &[u8]) -> Result<(), Stop> {
        let path = self.path(name);
        match self.shared.config.tree.file(&path) {
            None => self.reply(NO_FILE),
            Some(_) if !self.data.is_image => self.reply("550 SIZE not allowed in ASCII mode.\r\n"),
            Some(content) => self.reply(format!("213 {}\r\n", content.size())),
        }
    }

    pub(crate) fn mdtm(&mut self, name: &[u8]) -> Result<(), Stop> {
        let path = self.path(name);
        let tree = &self.shared.config.tree;
        match tree.node(&path) {
            Some(Node::File(_)) => self.reply(format!("213 {}\r\n", tree.modified(&path))),
            _ => self.reply(NO_FILE),
        }
    }

    pub(crate) fn mlst(&mut self, name: &[u8]) -> Result<(), Stop> {
        let path = self.path(name);
        let tree = &self.shared.config.tree;
        if tree.node(&path).is_none() {
            return self.reply(NO_FILE);
        }
        let facts = tree.facts(&path, "");
        self.reply([b"250-Listing\r\n ", facts.as_bytes(), b" ", &path, b"\r\n250 End\r\n"].concat())
    }

    pub(crate) fn stat(&mut self, name: &[u8]) -> Result<(), Stop> {
        if name.is_empty() {
            return self.reply("211-Status\r\n all is well\r\n211 End of status\r\n");
        }
        let path = self.path(name);
        let mut reply = b"213-Status follows:\r\n".to_vec();
        let listing = self.shared.config.tree.listing(&path, b"", ListFormat::Long);
        listing.for_each(|block| reply.extend_from_slice(&block));
        reply.extend_from_slice(b"213 End of status\r\n");
        self.reply(reply)
    }

    pub(crate) fn feat(&mut self) -> Result<(), Stop> {
        let unknown = &self.shared.config.unknown_commands;
        let has_tls = self.shared.tls.is_some();
        let offered = FEATURES.iter().filter(|(verb, _)| {
            (has_tls || !TLS_FEATURES.contains(verb)) && !unknown.iter().any(|unknown| unknown == verb)
        });
        let lines: String = offered.map(|(_, line)| *line).collect();
        self.reply(format!("211-Features:\r\n{lines}211 End\r\n"))
    }

    pub(crate) fn opts(&mut self, argument: &[u8]) -> Result<(), Stop> {
        let argument = argument.to_ascii_uppercase();
        match argument.starts_with(b"UTF8") || argument.starts_with(b"MLST") {
            true => self.reply("200 Always.\r\n"),
            false => self.reply("501 Option not understood.\r\n"),
        }
    }
}
