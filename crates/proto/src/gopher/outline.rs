//! The requests of a URL, for [`crate::outline`].

use fetch_url_core::GopherUrl;

use super::{GopherRequest, Plus};
use crate::{ForbiddenOctet, Outline};

pub(crate) fn requests(url: &GopherUrl<'_>, outline: &mut Outline) -> Result<(), ForbiddenOctet> {
    let request = GopherRequest::of(url)?;
    // A form is an attribute of its item.
    let request = if request.plus() == Some(Plus::Form) { request.for_attributes() } else { request };
    request.lines().iter().for_each(|line| outline.say(&[line]));
    Ok(())
}
