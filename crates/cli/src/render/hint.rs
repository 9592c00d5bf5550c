//! The text of hints, with the names of command line options.

use fetch_url::Hint;

/// Returns the sentence for a person: the option that helps, in a form that can be pasted.
pub(crate) fn hint_text(hint: &Hint) -> String {
    match hint {
        Hint::AnswerForm(number) => format!("--form {number}=VALUE answers it"),
        Hint::ClientCertificate => "--cert FILE gives the client certificate".to_owned(),
        Hint::ClientKey => {
            "--key FILE gives the private key, if it is not in the certificate's file".to_owned()
        }
        Hint::Connect => "fetch-url --connect opens the session here".to_owned(),
        Hint::CustomAuthority => "--cacert FILE trusts another certification authority".to_owned(),
        Hint::Direct => "--noproxy HOST connects to a host directly".to_owned(),
        Hint::Downgrade => "the redirect leaves TLS; --proto-redir =http,https allows it".to_owned(),
        Hint::FtpAccount => "--ftp-account ACCOUNT sends it".to_owned(),
        Hint::InsecureLogin => {
            "passwords are not sent without TLS; use nntps:, or --insecure-auth to send them in plain text"
                .to_owned()
        }
        Hint::Login => "give a user name with -u USER, --netrc or --ask-password".to_owned(),
        Hint::NewsServer => {
            "name the server with --news-server HOST or the environment variable NNTPSERVER".to_owned()
        }
        Hint::Port(port) => format!("--allow-port {port} allows it"),
        Hint::PrivateRedirect => {
            "--allow-private allows redirects from public to private addresses".to_owned()
        }
        Hint::SpecialFiles => "--special-files reads FIFOs and devices".to_owned(),
        other => other.to_string(),
    }
}
