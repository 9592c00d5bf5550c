//! Parses the capability list of a server (RFC 3977 §5.2).

/// The capabilities that this client uses. All are `false` until the server has sent its list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Capabilities {
    pub(super) reader: bool,
    pub(super) over: bool,
    pub(super) deflate: bool,
    /// The server is in transit mode: MODE READER must precede the commands of readers.
    pub(super) mode_reader: bool,
}

impl Capabilities {
    /// Parses one line of the list and records its capability.
    pub(super) fn read(&mut self, line: &[u8]) {
        let mut words = line.split(|byte| matches!(byte, b' ' | b'\t')).filter(|word| !word.is_empty());
        let Some(label) = words.next() else { return };
        match label.to_ascii_uppercase().as_slice() {
            b"READER" => self.reader = true,
            b"OVER" => self.over = true,
            b"MODE-READER" => self.mode_reader = true,
            b"COMPRESS" => self.deflate = words.any(|word| word.eq_ignore_ascii_case(b"DEFLATE")),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capability_lines_are_recorded() {
        let mut read = Capabilities::default();
        for line in
            ["", " \t", "VERSION 2", "reader", "OVER MSGID", "COMPRESS LZ deflate", "OVERDUE", "mode-reader"]
        {
            read.read(line.as_bytes());
        }
        assert_eq!(read, Capabilities { reader: true, over: true, deflate: true, mode_reader: true });
    }
}
