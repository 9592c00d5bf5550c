//! Links of HTML pages and style sheets: what a page refers to, and whether a browser loads it with the page.
//!
//! The readers resolve references, but do not decide which of them are fetched. Scripts are not run, so links that a
//! script creates are not found.

mod css;
#[cfg(feature = "html")]
mod elements;
#[cfg(feature = "html")]
mod html;
mod kind;

use fetch_url_core::{parse, resolve_reference};

pub use self::css::CssLinks;
#[cfg(feature = "html")]
pub use self::html::HtmlLinks;
pub use self::kind::PageKind;

/// The maximum length of a reference in bytes. Longer references are ignored.
const MAX_REFERENCE_BYTES: usize = 8 * 1024;

/// A link of a page or style sheet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "a link has a target and a kind")]
pub struct PageLink {
    /// The target: an absolute URL without fragment, user name and password.
    pub url: String,
    /// `true` if a browser loads the target to show the page: images, style sheets, scripts, fonts, frames. `false` if
    /// it loads the target only when the user follows the link.
    pub is_requisite: bool,
}

/// Resolves a reference against `base`, as browsers do: outer white space, tabs and line breaks are removed, spaces are
/// encoded. Returns `None` if the reference is too long or names no server, as `javascript:` and `data:` references.
fn resolve_link(base: &str, reference: &str) -> Option<String> {
    if reference.len() > MAX_REFERENCE_BYTES {
        return None;
    }
    let reference: String = reference.trim().chars().filter(|letter| !"\t\r\n".contains(*letter)).collect();
    let target = resolve_reference(base, &reference.replace(' ', "%20"));
    let target = target.split('#').next().unwrap_or_default();
    let url = parse(target).ok()?.url;
    url.host()?;
    Some(url.with_user_info(None).to_string())
}

#[cfg(all(test, feature = "html"))]
mod tests;
