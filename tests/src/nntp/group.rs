//! A newsgroup: its articles by number, with holes, and what the server says of it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::nntp::article::NntpArticle;

/// A newsgroup.
#[derive(Clone, Debug)]
pub struct NntpGroup {
    name: Vec<u8>,
    description: Vec<u8>,
    posting: String,
    articles: BTreeMap<u64, NntpArticle>,
    /// Numbers whose articles are made when they are asked for.
    crowd: Option<RangeInclusive<u64>>,
    /// Count, low and high, if the server does not count.
    said: Option<[String; 3]>,
    is_private: bool,
}

impl NntpGroup {
    /// An empty group that one may post to.
    #[must_use]
    pub fn new(name: impl AsRef<[u8]>) -> Self {
        Self {
            name: name.as_ref().to_vec(),
            description: Vec::new(),
            posting: "y".to_owned(),
            articles: BTreeMap::new(),
            crowd: None,
            said: None,
            is_private: false,
        }
    }

    /// An article under a number. Numbers that nobody names are holes.
    #[must_use]
    pub fn article(mut self, number: u64, article: NntpArticle) -> Self {
        self.articles.insert(number, article);
        self
    }

    /// An article under the next number; the first is 1.
    #[must_use]
    pub fn next(self, article: NntpArticle) -> Self {
        let number = self.bounds().map_or(1, |(_, last)| last + 1);
        self.article(number, article)
    }

    /// So many articles from this number on, `entry 0000001` and so on, made as they are sent.
    #[must_use]
    pub fn crowd(mut self, first: u64, count: u64) -> Self {
        self.crowd = (count > 0).then(|| first..=first + (count - 1));
        self
    }

    /// What LIST NEWSGROUPS says.
    #[must_use]
    pub fn description(mut self, text: impl AsRef<[u8]>) -> Self {
        self.description = text.as_ref().to_vec();
        self
    }

    /// The posting flag of LIST ACTIVE: `y`, `n`, `m`, or what some servers have beside these.
    #[must_use]
    pub fn posting(mut self, flag: &str) -> Self {
        flag.clone_into(&mut self.posting);
        self
    }

    /// The server says these for the number of articles, the low and the high one, whatever is there.
    #[must_use]
    pub fn said_to_be(mut self, count: impl ToString, low: impl ToString, high: impl ToString) -> Self {
        self.said = Some([count.to_string(), low.to_string(), high.to_string()]);
        self
    }

    /// Only for those who have logged in: 480 for all others, and no line in a list.
    #[must_use]
    pub fn private(mut self) -> Self {
        self.is_private = true;
        self
    }

    /// All numbers are greater by so much.
    pub(crate) fn shifted(mut self, by: u64) -> Self {
        self.articles = self.articles.into_iter().map(|(number, article)| (number + by, article)).collect();
        self.crowd = self.crowd.map(|numbers| numbers.start() + by..=numbers.end() + by);
        self
    }

    pub(crate) fn name(&self) -> &[u8] {
        &self.name
    }

    pub(crate) fn is_private(&self) -> bool {
        self.is_private
    }

    /// What stands in front of the name in reply 211. Empty groups differ: RFC 3977 §6.1.1.2 lets `low` be
    /// greater than `high`, older servers say 0.
    pub(crate) fn counts(&self, low_of_empty: u64) -> [String; 3] {
        let counted = || {
            let (low, high) = self.bounds().unwrap_or((low_of_empty, 0));
            [self.count(), low, high].map(|number| number.to_string())
        };
        self.said.clone().unwrap_or_else(counted)
    }

    /// Its line in LIST ACTIVE.
    pub(crate) fn active(&self, low_of_empty: u64) -> Vec<u8> {
        let [_, low, high] = self.counts(low_of_empty);
        [&self.name, format!(" {high} {low} {}\r\n", self.posting).as_bytes()].concat()
    }

    /// Its line in LIST NEWSGROUPS.
    pub(crate) fn described(&self) -> Vec<u8> {
        [&self.name, &b"\t"[..], &self.description, b"\r\n"].concat()
    }

    /// The article of this number.
    pub(crate) fn at(&self, number: u64) -> Option<Cow<'_, NntpArticle>> {
        let made = || {
            let subject = format!("entry {number:07}");
            NntpArticle::post(&format!("crowd-{number}@test.invalid"), &subject, "One of many.\r\n")
        };
        let is_made = self.crowd.as_ref().is_some_and(|crowd| crowd.contains(&number));
        self.articles.get(&number).map(Cow::Borrowed).or_else(|| is_made.then(|| Cow::Owned(made())))
    }

    /// The number of the article with this message-id.
    pub(crate) fn number_of(&self, is_it: impl Fn(&[u8]) -> bool, id: &[u8]) -> Option<u64> {
        let known = self.articles.iter().find(|(_, article)| is_it(article.id()));
        let crowd = || {
            let number = id.strip_prefix(b"<crowd-")?.strip_suffix(b"@test.invalid>")?;
            let number = std::str::from_utf8(number).ok()?.parse().ok()?;
            self.crowd.as_ref().is_some_and(|crowd| crowd.contains(&number)).then_some(number)
        };
        known.map(|(number, _)| *number).or_else(crowd)
    }

    /// The numbers there are in a range, in order.
    pub(crate) fn numbers(&self, range: RangeInclusive<u64>) -> impl Iterator<Item = u64> + '_ {
        let (first, last) = (*range.start(), *range.end());
        let crowd = self.crowd.clone().filter(|crowd| *crowd.start() <= last && *crowd.end() >= first);
        let crowd = crowd.map(|crowd| first.max(*crowd.start())..=last.min(*crowd.end()));
        let is_empty = range.is_empty();
        let named = self.articles.keys().copied().filter(move |number| !is_empty && range.contains(number));
        named.chain(crowd.into_iter().flatten().filter(move |_| !is_empty))
    }

    /// The nearest number before or after this one.
    pub(crate) fn beside(&self, number: u64, is_next: bool) -> Option<u64> {
        match is_next {
            true => self.numbers(number.saturating_add(1)..=u64::MAX).next(),
            false => self.numbers(0..=number.checked_sub(1)?).last(),
        }
    }

    /// The first number and the last.
    pub(crate) fn bounds(&self) -> Option<(u64, u64)> {
        let named = self.articles.keys().next().zip(self.articles.keys().next_back());
        let crowd = self.crowd.as_ref().map(|crowd| (*crowd.start(), *crowd.end()));
        match (named.map(|(first, last)| (*first, *last)), crowd) {
            (Some((first, last)), Some((low, high))) => Some((first.min(low), last.max(high))),
            (named, crowd) => named.or(crowd),
        }
    }

    fn count(&self) -> u64 {
        let crowd = self.crowd.as_ref().map_or(0, |crowd| crowd.end() - crowd.start() + 1);
        self.articles.len() as u64 + crowd
    }
}
