//! Connections: proxies, address policy, rate limits, retries, gateways.

mod gateways;
mod given_certificates;
mod hostile_proxies;
mod policy;
mod proxies;
mod proxy_choice;
mod rate_limits;
mod retry;
mod suspension;
