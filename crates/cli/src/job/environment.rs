//! The environment variables. No other file reads them.

use std::ffi::OsString;
use std::path::PathBuf;

use fetch_url::network::Proxies;

/// The schemes that have a proxy variable of their own.
const PROXY_SCHEMES: [&str; 12] =
    ["http", "https", "ftp", "ftps", "gopher", "gophers", "news", "nntp", "nntps", "snews", "telnet", "wais"];

/// Returns the path `~/.netrc`.
pub(super) fn netrc() -> Option<PathBuf> {
    non_empty_variable("HOME").map(|home| PathBuf::from(home).join(".netrc"))
}

/// Returns the path of the config file.
pub(crate) fn config() -> Option<PathBuf> {
    let home = || non_empty_variable("HOME").map(|home| PathBuf::from(home).join(".config"));
    let directory = non_empty_variable("XDG_CONFIG_HOME").map(PathBuf::from).or_else(home)?;
    Some(directory.join("fetch-url/config"))
}

/// Returns the proxies of the environment. `HTTP_PROXY` in capitals is ignored: a web server passes its clients'
/// `Proxy:` header to programs under that name.
pub(super) fn proxies() -> Proxies {
    let first = |names: &[String]| names.iter().find_map(|name| Some((name.clone(), text(name)?)));
    let mut proxies = Proxies::default();
    for scheme in PROXY_SCHEMES {
        let small = format!("{scheme}_proxy");
        let capital = small.to_ascii_uppercase();
        let names = if scheme == "http" { vec![small] } else { vec![small, capital] };
        if let Some((name, value)) = first(&names) {
            proxies = proxies.scheme_from_variable(scheme, &name, &value);
        }
    }
    if let Some((name, value)) = first(&["all_proxy".to_owned(), "ALL_PROXY".to_owned()]) {
        proxies = proxies.all_from_variable(&name, &value);
    }
    proxies
}

/// Returns `$NNTPSERVER`.
pub(super) fn news_server() -> Option<String> {
    text("NNTPSERVER").filter(|text| !text.is_empty())
}

/// Returns `$no_proxy`: hosts that are contacted directly.
pub(super) fn no_proxy() -> String {
    text("no_proxy").or_else(|| text("NO_PROXY")).unwrap_or_default()
}

fn text(name: &str) -> Option<String> {
    non_empty_variable(name)?.into_string().ok()
}

#[allow(clippy::disallowed_methods, reason = "the one place that reads the environment")]
fn non_empty_variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
