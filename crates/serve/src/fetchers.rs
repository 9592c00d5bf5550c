//! The fetchers of a server, each with the policy for its URLs.

use std::net::SocketAddr;

use fetch_url::file::FileRoot;
use fetch_url::policy::Schemes;
use fetch_url::url::{HostPort, SCHEMES, SchemeFamily};
use fetch_url::{Code, Credential, Credentials, Error, Fetcher, Hint, Phase, Policy, TlsOptions, Url};

use crate::options::ServeOptions;

/// Fetches the objects that clients ask for.
#[derive(Debug)]
pub(crate) struct Fetchers {
    /// Returns redirects of http servers, which the client follows; each hop is then a request of its own.
    http: Fetcher,
    /// Follows redirects, which other schemes have within their own protocol.
    other: Fetcher,
    /// Reads local files below the directory.
    files: Option<(Fetcher, FileRoot)>,
    policy: Policy,
    tls: TlsOptions,
    credentials: Credentials,
}

impl Fetchers {
    /// Creates the fetchers for a server that listens on `endpoints`.
    ///
    /// # Errors
    /// `Code::Usage` for invalid certification authorities and for a directory that cannot be opened.
    pub(crate) fn new(options: &ServeOptions, endpoints: &[SocketAddr]) -> Result<Self, Error> {
        let mut policy = options.policy.clone();
        policy.network.public_only |= !policy.network.allow_private;
        policy.network.refused_endpoints.extend_from_slice(endpoints);
        policy.redirects.schemes = without_files(policy.redirects.schemes);
        policy.redirects.name_service_schemes = without_files(policy.redirects.name_service_schemes);
        let build = |policy: &Policy| {
            let builder = Fetcher::builder().policy(policy.clone()).tls(options.tls.clone());
            builder.credentials(options.credentials.clone()).try_build()
        };
        let files = match &options.file_root {
            None => None,
            Some(root) => {
                let root = FileRoot::open(root)?;
                let mut policy = Policy::default();
                policy.limits = options.policy.limits;
                policy.redirects.schemes = Schemes::only(["file"]);
                Some((Fetcher::builder().policy(policy).build(), root))
            }
        };
        Ok(Self {
            http: build(&returning_redirects(policy.clone()))?,
            other: build(&policy)?,
            files,
            policy,
            tls: options.tls.clone(),
            credentials: options.credentials.clone(),
        })
    }

    /// Returns the fetcher for `url`. With `login`, it is one of its own, so that connections with this login serve no
    /// other request.
    ///
    /// # Errors
    /// `Code::Policy` for local files that are not served.
    pub(crate) fn fetcher_for(&self, url: &Url<'_>, login: Option<Credential>) -> Result<Fetcher, Error> {
        if let Url::File(_) = url {
            let (fetcher, _) = self.files.as_ref().ok_or_else(files_refused)?;
            return Ok(fetcher.clone());
        }
        let is_http = matches!(url, Url::Http(_));
        let Some(login) = login else {
            return Ok(if is_http { self.http.clone() } else { self.other.clone() });
        };
        let policy = if is_http { returning_redirects(self.policy.clone()) } else { self.policy.clone() };
        let credentials = Credentials::default().for_origin(&url.to_string(), login)?;
        Fetcher::builder().policy(policy).tls(self.tls.clone()).credentials(credentials).try_build()
    }

    /// Returns `true` if requests for `url` have a login of this server, such as one of netrc.
    pub(crate) fn has_login_for(&self, url: &Url<'_>) -> bool {
        self.credentials.has_login_for(url)
    }

    /// Returns the directory of the local files that are served.
    ///
    /// # Errors
    /// `Code::Policy` if there is none.
    pub(crate) fn file_root(&self) -> Result<&FileRoot, Error> {
        self.files.as_ref().map(|(_, root)| root).ok_or_else(files_refused)
    }

    /// Returns `true` if local files are served.
    pub(crate) const fn serves_files(&self) -> bool {
        self.files.is_some()
    }

    /// Opens a connection for a tunnel: to the default port of a scheme that is fetched, or an allowed one.
    ///
    /// # Errors
    /// `Code::Policy` for other ports and for addresses that are not allowed; the errors of connecting.
    pub(crate) async fn connect(
        &self,
        server: &HostPort<'_>,
    ) -> Result<fetch_url::driver::ServerStream, Error> {
        let port = server.port().map_or(0, std::num::NonZeroU16::get);
        let has_scheme = SCHEMES.iter().any(|scheme| {
            let is_ours = !matches!(scheme.family, SchemeFamily::Other | SchemeFamily::Prospero);
            is_ours && scheme.default_port == Some(port)
        });
        if !has_scheme && !self.policy.network.allowed_ports.contains(&port) {
            let detail = format!("a tunnel to port {port}: only ports of the schemes that are served");
            return Err(Error::new(Code::Policy, Phase::Plan, detail).with_hint(Hint::Port(port)));
        }
        self.other.connect(server.host(), port).await
    }
}

fn files_refused() -> Error {
    let hint = "the option --allow-file DIR of fetch-url serve serves the files below DIR";
    Error::new(Code::Policy, Phase::Plan, "local files are not served").with_hint(hint)
}

/// Returns the schemes without `file`.
fn without_files(schemes: Schemes) -> Schemes {
    match schemes {
        Schemes::All => Schemes::Except(["file".to_owned()].into()),
        Schemes::Except(mut names) => {
            names.insert("file".to_owned());
            Schemes::Except(names)
        }
        Schemes::Only(mut names) => {
            names.remove("file");
            Schemes::Only(names)
        }
    }
}

fn returning_redirects(policy: Policy) -> Policy {
    policy.max_redirects(None)
}
