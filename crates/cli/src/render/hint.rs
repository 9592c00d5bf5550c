//! The text of hints, with the names of command line options.

use fetch_url::Hint;

/// Returns a sentence with the option that helps, in a form that can be pasted.
pub(crate) fn hint_text(hint: &Hint) -> String {
    match hint {
        Hint::AnswerForm(number) => format!("use --form {number}=VALUE to answer it"),
        Hint::BasicLogin => {
            "--anyauth also allows Basic, which sends the password in plain text unless the URL is https"
                .to_owned()
        }
        Hint::CertificateName => {
            "use a name of the certificate in the URL; --connect-to ::HOST:PORT keeps the server".to_owned()
        }
        Hint::CertificateTime => {
            "check the clock; -k accepts any certificate, also that of an attacker".to_owned()
        }
        Hint::ClientCertificate => "use --cert FILE for the client certificate".to_owned(),
        Hint::ClientKey => {
            "--key FILE gives the private key, if it is not in the certificate's file".to_owned()
        }
        Hint::Connect => "use --connect to open the session in this terminal".to_owned(),
        Hint::CustomAuthority => {
            "--cacert FILE trusts the authority, or the certificate itself if it is self-signed".to_owned()
        }
        Hint::Direct => "--noproxy HOST connects to a host directly".to_owned(),
        Hint::Downgrade => {
            "the redirect leads from https to http; --proto-redir =http,https allows it".to_owned()
        }
        Hint::FtpAccount => "use --ftp-account ACCOUNT".to_owned(),
        Hint::InsecureLogin => {
            "passwords are not sent without TLS; use nntps:, or --insecure-auth to send them in plain text"
                .to_owned()
        }
        Hint::Login => {
            "give user and password by -u USER and --password-file FILE, by --netrc, or at a terminal"
                .to_owned()
        }
        Hint::NewsServer => {
            "name the server with --news-server HOST or the environment variable NNTPSERVER".to_owned()
        }
        Hint::PassiveMode => "without -P, the data connection goes through the proxy too".to_owned(),
        Hint::Port(port) => format!("--allow-port {port} allows it"),
        Hint::PrivateRedirect => {
            "--allow-private allows redirects from public to private addresses".to_owned()
        }
        Hint::ProxyLogin => "-U USER:PASSWORD gives the login for the proxy".to_owned(),
        Hint::ProxyTunnel => "-p sends FTP through the proxy with CONNECT".to_owned(),
        Hint::SpecialFiles => "--special-files reads FIFOs and devices".to_owned(),
        other => other.to_string(),
    }
}
