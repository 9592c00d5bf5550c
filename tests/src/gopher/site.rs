//! What a gopher server of the tests is told: its items, whether it knows Gopher+, and its faults.

use std::time::Duration;

use crate::ftp::rule::Ending;
use crate::gopher::content::Content;
use crate::gopher::item::{GopherItem, GopherLength};
use crate::gopher::rule::{GopherAct, GopherOn, GopherRule};

/// A site. The menu with the empty selector is of all items unless it is one of them.
#[derive(Clone, Debug)]
pub struct GopherSite {
    items: Vec<GopherItem>,
    root: GopherItem,
    pub(crate) rules: Vec<GopherRule>,
    pub(crate) plus: Plus,
}

/// What of Gopher+ is known.
#[derive(Clone, Debug)]
pub(crate) struct Plus {
    pub(crate) is_known: bool,
    pub(crate) filters: bool,
    /// How the length of attributes and complaints is told.
    pub(crate) length: GopherLength,
}

impl Default for GopherSite {
    fn default() -> Self {
        Self::new()
    }
}

/// What there is.
impl GopherSite {
    /// Nothing, in plain gopher.
    #[must_use]
    pub fn new() -> Self {
        let nothing: [&[u8]; 0] = [];
        let mut root = GopherItem::menu("", &nothing).name("the root");
        for view in &mut root.views {
            view.content = Content::Menu(None);
        }
        let plus = Plus { is_known: false, filters: true, length: GopherLength::Dot };
        Self { items: Vec::new(), root, rules: Vec::new(), plus }
    }

    /// One more item.
    #[must_use]
    pub fn item(mut self, item: GopherItem) -> Self {
        self.items.push(item);
        self
    }

    /// The server knows Gopher+.
    #[must_use]
    pub fn plus(mut self) -> Self {
        self.plus.is_known = true;
        self
    }

    /// `!+NAME` and `$+NAME` get all blocks: pygopherd.
    #[must_use]
    pub fn without_filters(mut self) -> Self {
        self.plus.filters = false;
        self
    }

    /// How the length of attributes and complaints is told; if not said, by a dot.
    #[must_use]
    pub fn attributes_end(mut self, length: GopherLength) -> Self {
        self.plus.length = length;
        self
    }

    /// The item of a selector.
    pub(crate) fn find(&self, selector: &[u8]) -> Option<&GopherItem> {
        let found = self.items.iter().find(|item| item.selector == selector);
        found.or_else(|| selector.is_empty().then_some(&self.root))
    }

    /// The items of a menu.
    pub(crate) fn listed<'a>(&'a self, content: &'a Content) -> Vec<&'a GopherItem> {
        match content {
            Content::Menu(None) => self.items.iter().collect(),
            Content::Menu(Some(selectors)) => selectors.iter().filter_map(|item| self.find(item)).collect(),
            _ => Vec::new(),
        }
    }
}

/// Faults. All of them are rules; those with a name here are frequent.
impl GopherSite {
    /// One more rule.
    #[must_use]
    pub fn rule(mut self, rule: GopherRule) -> Self {
        self.rules.push(rule);
        self
    }

    /// What happens at these requests.
    #[must_use]
    pub fn on(self, on: impl Into<GopherOn>, act: GopherAct) -> Self {
        self.rule(GopherRule::on(on, act))
    }

    /// The exact octets of all answers.
    #[must_use]
    pub fn answer(self, octets: impl Into<Vec<u8>>) -> Self {
        self.on(GopherOn::Any, GopherAct::Answer(octets.into()))
    }

    /// Every answer is cut after so many octets.
    #[must_use]
    pub fn cut(self, octets: usize, ending: Ending) -> Self {
        self.on(GopherOn::Any, GopherAct::Cut(octets as u64, ending))
    }

    /// Every answer is in pieces of so many octets.
    #[must_use]
    pub fn drip(self, octets: usize, pause: Duration) -> Self {
        self.on(GopherOn::Any, GopherAct::Drip(octets, pause))
    }

    /// The connection is not closed for this time after an answer.
    #[must_use]
    pub fn lingering(self, length: Duration) -> Self {
        self.on(GopherOn::Any, GopherAct::End(Ending::Stall(length)))
    }

    /// Another status line than the true one.
    #[must_use]
    pub fn status(self, line: &str) -> Self {
        self.on(GopherOn::Any, GopherAct::Status(line.into()))
    }

    /// A lone dot after every answer, wherever it has no place: UMN after `+N`.
    #[must_use]
    pub fn extra_dot(self) -> Self {
        self.on(GopherOn::Any, GopherAct::Last(b".\r\n".to_vec()))
    }

    /// No answer has its final dot.
    #[must_use]
    pub fn no_dot(self) -> Self {
        self.on(GopherOn::Any, GopherAct::NoDot)
    }
}
