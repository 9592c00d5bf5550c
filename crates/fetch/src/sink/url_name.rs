//! The file name that a URL suggests.

use fetch_url_core::{NewsResource, PercentEncoded, Url, WaisResource, WaisUrl};
use fetch_url_proto::wais::DocumentId;

use super::name::safe_name;

/// Returns the last part of the path of `url`, decoded and sanitised, or `None` if there is no such part.
pub fn file_name(url: &Url<'_>) -> Option<String> {
    let last =
        match url {
            Url::File(url) => last_part(Some(url.path())),
            Url::Ftp(url) => url.path().map(|path| path.name().decode().into_owned()),
            Url::Gopher(url) => last_part(Some(&url.selector())),
            Url::Http(url) => last_part(url.path()),
            Url::Mailto(_) | Url::Telnet(_) => None,
            // A message-id is not a path: its slashes do not separate segments.
            Url::News(url) => match url.resource() {
                NewsResource::Article(name) | NewsResource::Group(name) => Some(without_slashes(name)),
                _ => None,
            },
            Url::Nntp(url) => Some(url.articles().map_or_else(
                || url.group().decode().into_owned(),
                |articles| articles.to_string().into_bytes(),
            )),
            Url::Other(url) => last_part(url.path().as_ref()),
            Url::Prospero(url) => Some(url.hsoname().decode().into_owned()),
            Url::Wais(url) => document(url),
            _ => None,
        };
    safe_name(&last?)
}

/// Returns the part after the last slash, decoded.
fn last_part(path: Option<&PercentEncoded<'_>>) -> Option<Vec<u8>> {
    path?.split('/').next_back().map(|last| last.decode().into_owned())
}

fn without_slashes(name: &PercentEncoded<'_>) -> Vec<u8> {
    name.decode().iter().map(|byte| if *byte == b'/' { b'_' } else { *byte }).collect()
}

/// Returns the file name in the identifier of a document.
fn document(url: &WaisUrl<'_>) -> Option<Vec<u8>> {
    let WaisResource::Document { wpath, .. } = url.resource() else { return None };
    Some(DocumentId::from_wpath(wpath).ok()?.file_name()?.to_vec())
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn file_name_is_the_decoded_last_part_of_the_path() {
        for (url, name) in [
            ("http://h/a/b%20c?q", Some("b c")),
            ("http://h/a/", None),
            ("ftp://h/a/b;type=i", Some("b")),
            ("gopher://h/0/a/b", Some("b")),
            ("file:///a/b%2Fc", Some("c")),
            ("sftp://h/a/b", Some("b")),
            ("mailto:a@b", None),
        ] {
            let parsed = fetch_url_core::parse(url).expect(url).url;
            assert_eq!(file_name(&parsed).as_deref(), name, "{url}");
        }
    }
}
