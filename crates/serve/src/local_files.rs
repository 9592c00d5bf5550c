//! Keeps `file:` URLs below the directory of `--allow-file`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use fetch_url::url::{FileUrl, PercentEncoded, charset, parse};
use fetch_url::{Code, Error, Phase, Url};

/// Returns the URL of the file at `url` with all symbolic links resolved, if it is below `root`.
///
/// # Errors
/// `Code::NotFound` for every other path, so that an answer does not show which files exist elsewhere.
pub(crate) fn resolve_beneath(url: &FileUrl<'_>, root: &Path) -> Result<Url<'static>, Error> {
    let not_found =
        || Error::new(Code::NotFound, Phase::Plan, "no such file below the directory that is served");
    let decoded = url.path().decode();
    let path = Path::new("/").join(OsStr::from_bytes(decoded.strip_prefix(b"/").unwrap_or(&decoded)));
    if decoded.contains(&0) {
        return Err(not_found());
    }
    let real = path.canonicalize().map_err(|_| not_found())?;
    if !real.starts_with(root) {
        return Err(not_found());
    }
    let segments = real.components().skip(1).map(|component| {
        PercentEncoded::encode(component.as_os_str().as_bytes(), charset::FSEGMENT).to_string()
    });
    let text = format!("file:///{}", segments.collect::<Vec<_>>().join("/"));
    Ok(parse(&text)?.url.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_outside_the_directory_are_not_found() {
        let folder = tempfile::tempdir().expect("a directory");
        let root = folder.path().canonicalize().expect("it exists").join("served");
        std::fs::create_dir_all(root.join("a b")).expect("a directory");
        std::fs::write(root.join("a b/f"), "x").expect("a file");
        std::fs::write(folder.path().join("secret"), "x").expect("a file");
        std::os::unix::fs::symlink("../secret", root.join("link")).expect("a link");
        let resolve = |path: &str| {
            let text = format!("file://{}{path}", root.display());
            let Ok(Url::File(url)) = parse(&text).map(|parsed| parsed.url.into_owned()) else {
                return None;
            };
            resolve_beneath(&url, &root).ok().map(|url| url.to_string())
        };
        assert_eq!(resolve("/a%20b/f"), Some(format!("file://{}/a%20b/f", root.display())));
        assert_eq!(resolve("/a%20b/../a%20b/f"), resolve("/a%20b/f"));
        for path in ["/../secret", "/%2e%2e/secret", "/..%2Fsecret", "/link", "/missing", "/a%00", "d/x"] {
            assert_eq!(resolve(path), None, "{path}");
        }
        let Ok(Url::File(url)) = parse("file:///etc/passwd").map(|parsed| parsed.url) else { return };
        let error = resolve_beneath(&url, &root).expect_err("outside");
        assert_eq!(error.code(), Code::NotFound);
    }
}
