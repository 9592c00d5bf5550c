//! The policy options: timeouts, limits, retries, redirects, network.

use std::time::Duration;

use fetch_url::network::{AddressFamily, Proxies};
use fetch_url::policy::{MinRate, NetworkPolicy, Schemes};
use fetch_url::{Error, Policy, Proxy};

use super::environment;
use crate::error::usage_error;
use crate::flags::{FetchFlags, NetworkFlags, ProxyFlags};

/// Makes the policy from the flags.
pub(super) fn policy(flags: &FetchFlags) -> Result<Policy, Error> {
    let mut policy = Policy::default();
    // 0 means no limit, as in curl.
    let bounded = |time: Duration| if time.is_zero() { Duration::MAX } else { time };
    policy.timeouts.connect = bounded(flags.connect_timeout);
    policy.timeouts.reply = bounded(flags.read_timeout);
    policy.timeouts.idle = bounded(flags.read_timeout);
    policy.timeouts.total = flags.max_time.filter(|time| !time.is_zero());
    policy.limits.max_size = flags.max_filesize.filter(|size| *size > 0);
    policy.limits.max_entries = flags.max_entries;
    policy.limits.requires_proof = flags.require_complete;
    policy.limits.max_rate = flags.limit_rate.filter(|rate| *rate > 0);
    policy.limits.min_rate = min_rate(flags);
    policy.retry.max_retries = flags.retry;
    policy.retry.delay = flags.retry_delay.filter(|time| !time.is_zero());
    policy.retry.max_time = flags.retry_max_time.filter(|time| !time.is_zero());
    policy.retry.all_errors = flags.retry_all_errors;
    policy.redirects.max_redirects = (!flags.no_location).then_some(flags.max_redirs);
    policy.redirects.trust_other_servers = flags.http.location_trusted;
    // A `--max-redirs` below the default also lowers the limit for redirects of name services.
    policy.redirects.max_name_service_redirects =
        policy.redirects.max_name_service_redirects.min(flags.max_redirs.saturating_mul(2));
    if let Some(text) = &flags.network.proto {
        policy.redirects.schemes = schemes(text, Schemes::All)?;
    }
    if let Some(text) = &flags.network.proto_redir {
        policy.redirects.redirect_schemes = schemes(text, policy.redirects.redirect_schemes)?;
        policy.redirects.name_service_schemes = schemes(text, policy.redirects.name_service_schemes)?;
        policy.redirects.allow_downgrade = names_http(text) && policy.redirects.redirect_schemes.has("http");
    }
    policy.network = network_policy(&flags.network)?;
    Ok(policy)
}

/// The schemes of the URLs that a server names for an object, and whether such a URL may lead from TLS to plain text.
#[derive(Clone, Debug)]
pub(crate) struct NamedUrls {
    pub(super) schemes: Schemes,
    pub(super) allow_downgrade: bool,
}

impl NamedUrls {
    /// Without `--proto-redir`, all schemes that a document may name.
    pub(super) fn of(flags: &NetworkFlags) -> Result<Self, Error> {
        let Some(text) = &flags.proto_redir else {
            return Ok(Self { schemes: Schemes::All, allow_downgrade: false });
        };
        let schemes = schemes(text, Schemes::only(["ftp", "ftps", "http", "https"]))?;
        Ok(Self { allow_downgrade: names_http(text) && schemes.has("http"), schemes })
    }
}

/// Each of `-Y` and `-y` has a default when the other is given, as in curl; 0 means no limit.
fn min_rate(flags: &FetchFlags) -> Option<MinRate> {
    let is_asked = flags.speed_limit.is_some() || flags.speed_time.is_some();
    let bytes_a_second = flags.speed_limit.unwrap_or(1);
    let time = flags.speed_time.unwrap_or(Duration::from_secs(30));
    (is_asked && bytes_a_second > 0 && !time.is_zero())
        .then_some(MinRate { bytes_per_second: bytes_a_second, time })
}

fn network_policy(flags: &NetworkFlags) -> Result<NetworkPolicy, Error> {
    let mut policy = NetworkPolicy::default();
    policy.public_only = flags.public_only;
    policy.allow_private = flags.allow_private;
    policy.allowed_ports.clone_from(&flags.allow_port);
    policy.routes.overrides.clone_from(&flags.resolve);
    policy.routes.connect_to.clone_from(&flags.connect_to);
    policy.routes.interface.clone_from(&flags.interface);
    policy.routes.unix_socket.clone_from(&flags.unix_socket);
    policy.routes.family = match (flags.ipv4, flags.ipv6) {
        (true, _) => Some(AddressFamily::V4),
        (_, true) => Some(AddressFamily::V6),
        _ => None,
    };
    policy.proxies = proxies(&flags.proxy)?;
    Ok(policy)
}

