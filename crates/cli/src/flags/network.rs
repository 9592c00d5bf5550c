//! Who may be asked, and by what way.

use clap::{ArgAction, Args};
use fetch_url::{AddressPin, Detour, Interface};

use super::route::{detour, interface, pin};

/// Who may be asked, and by what way.
#[derive(Args, Debug)]
pub struct Network {
    /// Refuse every address that is not public
    #[arg(long)]
    pub public_only: bool,
    /// Allow a redirect from a public address to a private one
    #[arg(long)]
    pub allow_private: bool,
    /// Allow a port that belongs to another protocol
    #[arg(long, value_name = "PORT", action = ArgAction::Append)]
    pub allow_port: Vec<u16>,
    /// Read FIFOs and devices too
    #[arg(long)]
    pub special_files: bool,
    /// The schemes that may be asked: =http,https or -ftp,... as curl writes them
    #[arg(long, value_name = "SCHEMES", allow_hyphen_values = true)]
    pub proto: Option<String>,
    /// The schemes that a redirect may lead to; naming http allows it from https too
    #[arg(long, value_name = "SCHEMES", allow_hyphen_values = true)]
    pub proto_redir: Option<String>,
    /// IPv4 addresses only
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    pub ipv4: bool,
    /// IPv6 addresses only
    #[arg(short = '6', long)]
    pub ipv6: bool,
    /// Connect from this address or device
    #[arg(long, value_name = "NAME|ADDRESS", value_parser = interface)]
    pub interface: Option<Interface>,
    /// HOST is at ADDRESS for PORT; several with commas between
    #[arg(long, value_name = "HOST:PORT:ADDRESS", value_parser = pin, action = ArgAction::Append)]
    pub resolve: Vec<AddressPin>,
    /// Ask HOST2 and PORT2 in place of HOST1 and PORT1; each may be left out
    #[arg(long, value_name = "HOST1:PORT1:HOST2:PORT2", value_parser = detour, action = ArgAction::Append)]
    pub connect_to: Vec<Detour>,
    /// Go through this proxy: http, https, socks4, socks4a, socks5, socks5h; "" is none
    #[arg(short = 'x', long, value_name = "[SCHEME://]HOST[:PORT]")]
    pub proxy: Option<String>,
    /// User and password for the proxy
    #[arg(short = 'U', long, value_name = "USER:PASSWORD", requires = "proxy")]
    pub proxy_user: Option<String>,
    /// Hosts that are asked directly, with commas between; * is everyone
    #[arg(long, value_name = "HOSTS")]
    pub noproxy: Option<String>,
}
