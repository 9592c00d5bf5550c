//! The state of a running server: its configuration, its rules and its request log; and the frame that
//! accepts TCP connections for it.

use std::io::Result;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::Deref;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::server::listener::{Listener, locked};
use crate::server::rule::{Rule, RuleSet, Trigger};
use crate::server::tcp_connection::TcpConnection;

/// The types that differ between servers: their rules and their log.
pub(crate) trait Service: Send + Sync + Sized + 'static {
    type Trigger: Trigger + Send + Sync;
    type Action: Clone + Send + Sync;
    /// A request as it is logged.
    type Request: Clone + Send;
    /// Log entries other than requests and bytes.
    type Counters: Default + Send;
}

/// A service over TCP.
pub(crate) trait TcpService: Service {
    /// The name of its threads.
    const NAME: &'static str;
    /// Maximum wait for a client.
    const IDLE_TIMEOUT: Duration = Duration::from_secs(10);

    /// Serves one connection to its end. `number` counts connections from 0.
    fn serve(server: &Shared<Self>, number: usize, wire: TcpConnection);
}

/// The state that all connections of a server share.
pub(crate) struct Shared<S: Service> {
    service: S,
    rules: RuleSet<S::Trigger, S::Action>,
    log: Mutex<Log<S>>,
}

/// The bytes that a server has received and sent.
pub(crate) struct Log<S: Service> {
    /// In the order of arrival, each with the number of its connection.
    pub(crate) requests: Vec<(usize, S::Request)>,
    /// Before TLS and compression.
    pub(crate) bytes_sent: u64,
    pub(crate) counters: S::Counters,
}

/// A running TCP server. It stops when dropped.
pub(crate) struct RunningServer<S: Service> {
    listener: Listener,
    shared: Arc<Shared<S>>,
}

impl<S: Service> Shared<S> {
    pub(crate) fn new(service: S, rules: Vec<Rule<S::Trigger, S::Action>>) -> Self {
        let log = Log { requests: Vec::new(), bytes_sent: 0, counters: S::Counters::default() };
        Self { service, rules: RuleSet::new(rules), log: Mutex::new(log) }
    }

    /// Returns the actions of the rules for this event.
    pub(crate) fn actions(&self, event: <S::Trigger as Trigger>::Event<'_>) -> Vec<S::Action> {
        self.rules.actions(event)
    }

    pub(crate) fn rules(&self) -> &RuleSet<S::Trigger, S::Action> {
        &self.rules
    }

    /// Changes the log.
    pub(crate) fn record(&self, change: impl FnOnce(&mut Log<S>)) {
        change(&mut locked(&self.log));
    }

    /// Logs a request.
    pub(crate) fn record_request(&self, number: usize, request: S::Request) {
        self.record(|log| log.requests.push((number, request)));
    }

    /// Logs sent bytes.
    pub(crate) fn record_sent(&self, bytes: usize) {
        self.record(|log| log.bytes_sent += bytes as u64);
    }

    /// Reads from the log.
    pub(crate) fn read_log<T>(&self, read: impl FnOnce(&Log<S>) -> T) -> T {
        read(&locked(&self.log))
    }

    /// Returns all requests in the order of arrival.
    pub(crate) fn requests(&self) -> Vec<S::Request> {
        self.read_log(|log| log.requests.iter().map(|(_, request)| request.clone()).collect())
    }
}

/// The configuration of the server.
impl<S: Service> Deref for Shared<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.service
    }
}

impl<S: TcpService> RunningServer<S> {
    /// Starts a server on 127.0.0.1.
    pub(crate) fn start(service: S, rules: Vec<Rule<S::Trigger, S::Action>>) -> Result<Self> {
        Self::start_on(Ipv4Addr::LOCALHOST.into(), service, rules)
    }

    /// Starts a server on this address and a free port.
    pub(crate) fn start_on(ip: IpAddr, service: S, rules: Vec<Rule<S::Trigger, S::Action>>) -> Result<Self> {
        let shared = Arc::new(Shared::new(service, rules));
        let served = Arc::clone(&shared);
        let serve = move |number, wire| S::serve(&served, number, wire);
        Ok(Self { listener: Listener::start(S::NAME, ip, S::IDLE_TIMEOUT, serve)?, shared })
    }
}

impl<S: Service> RunningServer<S> {
    pub(crate) fn addr(&self) -> SocketAddr {
        self.listener.addr()
    }

    /// Returns the number of accepted connections.
    pub(crate) fn connections(&self) -> usize {
        self.listener.accepted()
    }

    /// Returns the requests of each connection, in the order of accepting.
    pub(crate) fn requests_by_connection(&self) -> Vec<Vec<S::Request>> {
        let mut all = vec![Vec::new(); self.connections()];
        self.read_log(|log| {
            for (number, request) in &log.requests {
                if *number >= all.len() {
                    all.resize_with(number + 1, Vec::new);
                }
                all[*number].push(request.clone());
            }
        });
        all
    }

    /// Returns the number of bytes sent to all clients, before TLS and compression.
    pub(crate) fn bytes_sent(&self) -> u64 {
        self.read_log(|log| log.bytes_sent)
    }

    /// From now on no rule applies.
    pub(crate) fn disable_rules(&self) {
        self.rules.disable();
    }
}

impl<S: Service> Deref for RunningServer<S> {
    type Target = Shared<S>;

    fn deref(&self) -> &Shared<S> {
        &self.shared
    }
}
