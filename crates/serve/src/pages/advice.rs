//! The page of a URL that names no object: how to open a mail or telnet URL (RFC 1738 §3.5, §3.8).

use fetch_url::Url;
use fetch_url::advice::NotFetchable;
use maud::html;

use super::shell::Shell;
use crate::link::Form;

/// Returns the page with `advice` for `url`.
pub(crate) fn advice_page(form: Form, url: &Url<'_>, advice: &NotFetchable) -> String {
    let shown = url.redacted().to_string();
    let is_mail = matches!(url, Url::Mailto(_));
    Shell::of_url("How to open this URL", form, url, &shown).page(&html! {
        h1 { "How to open this URL" }
        pre { (advice.text) }
        @if is_mail {
            p { a href=(url.to_string()) rel="noreferrer" { "Open it in the mail program" } }
        } @else {
            // As for every URL that another program gets, without the password.
            p { a href=(url.without_password().to_string()) rel="noreferrer" { "Open it in the program for " (url.scheme_name()) " URLs" } }
        }
    })
}
