//! Removes known bytes from the start of a body.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;

use super::{Body, ByteSource, Source};
use crate::Error;

/// A source after some of its bytes were read.
struct PartlyRead {
    unread: Bytes,
    rest: Pin<Box<dyn ByteSource>>,
}

impl ByteSource for PartlyRead {
    fn poll_chunk(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        if self.unread.is_empty() {
            return self.rest.as_mut().poll_chunk(cx);
        }
        Poll::Ready(Some(Ok(std::mem::take(&mut self.unread))))
    }
}

impl Body {
    /// Removes `expected` from the start of a body that was not read yet. Returns `false` if the body starts with other
    /// bytes; it cannot be used then.
    ///
    /// # Errors
    /// As for [`Body::chunk`].
    pub(crate) async fn strip_expected_prefix(&mut self, expected: &[u8]) -> Result<bool, Error> {
        let mut left = expected;
        while !left.is_empty() {
            let Some(bytes) = self.chunk().await? else { return Ok(false) };
            let count = bytes.len().min(left.len());
            if bytes[..count] != left[..count] {
                return Ok(false);
            }
            left = &left[count..];
            if left.is_empty() {
                self.put_back(bytes.slice(count..), expected.len() as u64);
            }
        }
        Ok(true)
    }

    /// Makes a body of `unread` and the rest of the source, without the first `stripped` bytes.
    fn put_back(&mut self, unread: Bytes, stripped: u64) {
        let ended = Source::Stream(Box::pin(super::BytesSource(None)));
        if let Source::Stream(rest) = std::mem::replace(&mut self.source, ended) {
            self.source = Source::Stream(Box::pin(PartlyRead { unread, rest }));
        }
        self.received = 0;
        self.expected = self.expected.map(|expected| expected.saturating_sub(stripped));
        self.tail = super::Tail::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Proof;

    /// Sends each chunk by itself.
    struct Chunks(Vec<&'static [u8]>);

    impl ByteSource for Chunks {
        fn poll_chunk(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
            let next = (!self.0.is_empty()).then(|| self.0.remove(0));
            Poll::Ready(next.map(|bytes| Ok(Bytes::from_static(bytes))))
        }
    }

    #[tokio::test]
    async fn expected_bytes_are_removed_and_others_are_reported() {
        for (chunks, is_equal, rest) in [
            (&[&b"abcdef"[..]][..], true, &b"def"[..]),
            (&[b"a", b"b", b"cd", b"ef"], true, b"def"),
            (&[b"abc"], true, b""),
            (&[b"abX", b"def"], false, b""),
            (&[b"X"], false, b""),
        ] {
            let length = chunks.iter().map(|chunk| chunk.len() as u64).sum();
            let source = Chunks(chunks.to_vec());
            let mut body = Body::from_source(source, Some(length), Proof::Proven("its length"));
            assert_eq!(body.strip_expected_prefix(b"abc").await.expect("bytes"), is_equal, "{chunks:?}");
            if is_equal {
                assert_eq!(body.expected(), Some(rest.len() as u64));
                assert_eq!(body.bytes().await.expect("the rest"), rest, "{chunks:?}");
            }
        }
    }

    #[tokio::test]
    async fn body_that_ends_within_the_expected_bytes_is_truncated() {
        let mut body = Body::from_source(Chunks(vec![b"ab"]), Some(6), Proof::Proven("its length"));
        let error = body.strip_expected_prefix(b"abc").await.expect_err("two bytes of six");
        assert_eq!(error.code(), crate::Code::Truncated);
    }
}
