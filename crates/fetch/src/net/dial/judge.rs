//! Who may be asked: ports by their protocol, addresses by their class, before anything is sent.

use std::net::IpAddr;
use std::sync::atomic::Ordering;

use fetch_url_core::{Host, Url};

use super::Dial;
use crate::net::address::AddressClass;
use crate::net::ports;
use crate::{Code, Error, Phase};

impl Dial {
    /// Through a proxy that looks names up, only an address that is written out can be judged.
    ///
    /// # Errors
    /// `policy`.
    pub(crate) fn check_behind_proxy(&self, host: &Host<'_>) -> Result<(), Error> {
        let address = match host {
            Host::V4(address) => IpAddr::V4(*address),
            Host::V6(address) => IpAddr::V6(*address),
            Host::Name(_) if self.dialer.reach.public_only => {
                let detail = format!("nobody here can tell where a proxy finds {host}");
                return Err(Error::new(Code::Policy, Phase::Proxy, detail));
            }
            // Wherever it is, it may not send us to an address of ours.
            Host::Name(_) => {
                self.was_public.store(true, Ordering::Relaxed);
                return Ok(());
            }
        };
        self.check_address(host, address)?;
        self.was_public.fetch_or(AddressClass::of(address).is_public(), Ordering::Relaxed);
        Ok(())
    }

    /// Whether only public addresses may be asked now.
    pub(crate) fn must_be_public(&self) -> bool {
        let reach = &self.dialer.reach;
        reach.public_only || (self.from_public && !reach.allow_private)
    }

    /// Whether an address that was approved is public.
    pub(crate) fn was_public(&self) -> bool {
        self.was_public.load(Ordering::Relaxed)
    }

    /// Ports of another protocol are refused (RFC 1738 §6), and where only public addresses may be
    /// asked, so are the files of this machine.
    pub(crate) fn check_url(&self, url: &Url<'_>) -> Result<(), Error> {
        if self.dialer.reach.public_only && matches!(url, Url::File(_)) {
            return Err(Error::new(Code::Policy, Phase::Plan, "a file of this machine is not public"));
        }
        let Some(port) = url.port().filter(|_| url.host().is_some()) else { return Ok(()) };
        if ports::is_allowed(url.scheme(), port) || self.dialer.reach.allowed_ports.contains(&port) {
            return Ok(());
        }
        let detail = format!("port {port} belongs to another protocol");
        Err(Error::new(Code::Policy, Phase::Connect, detail)
            .with_hint(format!("--allow-port {port} allows it")))
    }

    /// Whether `url`, to which an answer of this server leads, may be asked, as far as can be told without a look-up.
    pub(crate) fn would_ask(&self, url: &Url<'_>) -> bool {
        let next = Self { from_public: self.from_public || self.was_public(), ..self.clone() };
        let address = match url.host() {
            Some(Host::V4(address)) => Some(IpAddr::V4(address)),
            Some(Host::V6(address)) => Some(IpAddr::V6(address)),
            _ => None,
        };
        let is_in_reach = |address| AddressClass::of(address).is_public() || !next.must_be_public();
        next.check_url(url).is_ok() && address.is_none_or(is_in_reach)
    }

    pub(super) fn check_address(&self, host: &Host<'_>, address: IpAddr) -> Result<(), Error> {
        let class = AddressClass::of(address);
        if class.is_public() || !self.must_be_public() {
            return Ok(());
        }
        let detail = match host {
            Host::Name(_) => format!("{host} is {address}, a {} address", class.word()),
            _ => format!("{address} is a {} address", class.word()),
        };
        let error = Error::new(Code::Policy, Phase::Connect, detail);
        Err(if self.dialer.reach.public_only {
            error
        } else {
            error.with_hint("--allow-private allows a hop from a public address to it")
        })
    }
}
