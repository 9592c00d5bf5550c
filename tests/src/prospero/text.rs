//! The text of a response, changed by the rules and split into packets. It can be endless.

use crate::prospero::rule::ProsperoAction;
use crate::prospero::token::lines;

/// How many bytes of text dirsrv puts into a packet.
const PACKET_SIZE: usize = 1250;

/// A text in packets.
#[derive(Debug)]
pub(crate) struct ResponseText {
    bytes: Vec<u8>,
    /// Bytes that follow endlessly. Empty: the text ends.
    endless: Vec<u8>,
    packet_size: usize,
}

impl ResponseText {
    /// Applies the actions to the text of a response.
    pub(crate) fn new(mut bytes: Vec<u8>, actions: &[ProsperoAction]) -> Self {
        let (mut endless, mut packet_size) = (Vec::new(), PACKET_SIZE);
        for action in actions {
            match action {
                ProsperoAction::Answer(text) => bytes.clone_from(text),
                ProsperoAction::Before(text) => bytes = [text.as_slice(), &bytes].concat(),
                ProsperoAction::Flood(text, times) => bytes = [text.repeat(*times), bytes].concat(),
                ProsperoAction::After(text) => bytes.extend_from_slice(text),
                ProsperoAction::Between(text) => bytes = insert_between_lines(&bytes, text),
                ProsperoAction::CrLf => bytes = with_crlf(&bytes),
                ProsperoAction::Cut(cut) => bytes.truncate(cut.kept(bytes.len())),
                ProsperoAction::Endless(first, again) => {
                    (bytes, endless) = (first.clone(), again.repeat(PACKET_SIZE))
                }
                ProsperoAction::PacketSize(size) => packet_size = (*size).max(1),
                _ => {}
            }
        }
        Self { bytes, endless, packet_size }
    }

    /// Returns the number of packets, at least 1, or `None` for an endless text.
    pub(crate) fn packets(&self) -> Option<u16> {
        let count = self.bytes.len().div_ceil(self.packet_size).max(1);
        self.endless.is_empty().then(|| u16::try_from(count).unwrap_or(u16::MAX))
    }

    /// Returns the text of the packet with this number, from 1.
    pub(crate) fn packet(&self, number: u16) -> Vec<u8> {
        let start = (usize::from(number).max(1) - 1) * self.packet_size;
        let end = start + self.packet_size;
        let length = self.bytes.len();
        let mut bytes = self.bytes[start.min(length)..end.min(length)].to_vec();
        while !self.endless.is_empty() && bytes.len() < self.packet_size {
            let at = (start + bytes.len() - length) % self.endless.len();
            let more = (self.packet_size - bytes.len()).min(self.endless.len() - at);
            bytes.extend_from_slice(&self.endless[at..at + more]);
        }
        bytes
    }
}

fn insert_between_lines(text: &[u8], inserted: &[u8]) -> Vec<u8> {
    let mut bytes: Vec<u8> = lines(text).into_iter().flat_map(|line| [inserted, line].concat()).collect();
    bytes.extend_from_slice(inserted);
    bytes
}

fn with_crlf(text: &[u8]) -> Vec<u8> {
    let line = |line: &[u8]| match line.strip_suffix(b"\n") {
        Some(line) => [line, b"\r\n"].concat(),
        None => line.to_vec(),
    };
    lines(text).into_iter().flat_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::rule::CutPoint;

    fn changed(actions: &[ProsperoAction]) -> String {
        let text = ResponseText::new(b"a\nb 'c\nd'\n".to_vec(), actions);
        let packets = 1..=text.packets().unwrap();
        String::from_utf8(packets.flat_map(|number| text.packet(number)).collect()).unwrap()
    }

    #[test]
    fn actions_change_the_text() {
        let rows = [
            (ProsperoAction::Answer(b"x".to_vec()), "x"),
            (ProsperoAction::Before(b"x\n".to_vec()), "x\na\nb 'c\nd'\n"),
            (ProsperoAction::Flood(b"x".to_vec(), 3), "xxxa\nb 'c\nd'\n"),
            (ProsperoAction::After(b"x".to_vec()), "a\nb 'c\nd'\nx"),
            (ProsperoAction::Between(b"x\n".to_vec()), "x\na\nx\nb 'c\nd'\nx\n"),
            (ProsperoAction::CrLf, "a\r\nb 'c\nd'\r\n"),
            (ProsperoAction::Cut(CutPoint::After(1)), "a"),
            (ProsperoAction::PacketSize(3), "a\nb 'c\nd'\n"),
        ];
        for (action, expected) in rows {
            assert_eq!(changed(&[action]), expected);
        }
        assert_eq!(ResponseText::new(Vec::new(), &[]).packets(), Some(1));
        assert_eq!(ResponseText::new(vec![0; 2501], &[]).packets(), Some(3));
    }

    #[test]
    fn endless_text_fills_every_packet() {
        let endless = ProsperoAction::Endless(b"HEAD".to_vec(), b"xyz".to_vec());
        let text = ResponseText::new(Vec::new(), &[endless, ProsperoAction::PacketSize(5)]);
        assert_eq!(text.packets(), None);
        let packets: Vec<u8> = (1..=5).flat_map(|number| text.packet(number)).collect();
        assert_eq!(packets.escape_ascii().to_string(), "HEADxyzxyzxyzxyzxyzxyzxyz");
    }
}
