//! The text of an answer, with an end or without, and what the rules make of it.

use crate::prospero::rule::ProsperoAct;
use crate::prospero::token::lines;

/// What one packet has room for.
const ROOM: usize = 1250;

/// A text in pieces.
#[derive(Debug)]
pub(crate) struct Text {
    octets: Vec<u8>,
    /// What stands behind them again and again; empty: nothing.
    endless: Vec<u8>,
    piece: usize,
}

impl Text {
    /// An honest text, and what the rules say.
    pub(crate) fn new(mut octets: Vec<u8>, acts: &[ProsperoAct]) -> Self {
        let (mut endless, mut piece) = (Vec::new(), ROOM);
        for act in acts {
            match act {
                ProsperoAct::Answer(text) => octets.clone_from(text),
                ProsperoAct::Before(text) => octets.splice(..0, text.iter().copied()).for_each(drop),
                ProsperoAct::Flood(text, times) => octets.splice(..0, text.repeat(*times)).for_each(drop),
                ProsperoAct::After(text) => octets.extend_from_slice(text),
                ProsperoAct::Between(text) => octets = between(&octets, text),
                ProsperoAct::CrLf => octets = with_returns(&octets),
                ProsperoAct::Cut(cut) => octets.truncate(cut.left(octets.len())),
                ProsperoAct::Endless(first, again) => (octets, endless) = (first.clone(), again.repeat(ROOM)),
                ProsperoAct::Pieces(size) => piece = (*size).max(1),
                _ => {}
            }
        }
        Self { octets, endless, piece }
    }

    /// How many packets it takes, at least one; none when it never ends.
    pub(crate) fn packets(&self) -> Option<u16> {
        let count = self.octets.len().div_ceil(self.piece).max(1);
        self.endless.is_empty().then(|| u16::try_from(count).unwrap_or(u16::MAX))
    }

    /// What the packet with this number, from 1, has.
    pub(crate) fn packet(&self, number: u16) -> Vec<u8> {
        let start = (usize::from(number).max(1) - 1) * self.piece;
        let end = start + self.piece;
        let length = self.octets.len();
        let mut octets = self.octets[start.min(length)..end.min(length)].to_vec();
        while !self.endless.is_empty() && octets.len() < self.piece {
            let at = (start + octets.len() - length) % self.endless.len();
            let more = (self.piece - octets.len()).min(self.endless.len() - at);
            octets.extend_from_slice(&self.endless[at..at + more]);
        }
        octets
    }
}

fn between(text: &[u8], more: &[u8]) -> Vec<u8> {
    let mut octets: Vec<u8> = lines(text).into_iter().flat_map(|line| [more, line].concat()).collect();
    octets.extend_from_slice(more);
    octets
}

fn with_returns(text: &[u8]) -> Vec<u8> {
    let line = |line: &[u8]| match line.strip_suffix(b"\n") {
        Some(line) => [line, b"\r\n"].concat(),
        None => line.to_vec(),
    };
    lines(text).into_iter().flat_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prospero::rule::ProsperoCut;

    fn whole(acts: &[ProsperoAct]) -> String {
        let text = Text::new(b"a\nb 'c\nd'\n".to_vec(), acts);
        let packets = 1..=text.packets().unwrap();
        String::from_utf8(packets.flat_map(|number| text.packet(number)).collect()).unwrap()
    }

    #[test]
    fn a_text_is_changed() {
        let rows = [
            (ProsperoAct::Answer(b"x".to_vec()), "x"),
            (ProsperoAct::Before(b"x\n".to_vec()), "x\na\nb 'c\nd'\n"),
            (ProsperoAct::Flood(b"x".to_vec(), 3), "xxxa\nb 'c\nd'\n"),
            (ProsperoAct::After(b"x".to_vec()), "a\nb 'c\nd'\nx"),
            (ProsperoAct::Between(b"x\n".to_vec()), "x\na\nx\nb 'c\nd'\nx\n"),
            (ProsperoAct::CrLf, "a\r\nb 'c\nd'\r\n"),
            (ProsperoAct::Cut(ProsperoCut::After(1)), "a"),
            (ProsperoAct::Pieces(3), "a\nb 'c\nd'\n"),
        ];
        for (act, expected) in rows {
            assert_eq!(whole(&[act]), expected);
        }
        assert_eq!(Text::new(Vec::new(), &[]).packets(), Some(1));
        assert_eq!(Text::new(vec![0; 2501], &[]).packets(), Some(3));
    }

    #[test]
    fn a_text_without_an_end_goes_on() {
        let endless = ProsperoAct::Endless(b"HEAD".to_vec(), b"xyz".to_vec());
        let text = Text::new(Vec::new(), &[endless, ProsperoAct::Pieces(5)]);
        assert_eq!(text.packets(), None);
        let packets: Vec<u8> = (1..=5).flat_map(|number| text.packet(number)).collect();
        assert_eq!(packets.escape_ascii().to_string(), "HEADxyzxyzxyzxyzxyzxyzxyz");
    }
}