/// Makes the proxies from the flags. A proxy of the command line replaces those of the environment; an empty `-x` means
/// none.
pub(crate) fn proxies(flags: &ProxyFlags) -> Result<Proxies, Error> {
    let direct = flags.noproxy.clone().unwrap_or_else(environment::no_proxy);
    let socks = [
        ("socks4", &flags.socks4),
        ("socks4a", &flags.socks4a),
        ("socks5", &flags.socks5),
        ("socks5h", &flags.socks5_hostname),
    ];
    // At most one is set: clap keeps the last one.
    let socks = socks.into_iter().find_map(|(scheme, host)| Some((scheme, host.as_deref()?)));
    let proxies = match (flags.proxy.as_deref(), socks) {
        (Some(""), _) => Proxies::default(),
        (Some(text), _) => Proxies::default().all(Proxy::parse(text)?),
        (None, Some((scheme, host))) => Proxies::default().all(Proxy::parse(&format!("{scheme}://{host}"))?),
        (None, None) => environment::proxies(),
    };
    let login = flags.proxy_user.as_deref().map(fetch_url::Credential::from_text);
    let proxies = match login {
        Some(login) => proxies.with_login(&login),
        None => proxies,
    };
    Ok(proxies.direct(&direct).tunnel(flags.proxytunnel))
}

/// Parses curl's syntax for a set of schemes: `=http,https`, `-ftp`, `+gopher`, `all`, in order.
fn schemes(text: &str, mut set: Schemes) -> Result<Schemes, Error> {
    for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        let (sign, name) = match word.split_at(1) {
            (sign @ ("=" | "+" | "-"), name) => (sign, name),
            _ => ("+", word),
        };
        let name = name.to_ascii_lowercase();
        if name != "all" && fetch_url::url::find_scheme(&name).is_none() && !name.starts_with("x-") {
            return Err(usage_error(format!("unknown scheme {name:?}")));
        }
        set = apply_sign(set, sign, name);
    }
    Ok(set)
}

fn apply_sign(set: Schemes, sign: &str, name: String) -> Schemes {
    match (sign, name.as_str(), set) {
        ("-", "all", _) => Schemes::only([]),
        (_, "all", _) => Schemes::All,
        ("=", _, _) => Schemes::Only([name].into()),
        ("-", _, Schemes::All) => Schemes::Except([name].into()),
        ("-", _, Schemes::Except(mut names)) => {
            names.insert(name);
            Schemes::Except(names)
        }
        ("-", _, Schemes::Only(mut names)) => {
            names.remove(&name);
            Schemes::Only(names)
        }
        (_, _, Schemes::All) => Schemes::All,
        (_, _, Schemes::Except(mut names)) => {
            names.remove(&name);
            Schemes::Except(names)
        }
        (_, _, Schemes::Only(mut names)) => {
            names.insert(name);
            Schemes::Only(names)
        }
    }
}

/// Returns `true` if the list names `http` or `all`, so that redirects to `http` are allowed.
fn names_http(text: &str) -> bool {
    text.split(',').any(|word| matches!(word.trim().trim_start_matches(['=', '+']), "http" | "all"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scheme_sets_are_parsed_or_rejected() {
        let of = |text| schemes(text, Schemes::All);
        assert_eq!(of("=http,https").ok(), Some(Schemes::only(["http", "https"])));
        assert_eq!(of("-all,https").ok(), Some(Schemes::only(["https"])));
        assert_eq!(
            of("-ftp,-gopher").ok(),
            Some(Schemes::Except(["ftp".to_owned(), "gopher".to_owned()].into()))
        );
        assert_eq!(of("-ftp,+ftp").ok(), Some(Schemes::Except([].into())));
        assert_eq!(of("all").ok(), Some(Schemes::All));
        assert!(of("=htp").is_err());
        let redir = |text| schemes(text, Schemes::only(["http", "https"])).ok();
        assert_eq!(redir("ftp"), Some(Schemes::only(["http", "https", "ftp"])));
        assert_eq!(redir("-http"), Some(Schemes::only(["https"])));
        assert!(names_http("=http,https") && !names_http("=https") && !names_http("-http"));
    }
}
