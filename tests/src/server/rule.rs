//! Rules: deviations of a server from the protocol. A rule has a trigger, an action and, if it applies only
//! once, the occurrence of the trigger.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// The condition of a rule. Each protocol has its own trigger, such as [`FtpTrigger`](crate::FtpTrigger).
pub trait Trigger {
    /// An event that rules are checked for, such as a command line or a new connection.
    type Event<'e>: Copy;

    /// Returns `true` if the rule applies to this event.
    fn matches(&self, event: Self::Event<'_>) -> bool;
}

/// One deviation from the protocol: the action that the server takes on a trigger. Actions for the same event
/// are taken in the order of their rules.
#[derive(Clone, Debug)]
pub struct Rule<T, A> {
    trigger: T,
    nth: Option<usize>,
    action: A,
}

impl<T, A> Rule<T, A> {
    /// A rule that applies each time.
    pub fn on(trigger: impl Into<T>, action: A) -> Self {
        Self { trigger: trigger.into(), nth: None, action }
    }

    /// Applies the rule only the `nth` time that its trigger matches: from 1, counted over all connections.
    #[must_use]
    pub fn nth(self, nth: usize) -> Self {
        Self { nth: Some(nth), ..self }
    }
}

/// All rules of a running server.
pub(crate) struct RuleSet<T, A> {
    /// Each rule, and how often its trigger has matched. An event is counted for all rules at once, so that two
    /// events of different connections cannot be the `nth` of the same number for different rules.
    rules: Mutex<Vec<(Rule<T, A>, usize)>>,
    is_disabled: AtomicBool,
}

impl<T: Trigger, A: Clone> RuleSet<T, A> {
    pub(crate) fn new(rules: Vec<Rule<T, A>>) -> Self {
        let rules = rules.into_iter().map(|rule| (rule, 0)).collect();
        Self { rules: Mutex::new(rules), is_disabled: AtomicBool::new(false) }
    }

    /// Returns the actions for an event and counts it for every rule that matches.
    pub(crate) fn actions(&self, event: T::Event<'_>) -> Vec<A> {
        if self.is_disabled() {
            return Vec::new();
        }
        let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        let matching = rules.iter_mut().filter(|(rule, _)| rule.trigger.matches(event));
        let due = matching.filter_map(|(rule, count)| {
            *count += 1;
            rule.nth.is_none_or(|nth| nth == *count).then(|| rule.action.clone())
        });
        due.collect()
    }

    /// From now on no rule applies.
    pub(crate) fn disable(&self) {
        self.is_disabled.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_disabled(&self) -> bool {
        self.is_disabled.load(Ordering::Relaxed)
    }
}

/// The trigger of servers without rules.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoTrigger;

impl Trigger for NoTrigger {
    type Event<'e> = ();

    fn matches(&self, (): ()) -> bool {
        false
    }
}

/// The position at which a reply is cut.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CutPoint {
    /// After this many bytes.
    After(usize),
    /// This many bytes before its end.
    BeforeEnd(usize),
    /// In the middle.
    Half,
}

impl CutPoint {
    /// Returns how many of `length` bytes are kept.
    pub(crate) fn kept(self, length: usize) -> usize {
        match self {
            Self::After(bytes) => bytes.min(length),
            Self::BeforeEnd(bytes) => length.saturating_sub(bytes),
            Self::Half => length / 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Longer(usize);

    impl Trigger for Longer {
        type Event<'e> = &'e str;

        fn matches(&self, event: &str) -> bool {
            event.len() > self.0
        }
    }

    #[test]
    fn actions_are_those_of_matching_rules_in_order() {
        let rules: Vec<Rule<Longer, &str>> = vec![
            Rule::on(Longer(0), "first"),
            Rule::on(Longer(3), "long"),
            Rule::on(Longer(0), "second time").nth(2),
        ];
        let set = RuleSet::new(rules);
        assert_eq!(set.actions(""), [""; 0]);
        assert_eq!(set.actions("word"), ["first", "long"]);
        assert_eq!(set.actions("a"), ["first", "second time"]);
        assert_eq!(set.actions("a"), ["first"]);
        set.disable();
        assert_eq!(set.actions("word"), [""; 0]);
    }

    #[test]
    fn cut_point_keeps_the_bytes_before_it() {
        let rows = [
            (CutPoint::After(3), 3),
            (CutPoint::After(30), 9),
            (CutPoint::BeforeEnd(1), 8),
            (CutPoint::Half, 4),
        ];
        for (cut, kept) in rows {
            assert_eq!(cut.kept(9), kept, "{cut:?}");
        }
    }
}
