//! What the caller allows: read by the engine and by `Dial`, never by a driver.

use std::time::Duration;

/// Times, limits, hops and reach.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Policy {
    /// How long each phase may take.
    pub timeouts: Timeouts,
    /// How much may come.
    pub limits: Limits,
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
}

/// Where an answer may send us.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Follow {
    /// The most hops; with none, an answer that points elsewhere is delivered as it is.
    pub max_hops: Option<u32>,
    /// Whether a hop may lead from https to http.
    pub allow_downgrade: bool,
}

impl Default for Follow {
    fn default() -> Self {
        Self { max_hops: Some(10), allow_downgrade: false }
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
}

impl Reach {
    /// For programs that fetch what strangers name: public addresses only.
    pub fn strict() -> Self {
        Self { public_only: true, ..Self::default() }
    }
}
