//! The page of an error.

use http::StatusCode;
use maud::html;

use super::shell::Shell;
use crate::link::Form;

/// The texts of an error page.
pub(crate) struct ErrorPage<'a> {
    pub(crate) status: StatusCode,
    /// The stable name of the error.
    pub(crate) code: &'a str,
    pub(crate) detail: &'a str,
    pub(crate) hint: Option<&'a str>,
    /// The URL, without its password.
    pub(crate) url: Option<&'a str>,
    pub(crate) form: Form,
}

/// Returns the page.
pub(crate) fn error_page(error: &ErrorPage<'_>) -> String {
    let title = error.status.canonical_reason().unwrap_or("Error");
    let shell = Shell { title, form: error.form, url: error.url, crumbs: Vec::new() };
    shell.page(&html! {
        h1 { (title) }
        p.note.bad { (error.detail) }
        @if let Some(hint) = error.hint { p { "Hint: " (hint) } }
        dl {
            @if let Some(url) = error.url { dt { "URL" } dd { (url) } }
            dt { "Status" } dd { (error.status.as_u16()) }
            dt { "Code" } dd { (error.code) }
        }
        @if error.form == Form::Path {
            p { a href="/" { "Start page" } }
        }
    })
}
