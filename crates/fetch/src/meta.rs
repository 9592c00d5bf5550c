//! Metadata of an object and of its request: size, time, type, headers and timings.

use std::borrow::Cow;
use std::num::NonZeroU64;

use fetch_url_core::Url;
use fetch_url_proto::Head;

use crate::credentials::masking::mask_secrets_in_text;
use crate::credentials::secret::SecretBytes;
use crate::{HeaderFields, Timings, Validator};

/// The metadata of a response. Fields that the protocol does not have are `None` or empty.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Meta {
    /// The URL of the caller's request.
    pub requested_url: Url<'static>,
    /// The URL of the response, after redirects and gateways.
    pub url: Url<'static>,
    /// Size of the whole object in bytes, and time of its last change.
    pub head: Head,
    /// Offset in the object of the first byte of the body; not 0 for ranges and resumed downloads.
    pub offset: u64,
    /// Identifies this version of the object, such as a strong ETag.
    pub validator: Option<Validator>,
    /// A digest of the identifier of the content: the Message-ID of an article. It equals
    /// [`FileEntry::content_id`](crate::mirror::FileEntry::content_id) if the listing states the same identifier.
    pub content_id: Option<NonZeroU64>,
    /// `true` if a later request can fetch the rest of the object from an offset.
    pub is_resumable: bool,
    /// The media type as sent by the server, such as `text/plain`.
    pub media_type: Option<String>,
    /// The file name that the server suggests. It is untrusted input: pass it to [`crate::safe_name`] before use.
    pub suggested_name: Option<Vec<u8>>,
    /// The status line or first reply line.
    pub reply: Option<String>,
    /// The header fields.
    pub fields: HeaderFields,
    /// The metadata of the responses before this one: redirects, and requests for a login (HTTP). At most 100.
    pub earlier: Vec<Self>,
    /// The status code of HTTP, or the reply code of FTP and NNTP.
    pub status: Option<u16>,
    /// The protocol of the connection, such as `HTTP/1.1`.
    pub protocol: Option<&'static str>,
    /// The Referer of the last request (HTTP).
    pub referer: Option<String>,
    /// Number of redirects that were followed.
    pub redirects: u32,
    /// Number of retries after transient errors.
    pub retries: u32,
    /// The server sent a modification time that cannot be read, so a condition on it cannot be checked.
    pub has_unreadable_date: bool,
    /// Warnings: deviations of the server from the protocol that lose no data.
    pub notes: Vec<Cow<'static, str>>,
    /// The times of the steps of the request, and the addresses of the connection.
    pub timings: Timings,
    /// Passwords and tokens of the request, which are masked in traces, because some servers repeat them in
    /// header fields.
    pub(crate) secrets: Vec<SecretBytes>,
    /// A server has chosen the URL: by a redirect, or as another URL of an object ([`crate::Request::from_response`]).
    pub(crate) is_chosen_by_server: bool,
    /// A server with a public address, or of unknown address, was contacted for the response.
    pub(crate) has_visited_public: bool,
    /// When a body that breaks off may be requested again from its beginning although it cannot be continued.
    pub(crate) repetition: Repetition,
    /// The request had a body, so the response is not the object whose modification time is a condition.
    pub(crate) answers_body: bool,
}

/// When a request may be sent again after its body has broken off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repetition {
    /// Never: the request may change something on the server.
    Never,
    /// While no byte of the body has been delivered: the object has no entity tag or modification time.
    BeforeFirstByte,
    /// If the consumer can discard the delivered bytes.
    Always,
}

impl Meta {
    /// Returns the URL for messages: without its password, and without secrets of the request that a server has
    /// repeated in it.
    pub(crate) fn shown_url(&self) -> String {
        mask_secrets_in_text(&self.url.redacted().to_string(), self.repeated_secrets())
    }

    /// Returns the secrets that the URL may contain, because the server that chose it has repeated them.
    pub(crate) fn repeated_secrets(&self) -> &[SecretBytes] {
        if self.is_chosen_by_server { &self.secrets } else { &[] }
    }

    /// Creates metadata for `url`, with all other fields empty.
    pub fn new(url: Url<'static>) -> Self {
        Self {
            requested_url: url.clone(),
            url,
            head: Head { size: None, modified: None, modified_nanoseconds: 0 },
            offset: 0,
            validator: None,
            content_id: None,
            is_resumable: false,
            media_type: None,
            suggested_name: None,
            reply: None,
            fields: HeaderFields::default(),
            earlier: Vec::new(),
            status: None,
            protocol: None,
            referer: None,
            redirects: 0,
            retries: 0,
            has_unreadable_date: false,
            notes: Vec::new(),
            timings: Timings::default(),
            secrets: Vec::new(),
            repetition: Repetition::Never,
            answers_body: false,
            is_chosen_by_server: false,
            has_visited_public: false,
        }
    }
}
