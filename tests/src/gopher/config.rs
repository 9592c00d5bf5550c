//! The configuration of a Gopher server: its items, whether it supports Gopher+, and its faults.

use std::time::Duration;

use crate::gopher::content::Content;
use crate::gopher::item::{GopherItem, GopherLength};
use crate::gopher::rule::{GopherAction, GopherRule, GopherTrigger};
use crate::server::plain_or_tls_connection::Ending;

/// What a Gopher server serves and how it behaves. The menu with the empty selector lists all items unless
/// the configuration contains another item with that selector.
#[derive(Clone, Debug)]
pub struct GopherConfig {
    items: Vec<GopherItem>,
    root: GopherItem,
    pub(crate) rules: Vec<GopherRule>,
    pub(crate) plus: Plus,
}

/// How Gopher+ is supported.
#[derive(Clone, Debug)]
pub(crate) struct Plus {
    pub(crate) is_supported: bool,
    pub(crate) filters_attributes: bool,
    /// How the length of attributes and errors is sent.
    pub(crate) length: GopherLength,
}

impl Default for GopherConfig {
    fn default() -> Self {
        Self::new()
    }
}

/// Items.
impl GopherConfig {
    /// A server of plain Gopher without items.
    #[must_use]
    pub fn new() -> Self {
        let nothing: [&[u8]; 0] = [];
        let mut root = GopherItem::menu("", &nothing).name("the root");
        for view in &mut root.views {
            view.content = Content::Menu(None);
        }
        let plus = Plus { is_supported: false, filters_attributes: true, length: GopherLength::Dot };
        Self { items: Vec::new(), root, rules: Vec::new(), plus }
    }

    /// Adds an item.
    #[must_use]
    pub fn item(mut self, item: GopherItem) -> Self {
        self.items.push(item);
        self
    }

    /// Supports Gopher+.
    #[must_use]
    pub fn plus(mut self) -> Self {
        self.plus.is_supported = true;
        self
    }

    /// Returns all attribute blocks for `!+NAME` and `$+NAME`: pygopherd.
    #[must_use]
    pub fn ignores_attribute_filters(mut self) -> Self {
        self.plus.filters_attributes = false;
        self
    }

    /// Sets how the length of attributes and errors is sent. The default is a terminating dot.
    #[must_use]
    pub fn attributes_length(mut self, length: GopherLength) -> Self {
        self.plus.length = length;
        self
    }

    /// Returns the item with a selector.
    pub(crate) fn find(&self, selector: &[u8]) -> Option<&GopherItem> {
        let found = self.items.iter().find(|item| item.selector == selector);
        found.or_else(|| selector.is_empty().then_some(&self.root))
    }

    /// Returns the items that a menu lists.
    pub(crate) fn listed<'a>(&'a self, content: &'a Content) -> Vec<&'a GopherItem> {
        match content {
            Content::Menu(None) => self.items.iter().collect(),
            Content::Menu(Some(selectors)) => selectors.iter().filter_map(|item| self.find(item)).collect(),
            _ => Vec::new(),
        }
    }
}

/// Faults. All of them are rules; these methods are short forms of frequent rules.
impl GopherConfig {
    /// Adds a rule.
    #[must_use]
    pub fn rule(mut self, rule: GopherRule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Takes this action on these requests.
    #[must_use]
    pub fn on(self, trigger: impl Into<GopherTrigger>, action: GopherAction) -> Self {
        self.rule(GopherRule::on(trigger, action))
    }

    /// Sends exactly these bytes as the response to every request.
    #[must_use]
    pub fn answer(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.on(GopherTrigger::Any, GopherAction::Answer(bytes.into()))
    }

    /// Cuts every response after this many bytes.
    #[must_use]
    pub fn cut(self, bytes: usize, ending: Ending) -> Self {
        self.on(GopherTrigger::Any, GopherAction::Cut(bytes as u64, ending))
    }

    /// Sends every response in pieces of this many bytes.
    #[must_use]
    pub fn drip(self, bytes: usize, pause: Duration) -> Self {
        self.on(GopherTrigger::Any, GopherAction::Drip(bytes, pause))
    }

    /// Keeps the connection open for this time after a response.
    #[must_use]
    pub fn stay_open(self, length: Duration) -> Self {
        self.on(GopherTrigger::Any, GopherAction::End(Ending::Stall(length)))
    }

    /// Sends this status line.
    #[must_use]
    pub fn status(self, line: &str) -> Self {
        self.on(GopherTrigger::Any, GopherAction::StatusLine(line.into()))
    }

    /// Sends a dot after every response, also where Gopher+ forbids it, as UMN gopherd does after `+N`.
    #[must_use]
    pub fn extra_dot(self) -> Self {
        self.on(GopherTrigger::Any, GopherAction::After(b".\r\n".to_vec()))
    }

    /// Sends no terminating dot.
    #[must_use]
    pub fn no_dot(self) -> Self {
        self.on(GopherTrigger::Any, GopherAction::NoTerminator)
    }
}
