//! Errors of the NATS server, as errors of fetch-url with their exit statuses.

use std::error::Error as StdError;

use async_nats::jetstream;
use fetch_url::{Code, Error, Phase};

/// Returns an error for a wrong option, or for a stream that is not a queue.
pub(crate) fn usage_error(detail: impl Into<String>) -> Error {
    Error::new(Code::Usage, Phase::Plan, detail)
}

/// The causes of an error of the client library that need a code of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// A stream or message does not exist.
    NotFound,
    /// The server runs without JetStream.
    NoJetStream,
    /// The storage of the server or the limit of a stream is used up.
    StorageFull,
    /// A stream of this name exists, with other settings.
    StreamExists,
    /// The subject already has a message.
    SubjectTaken,
    /// The subject has another last message than expected.
    WrongSequence,
    /// The server did not answer.
    TimedOut,
    Other,
}

/// Returns the cause of an error. The client library wraps the reply of the server in types of each method, so the
/// chain of sources is searched.
pub(crate) fn cause(error: &(dyn StdError + 'static)) -> Cause {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(reply) = error.downcast_ref::<jetstream::Error>() {
            return cause_of_reply(reply);
        }
        next = error.source();
    }
    cause_of_text(&error.to_string())
}

fn cause_of_reply(reply: &jetstream::Error) -> Cause {
    match reply.error_code() {
        jetstream::ErrorCode::STREAM_NOT_FOUND | jetstream::ErrorCode::NO_MESSAGE_FOUND => Cause::NotFound,
        jetstream::ErrorCode::JETSTREAM_NOT_ENABLED
        | jetstream::ErrorCode::JETSTREAM_NOT_ENABLED_FOR_ACCOUNT => Cause::NoJetStream,
        jetstream::ErrorCode::STREAM_NAME_EXIST => Cause::StreamExists,
        jetstream::ErrorCode::STREAM_WRONG_LAST_SEQUENCE => Cause::WrongSequence,
        jetstream::ErrorCode::INSUFFICIENT_RESOURCES | jetstream::ErrorCode::STORAGE_RESOURCES_EXCEEDED => {
            Cause::StorageFull
        }
        _ => cause_of_text(&reply.to_string()),
    }
}

/// Returns the cause by the words of the server, which are the same in all its versions: several failures share the
/// code 10077 (store failed).
fn cause_of_text(text: &str) -> Cause {
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if has(&["maximum messages per subject"]) {
        Cause::SubjectTaken
    } else if has(&["maximum bytes exceeded", "maximum messages exceeded", "insufficient", "no space left"]) {
        Cause::StorageFull
    } else if has(&["wrong last sequence"]) {
        Cause::WrongSequence
    } else if has(&[
        "no responders",
        "etStream not enabled",
        "etstream not enabled",
        "requested JetStream resource",
    ]) {
        Cause::NoJetStream
    } else if has(&["not found", "no message found"]) {
        Cause::NotFound
    } else if has(&["timed out"]) {
        Cause::TimedOut
    } else {
        Cause::Other
    }
}

/// Returns `true` if the server closed a new connection: the client library reports this as a text.
pub(crate) fn is_closed_connection(error: &(dyn StdError + 'static)) -> bool {
    let texts = ["expected INFO, got nothing", "broken pipe"];
    error.source().is_some_and(|cause| texts.contains(&cause.to_string().as_str()))
}

/// Returns the error for a failed request `what`. `denied` is what the server last said about permissions: it does not
/// answer requests that it refuses.
pub(crate) fn request_error(what: &str, error: &(dyn StdError + 'static), denied: Option<String>) -> Error {
    match (cause(error), denied) {
        (Cause::TimedOut, Some(denied)) => {
            Error::new(Code::Denied, Phase::Request, format!("{what}: the NATS server says: {denied}"))
        }
        (Cause::TimedOut, None) => {
            Error::new(Code::TimedOut, Phase::Reply, format!("{what}: no answer from the NATS server"))
        }
        (Cause::NoJetStream, _) => {
            let detail = format!("{what}: JetStream is not enabled on the NATS server");
            Error::new(Code::Unsupported, Phase::Request, detail).with_hint("start it with nats-server -js")
        }
        (Cause::StorageFull, _) => {
            let detail = format!("{what}: the storage of the NATS server is full: {error}");
            Error::new(Code::LimitReached, Phase::Request, detail)
        }
        _ => Error::new(Code::PeerMisbehaved, Phase::Reply, format!("{what}: {error}")),
    }
}
