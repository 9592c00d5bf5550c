//! Connections: proxies, address policy, rate limits, retries, gateways.

mod ftp_over_http;
mod gateways;
mod given_certificates;
mod hostile_proxies;
mod hostile_tunnels;
mod named_urls;
mod policy;
mod proxies;
mod proxy_choice;
mod rate_limits;
mod retry;
mod suspension;
mod tunnels;
