//! The start page: a field for a URL, what each scheme is, the last errors of the client.

use std::net::IpAddr;

use maud::html;

use super::shell::Shell;
use crate::field_text::time_text;
use crate::link::Form;
use crate::shared::Shared;

/// The schemes: name, what it is, an example.
const SCHEMES: [(&str, &str, &str); 9] = [
    ("gopher, gophers", "menus and files of the internet before the web", "gopher://gopher.floodgap.com/1/"),
    ("ftp, ftps", "directories and files", "ftp://ftp.gnu.org/gnu/"),
    ("news, nntp, snews, nntps", "Usenet newsgroups and articles", "news:comp.lang.rust"),
    ("wais", "full-text searches in databases", "wais://host/database"),
    ("prospero", "directories that lead to files on other servers", "prospero://host/name"),
    ("http, https", "web pages, without their scripts", "http://info.cern.ch/"),
    ("file", "local files, if the server was started with --allow-file", "file:///"),
    ("telnet", "sessions: the page shows the command", "telnet://host/"),
    ("mailto", "mail addresses: the page shows the address", "mailto:user@host"),
];

/// Returns the page for `client`.
pub(crate) fn start_page(shared: &Shared, client: IpAddr) -> String {
    let errors = shared.recent_errors.of_client(client);
    let schemes = SCHEMES.iter().filter(|(name, ..)| *name != "file" || shared.fetchers.serves_files());
    Shell { title: "Start", form: Form::Path, url: None, crumbs: Vec::new() }.page(&html! {
        h1 { "Open a URL of any scheme" }
        p { "Type a URL above, or put it behind the address of this page, such as " code { "/gopher://host/1/" } ". \
             Programs can use this server as their HTTP proxy." }
        section aria-labelledby="schemes" {
            h2 #schemes { "Schemes" }
            table.wide {
                thead { tr { th scope="col" { "Scheme" } th scope="col" { "What it is" } th scope="col" { "Example" } } }
                tbody {
                    @for (name, what, example) in schemes {
                        tr {
                            td.name { strong { (name) } }
                            td { (what) }
                            td {
                                @if example.contains("host") { code { (example) } }
                                @else { a href=(format!("/{example}")) { (example) } }
                            }
                        }
                    }
                }
            }
        }
        section aria-labelledby="errors" {
            h2 #errors { "Last errors" }
            @if errors.is_empty() { p.muted { "None." } }
            @else {
                ul {
                    @for error in &errors {
                        li { (error.url) ": " (error.message) " " small { (time_text(error.time)) " UTC" } }
                    }
                }
            }
        }
        p.muted { (shared.answers()) " requests since the start." }
    })
}
