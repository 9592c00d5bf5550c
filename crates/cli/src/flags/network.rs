//! Options for addresses, ports, schemes and proxies.

use std::path::PathBuf;

use clap::{ArgAction, Args};
use fetch_url::network::{ConnectTo, Interface, ResolveOverride};

use super::route::{parse_connect_to, parse_interface, parse_resolve};

/// Options for addresses, ports, schemes and proxies.
#[derive(Args, Debug)]
pub struct NetworkFlags {
    /// Refuse every address that is not public
    ///
    /// Loopback, private, link-local and reserved addresses are refused, also after a redirect, and
    /// so are file URLs.
    #[arg(long)]
    pub public_only: bool,
    /// Allow a redirect from a public to a private address
    #[arg(long)]
    pub allow_private: bool,
    /// Allow a port that is blocked because another protocol uses it
    #[arg(long, value_name = "PORT", action = ArgAction::Append)]
    pub allow_port: Vec<u16>,
    /// Read FIFOs and devices named by file URLs
    #[arg(long)]
    pub special_files: bool,
    /// Schemes that may be fetched, such as =http,https or -ftp; default all
    ///
    /// The list is applied from left to right: + adds, - removes, = sets. all is every scheme.
    #[arg(long, value_name = "SCHEMES", allow_hyphen_values = true)]
    pub proto: Option<String>,
    /// Schemes that a redirect may go to (default =http,https)
    ///
    /// The syntax is that of --proto. Redirects from https to http are refused by default; they are allowed if
    /// this option is given and names http.
    #[arg(long, value_name = "SCHEMES", allow_hyphen_values = true)]
    pub proto_redir: Option<String>,
    /// Scheme of a URL without one, such as https (default http, or ftp for a host that begins with ftp.)
    #[arg(long, value_name = "SCHEME")]
    pub proto_default: Option<String>,
    /// Use IPv4 addresses only
    #[arg(short = '4', long, overrides_with = "ipv6")]
    pub ipv4: bool,
    /// Use IPv6 addresses only
    #[arg(short = '6', long)]
    pub ipv6: bool,
    /// Connect from this address or network device
    ///
    /// host!ADDRESS and if!DEVICE are unambiguous forms.
    #[arg(long, value_name = "NAME|ADDRESS", value_parser = parse_interface)]
    pub interface: Option<Interface>,
    /// Use ADDRESS for HOST at PORT instead of a host lookup
    ///
    /// Several addresses are separated by commas. HOST * is every host. Repeatable.
    #[arg(long, value_name = "HOST:PORT:ADDRESS", value_parser = parse_resolve, action = ArgAction::Append)]
    pub resolve: Vec<ResolveOverride>,
    /// Connect to HOST2 and PORT2 instead of HOST1 and PORT1
    ///
    /// An empty HOST1 or PORT1 matches all; an empty HOST2 or PORT2 keeps that of the URL. The first match is used. Repeatable.
    #[arg(long, value_name = "HOST1:PORT1:HOST2:PORT2", value_parser = parse_connect_to, action = ArgAction::Append)]
    pub connect_to: Vec<ConnectTo>,
    /// Connect to this Unix socket for http and https URLs
    ///
    /// There is no host lookup, and no proxy is used.
    #[arg(long, value_name = "FILE", conflicts_with = "interface")]
    pub unix_socket: Option<PathBuf>,
    /// Proxies.
    #[command(flatten)]
    pub proxy: ProxyFlags,
}

/// Options for proxies.
#[derive(Args, Debug)]
pub struct ProxyFlags {
    /// Use this proxy for every scheme that uses TCP
    ///
    /// SCHEME is http (default), https, socks4, socks4a, socks5 or socks5h; the default port is
    /// 1080. An HTTP proxy receives http and ftp URLs; everything else goes through a tunnel (CONNECT).
    /// "" disables the proxies of the environment.
    #[arg(short = 'x', long, value_name = "[SCHEME://]HOST[:PORT]",
          overrides_with_all = ["socks4", "socks4a", "socks5", "socks5_hostname"])]
    pub proxy: Option<String>,
    /// Use this SOCKS 4 proxy; host names are looked up here
    #[arg(long, value_name = "HOST[:PORT]",
          overrides_with_all = ["proxy", "socks4a", "socks5", "socks5_hostname"])]
    pub socks4: Option<String>,
    /// Use this SOCKS 4a proxy, which looks up host names
    #[arg(long, value_name = "HOST[:PORT]",
          overrides_with_all = ["proxy", "socks4", "socks5", "socks5_hostname"])]
    pub socks4a: Option<String>,
    /// Use this SOCKS 5 proxy; host names are looked up here
    #[arg(long, value_name = "HOST[:PORT]",
          overrides_with_all = ["proxy", "socks4", "socks4a", "socks5_hostname"])]
    pub socks5: Option<String>,
    /// Use this SOCKS 5 proxy, which looks up host names, such as Tor
    #[arg(long, value_name = "HOST[:PORT]",
          overrides_with_all = ["proxy", "socks4", "socks4a", "socks5"])]
    pub socks5_hostname: Option<String>,
    /// Open a tunnel (CONNECT) through an HTTP proxy for http and ftp URLs too
    #[arg(short = 'p', long)]
    pub proxytunnel: bool,
    /// Login for the proxy of -x or of the environment
    #[arg(short = 'U', long, value_name = "USER:PASSWORD")]
    pub proxy_user: Option<String>,
    /// Hosts, separated by commas, to connect to directly; * is every host
    #[arg(long, value_name = "HOSTS")]
    pub noproxy: Option<String>,
}
