//! What the caller allows: read by the engine and by `Dial`, never by a driver.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::{Proxies, Routes};

/// Times, limits, retries, hops and reach.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Policy {
    /// How long each phase may take.
    pub timeouts: Timeouts,
    /// How much may come.
    pub limits: Limits,
    /// When to try again.
    pub retry: Retry,
    /// Where an answer may send us.
    pub follow: Follow,
    /// Which addresses and ports may be asked.
    pub reach: Reach,
}

/// How long each phase may take.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Timeouts {
    /// To look up the host and open the connection, TLS included.
    pub connect: Duration,
    /// From the request to the beginning of its answer.
    pub reply: Duration,
    /// Without a single octet while the body comes.
    pub idle: Duration,
    /// For everything together.
    pub total: Option<Duration>,
}

impl Default for Timeouts {
    fn default() -> Self {
        let minute = Duration::from_secs(60);
        Self { connect: Duration::from_secs(30), reply: minute, idle: minute, total: None }
    }
}

/// How much may come.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Limits {
    /// The most octets of an object.
    pub max_size: Option<u64>,
    /// The most entries of a listing.
    pub max_entries: Option<u64>,
    /// The most octets of a body in a second.
    pub max_rate: Option<u64>,
    /// The fewest.
    pub min_rate: Option<MinRate>,
    /// An end that the protocol does not prove is none.
    pub requires_proof: bool,
}

/// A body that is slower than this for so long is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "--speed-limit and --speed-time are these two")]
pub struct MinRate {
    /// So many octets a second.
    pub octets_a_second: u64,
    /// So long.
    pub time: Duration,
}

/// When to try again what failed for a cause that passes.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Retry {
    /// The most times.
    pub most: u32,
    /// How long to wait each time; with none, one second at first, then twice as long each time.
    pub delay: Option<Duration>,
    /// Not after so long from the beginning.
    pub max_time: Option<Duration>,
    /// Whatever the cause was.
    pub all_errors: bool,
}

impl Default for Retry {
    fn default() -> Self {
        Self { most: 3, delay: None, max_time: None, all_errors: false }
    }
}

impl Retry {
    /// Never.
    pub const fn never() -> Self {
        Self { most: 0, delay: None, max_time: None, all_errors: false }
    }
}

/// Which schemes may be asked, and where an answer may send us.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Follow {
    /// The most hops; with none, an answer that points elsewhere is delivered as it is.
    pub max_hops: Option<u32>,
    /// The most hops that a name service (Prospero) may tell; they are counted apart.
    pub max_names: u32,
    /// Whether a hop may lead from https to http.
    pub allow_downgrade: bool,
    /// Which schemes may be asked at all.
    pub schemes: Schemes,
    /// Which of them a redirect may lead to; never a file of this machine.
    pub hop_schemes: Schemes,
    /// Which of them the ways may have that a name service (Prospero) tells.
    pub access_schemes: Schemes,
}

impl Default for Follow {
    fn default() -> Self {
        Self {
            max_hops: Some(10),
            max_names: 20,
            allow_downgrade: false,
            schemes: Schemes::All,
            hop_schemes: Schemes::only(["http", "https"]),
            access_schemes: Schemes::only(["ftp", "gopher", "http", "https", "prospero", "telnet", "wais"]),
        }
    }
}

/// Some schemes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "a set is written one way or the other")]
pub enum Schemes {
    /// Every one.
    All,
    /// Every one but these.
    Except(BTreeSet<String>),
    /// These.
    Only(BTreeSet<String>),
}

impl Schemes {
    /// These and no other.
    pub fn only<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        Self::Only(names.into_iter().map(str::to_ascii_lowercase).collect())
    }

    /// Whether `name` is one of them.
    pub fn has(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Except(names) => !names.contains(name),
            Self::Only(names) => names.contains(name),
        }
    }
}

/// Which addresses and ports may be asked.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Reach {
    /// Nothing but public addresses, the caller's own URL included.
    pub public_only: bool,
    /// A hop may lead from a public address to a private one.
    pub allow_private: bool,
    /// Ports that are allowed although they belong to another protocol.
    pub allowed_ports: Vec<u16>,
    /// The caller's own map of the network.
    pub routes: Routes,
    /// Who stands between us and the servers.
    pub proxies: Proxies,
}

impl Reach {
    /// For programs that fetch what strangers name: public addresses only.
    pub fn strict() -> Self {
        Self { public_only: true, ..Self::default() }
    }
}

impl Policy {
    /// For servers that fetch what strangers name: public addresses only, http and https only, few
    /// hops, everything bounded in time and size.
    pub fn strict() -> Self {
        let mut policy = Self { reach: Reach::strict(), ..Self::default() };
        policy.timeouts.total = Some(Duration::from_secs(300));
        policy.limits.max_size = Some(1 << 30);
        policy.follow.schemes = Schemes::only(["http", "https"]);
        policy.follow.max_hops = Some(5);
        policy
    }
}
