//! The requests for the lines of one consumer: those of a bucket, or those that are set aside. They share a subscription,
//! so that a request is one message to the server.

use std::time::Duration;

use async_nats::{Client, Message, StatusCode, Subscriber};
use bytes::Bytes;
use futures_util::StreamExt as _;

use crate::Queue;

/// How long a request waits at the server.
const EXPIRES: Duration = Duration::from_secs(10);
/// How much later than the server the client ends a request.
const EXPIRES_LATER: Duration = Duration::from_secs(5);

/// A subscription to the lines of one consumer. At most one request is under way at a time.
pub(crate) struct Requests {
    client: Client,
    /// The subject of the requests.
    subject: String,
    /// The subject to which the server replies.
    inbox: String,
    replies: Subscriber,
}

/// The reply to a request.
pub(crate) enum Reply {
    Line(Box<Message>),
    /// The server has no more lines for this request.
    NoMoreLines,
    /// The server has refused the request.
    Failed,
}

impl Requests {
    pub(crate) async fn open(queue: &Queue, consumer: &str) -> Result<Self, async_nats::SubscribeError> {
        let client = queue.session.context().client();
        let inbox = client.new_inbox();
        let replies = client.subscribe(inbox.clone()).await?;
        let subject = format!("$JS.API.CONSUMER.MSG.NEXT.{}.{}", queue.name, consumer);
        Ok(Self { client, subject, inbox, replies })
    }

    /// Requests up to `count` lines that the server can hand out at once.
    pub(crate) async fn send_for_available(&self, count: usize) -> Result<(), async_nats::PublishError> {
        self.send(format!(r#"{{"batch":{count},"no_wait":true}}"#)).await
    }

    /// Requests a line, and waits for it at the server.
    pub(crate) async fn send_for_next(&self) -> Result<(), async_nats::PublishError> {
        self.send(format!(r#"{{"batch":1,"expires":{}}}"#, EXPIRES.as_nanos())).await
    }

    async fn send(&self, request: String) -> Result<(), async_nats::PublishError> {
        let (subject, inbox) = (self.subject.clone(), self.inbox.clone());
        self.client.publish_with_reply(subject, inbox, Bytes::from(request)).await
    }

    /// Ends the subscription and returns the lines that the server has sent before it knew this.
    pub(crate) async fn end(mut self) -> Vec<Message> {
        let mut lines = Vec::new();
        if self.replies.drain().await.is_ok() {
            while let Some(message) = self.replies.next().await {
                if matches!(message.status, None | Some(StatusCode::OK)) {
                    lines.push(message);
                }
            }
        }
        lines
    }

    /// Returns the next reply.
    pub(crate) async fn next(&mut self) -> Reply {
        let Ok(reply) = tokio::time::timeout(EXPIRES + EXPIRES_LATER, self.replies.next()).await else {
            return Reply::Failed;
        };
        let Some(message) = reply else { return Reply::Failed };
        match message.status {
            None | Some(StatusCode::OK) => Reply::Line(Box::new(message)),
            Some(StatusCode::TIMEOUT | StatusCode::NOT_FOUND) => Reply::NoMoreLines,
            Some(_) => Reply::Failed,
        }
    }
}
