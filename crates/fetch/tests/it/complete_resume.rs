//! Status 416 as the answer to a resume without a tail, which requests no received byte again: it can prove that the
//! partial download is complete.

use bytes::Bytes;
use fetch_url::output::Resume;
use fetch_url::response::Validator;
use fetch_url::{Fetcher, Meta, Request};
use fetch_url_tests::{HttpResponse, HttpServer};

const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
const OTHER_DATE: &str = "Sun, 06 Nov 1994 08:49:38 GMT";

/// Requests the rest of an object of which ten bytes were received. The server answers 416 with `headers`, and sends
/// the object to a request without a range. Returns the metadata and the body.
async fn resume(
    validator: &Validator,
    size: Option<u64>,
    headers: &'static [(&'static str, &'static str)],
) -> (Box<Meta>, Bytes) {
    let server = HttpServer::start(move |request| match request.header_text("range") {
        Some(_) => headers
            .iter()
            .fold(HttpResponse::new(416), |response, (name, value)| response.header(name, *value)),
        None => HttpResponse::new(200).body("the whole object"),
    })
    .expect("a server");
    let resume = Resume { offset: 10, size, validator: validator.clone(), resource: None, tail: Vec::new() };
    let request = Request::new(&server.url("/o")).expect("a URL").resuming(Some(resume));
    let response = Fetcher::new().fetch(request).await.expect("a response");
    (response.meta.clone(), response.bytes().await.expect("a body"))
}

#[tokio::test]
async fn status_416_with_the_same_length_and_version_is_an_empty_rest() {
    let (tag, date) = (Validator::ETag("\"1\"".to_owned()), Validator::Modified(DATE.to_owned()));
    for (validator, size, headers) in [
        (&tag, None, &[("Content-Range", "bytes */10"), ("ETag", "\"1\"")][..]),
        (&tag, Some(10), &[("Content-Range", "bytes */10")]),
        (&date, None, &[("Content-Range", "bytes */10"), ("Last-Modified", DATE)]),
        (&date, Some(10), &[("Content-Range", "bytes */10")]),
    ] {
        let (meta, body) = resume(validator, size, headers).await;
        assert_eq!((meta.offset, meta.head.size, body.len()), (10, Some(10), 0), "{headers:?}");
        assert_eq!(meta.validator.as_ref(), Some(validator), "{headers:?}");
    }
}

#[tokio::test]
async fn status_416_with_another_length_or_version_restarts() {
    let (tag, date) = (Validator::ETag("\"1\"".to_owned()), Validator::Modified(DATE.to_owned()));
    for (validator, size, headers) in [
        (&tag, None, &[("ETag", "\"1\"")][..]),
        (&tag, None, &[("Content-Range", "bytes */9"), ("ETag", "\"1\"")]),
        (&tag, None, &[("Content-Range", "bytes */11"), ("ETag", "\"1\"")]),
        (&tag, Some(11), &[("Content-Range", "bytes */10"), ("ETag", "\"1\"")]),
        (&tag, None, &[("Content-Range", "bytes */10"), ("ETag", "\"2\"")]),
        (&date, None, &[("Content-Range", "bytes */10"), ("Last-Modified", OTHER_DATE)]),
    ] {
        let (meta, body) = resume(validator, size, headers).await;
        assert_eq!((meta.offset, &*body), (0, &b"the whole object"[..]), "{headers:?}");
    }
}
