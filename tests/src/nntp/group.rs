//! A newsgroup: its articles by number, and what the server reports about it.

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
    /// The numbers of articles that are generated on request.
    generated: Option<RangeInclusive<u64>>,
    /// Reported count, low and high number. `None`: the true ones.
    reported: Option<[String; 3]>,
    is_private: bool,
}

impl NntpGroup {
    /// An empty group that allows posting.
    #[must_use]
    pub fn new(name: impl AsRef<[u8]>) -> Self {
        Self {
            name: name.as_ref().to_vec(),
            description: Vec::new(),
            posting: "y".to_owned(),
            articles: BTreeMap::new(),
            generated: None,
            reported: None,
            is_private: false,
        }
    }

    /// Adds an article with this number. Other numbers do not exist.
    #[must_use]
    pub fn article(mut self, number: u64, article: NntpArticle) -> Self {
        self.articles.insert(number, article);
        self
    }

    /// Adds an article with the next number. The first is 1.
    #[must_use]
    pub fn append(self, article: NntpArticle) -> Self {
        let number = self.bounds().map_or(1, |(_, last)| last + 1);
        self.article(number, article)
    }

    /// Adds `count` articles from this number, with the subjects `entry 0000001` and so on, generated on
    /// request.
    #[must_use]
    pub fn generated(mut self, first: u64, count: u64) -> Self {
        self.generated = (count > 0).then(|| first..=first + (count - 1));
        self
    }

    /// Sets the text in LIST NEWSGROUPS.
    #[must_use]
    pub fn description(mut self, text: impl AsRef<[u8]>) -> Self {
        self.description = text.as_ref().to_vec();
        self
    }

    /// Sets the posting flag of LIST ACTIVE: `y`, `n`, `m`, or a flag that some servers add.
    #[must_use]
    pub fn posting(mut self, flag: &str) -> Self {
        flag.clone_into(&mut self.posting);
        self
    }

    /// Sets the reported number of articles, low and high number, independently of the articles in the group.
    #[must_use]
    pub fn reported_counts(mut self, count: impl ToString, low: impl ToString, high: impl ToString) -> Self {
        self.reported = Some([count.to_string(), low.to_string(), high.to_string()]);
        self
    }

    /// Requires a login: 480 without one, and no line in lists.
    #[must_use]
    pub fn private(mut self) -> Self {
        self.is_private = true;
        self
    }

    /// Adds `by` to all numbers.
    pub(crate) fn shifted(mut self, by: u64) -> Self {
        self.articles = self.articles.into_iter().map(|(number, article)| (number + by, article)).collect();
        self.generated = self.generated.map(|numbers| numbers.start() + by..=numbers.end() + by);
        self
    }

    pub(crate) fn name(&self) -> &[u8] {
        &self.name
    }

    pub(crate) fn is_private(&self) -> bool {
        self.is_private
    }

    /// Returns the numbers of reply 211. For an empty group RFC 3977 §6.1.1.2 allows a low number above the
    /// high one; older servers send 0.
    pub(crate) fn counts(&self, low_number_if_empty: u64) -> [String; 3] {
        let counted = || {
            let (low, high) = self.bounds().unwrap_or((low_number_if_empty, 0));
            [self.count(), low, high].map(|number| number.to_string())
        };
        self.reported.clone().unwrap_or_else(counted)
    }

    /// Returns the line of LIST ACTIVE.
    pub(crate) fn active_line(&self, low_number_if_empty: u64) -> Vec<u8> {
        let [_, low, high] = self.counts(low_number_if_empty);
        [&self.name, format!(" {high} {low} {}\r\n", self.posting).as_bytes()].concat()
    }

    /// Returns the line of LIST NEWSGROUPS.
    pub(crate) fn newsgroups_line(&self) -> Vec<u8> {
        [&self.name, &b"\t"[..], &self.description, b"\r\n"].concat()
    }

    /// Returns the article with this number.
    pub(crate) fn find(&self, number: u64) -> Option<Cow<'_, NntpArticle>> {
        let generate = || {
            let subject = format!("entry {number:07}");
            NntpArticle::post(&format!("many-{number}@test.invalid"), &subject, "One of many.\r\n")
        };
        let is_generated = self.generated.as_ref().is_some_and(|numbers| numbers.contains(&number));
        self.articles.get(&number).map(Cow::Borrowed).or_else(|| is_generated.then(|| Cow::Owned(generate())))
    }

    /// Returns the number of the article with this message-id.
    pub(crate) fn number_of(&self, is_same: impl Fn(&[u8]) -> bool, id: &[u8]) -> Option<u64> {
        let known = self.articles.iter().find(|(_, article)| is_same(article.id()));
        let generated = || {
            let number = id.strip_prefix(b"<many-")?.strip_suffix(b"@test.invalid>")?;
            let number = std::str::from_utf8(number).ok()?.parse().ok()?;
            self.generated.as_ref().is_some_and(|numbers| numbers.contains(&number)).then_some(number)
        };
        known.map(|(number, _)| *number).or_else(generated)
    }

    /// Returns the existing numbers in a range, in order.
    pub(crate) fn numbers(&self, range: RangeInclusive<u64>) -> impl Iterator<Item = u64> + '_ {
        let (first, last) = (*range.start(), *range.end());
        let generated = self.generated.clone();
        let generated = generated.filter(|numbers| *numbers.start() <= last && *numbers.end() >= first);
        let generated = generated.map(|numbers| first.max(*numbers.start())..=last.min(*numbers.end()));
        let is_empty = range.is_empty();
        let stored = self.articles.keys().copied().filter(move |number| !is_empty && range.contains(number));
        stored.chain(generated.into_iter().flatten().filter(move |_| !is_empty))
    }

    /// Returns the nearest existing number before or after this one.
    pub(crate) fn neighbour(&self, number: u64, is_next: bool) -> Option<u64> {
        match is_next {
            true => self.numbers(number.saturating_add(1)..=u64::MAX).next(),
            false => self.numbers(0..=number.checked_sub(1)?).last(),
        }
    }

    /// Returns the first and the last number.
    pub(crate) fn bounds(&self) -> Option<(u64, u64)> {
        let stored = self.articles.keys().next().zip(self.articles.keys().next_back());
        let generated = self.generated.as_ref().map(|numbers| (*numbers.start(), *numbers.end()));
        match (stored.map(|(first, last)| (*first, *last)), generated) {
            (Some((first, last)), Some((low, high))) => Some((first.min(low), last.max(high))),
            (stored, generated) => stored.or(generated),
        }
    }

    fn count(&self) -> u64 {
        let generated = self.generated.as_ref().map_or(0, |numbers| numbers.end() - numbers.start() + 1);
        self.articles.len() as u64 + generated
    }
}
