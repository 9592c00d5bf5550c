//! Requests for another URL than the caller's: related objects, documents, gateways and targets of redirects.

use std::borrow::Cow;

use fetch_url_core::Url;

use super::{RedirectState, Request, Want};
use crate::credentials::masking::{mask_secrets_in_error, mask_secrets_in_url};
use crate::credentials::secret::SecretBytes;
use crate::{Error, Meta};

impl Request {
    /// Returns a request for a related object, such as the checksum list of this object. It has the same options, but
    /// no range, resume data, condition, method or body. Credentials are not sent to another origin. At the same origin, the
    /// rules for addresses of this request apply.
    #[must_use]
    pub fn for_related(&self, url: Url<'static>) -> Self {
        let is_same_origin = self.0.url.same_origin(&url);
        let redirect_state = RedirectState {
            is_cross_origin: self.has_left_origin() || !is_same_origin,
            is_plain_get: true,
            is_from_public: self.is_from_public() && is_same_origin,
            ..RedirectState::default()
        };
        let mut this = self.clone().redirected_to(url, redirect_state);
        let parts = this.parts_mut();
        (parts.want, parts.range, parts.resume, parts.condition) = (Want::Object, None, None, None);
        this
    }

    /// Marks the URL as chosen by a document or server, not by the caller: credentials, cookies, method, body and most
    /// headers of the caller are not sent, as after a redirect to another server.
    #[must_use]
    pub fn from_document(mut self) -> Self {
        let state = &mut self.parts_mut().redirect_state;
        (state.is_cross_origin, state.trusts_target, state.is_plain_get) = (true, false, true);
        self
    }

    /// Marks the URL as named by the response with the metadata `meta`, such as one of [`crate::http::duplicates`]. As for
    /// [`Request::from_document`], nothing of the caller is sent. As after a redirect, private addresses are refused if a
    /// server with a public address was contacted for the response, and secrets of its request that the server has
    /// repeated in the URL are masked in messages.
    #[must_use]
    pub fn from_response(self, meta: &Meta) -> Self {
        let mut this = self.from_document().with_earlier_secrets(&meta.secrets);
        this.parts_mut().redirect_state.is_from_public = meta.has_visited_public;
        this
    }

    /// Returns `true` if a server with a public address has chosen the URL.
    pub(crate) fn is_from_public(&self) -> bool {
        self.0.redirect_state.is_from_public
    }

    /// Returns the request for the gateway's `url`. Credentials and headers for the original server are not sent to
    /// the gateway.
    pub(crate) fn through_gateway(self, url: Url<'static>) -> Self {
        let is_plain_get = self.is_plain_get() || !matches!(self.0.url, Url::Http(_));
        let is_from_public = self.is_from_public();
        let redirect_state = RedirectState {
            is_cross_origin: true,
            trusts_target: false,
            is_plain_get,
            is_from_public,
            is_for_gateway: true,
        };
        self.redirected_to(url, redirect_state)
    }

    /// Returns the request for another URL with the new redirect state.
    pub(crate) fn redirected_to(mut self, url: Url<'static>, redirect_state: RedirectState) -> Self {
        let parts = self.parts_mut();
        parts.url = match &parts.news_server {
            Some(server) => url.with_news_server(server),
            None => url,
        };
        (parts.redirect_state, parts.redirected_from) = (redirect_state, None);
        self
    }

    /// Returns the request for the target of a redirect.
    pub(crate) fn after_redirect(self, url: Url<'static>, redirect_state: RedirectState) -> Self {
        let from = self.0.url.clone();
        let mut this = self.redirected_to(url, redirect_state);
        this.parts_mut().redirected_from = Some(from);
        this
    }

    /// Adds the secrets of a request that was redirected, which are masked in messages about the next ones.
    pub(crate) fn with_earlier_secrets(mut self, secrets: &[SecretBytes]) -> Self {
        if secrets.iter().any(|secret| !self.0.earlier_secrets.contains(secret)) {
            let earlier = &mut self.parts_mut().earlier_secrets;
            let added: Vec<_> = secrets.iter().filter(|secret| !earlier.contains(secret)).cloned().collect();
            earlier.extend(added);
        }
        self
    }

    /// Returns the secrets of the requests before this one.
    pub(crate) fn earlier_secrets(&self) -> &[SecretBytes] {
        &self.0.earlier_secrets
    }

    /// Returns the URL for messages, without secrets that a redirect has repeated in it.
    pub(crate) fn shown_url(&self) -> Cow<'_, Url<'static>> {
        mask_secrets_in_url(&self.0.url, &self.0.earlier_secrets)
    }

    /// Returns an error of this request with its URL, and without secrets that a redirect has repeated.
    pub(crate) fn add_url_to(&self, error: Error) -> Error {
        mask_secrets_in_error(error.with_url(&self.0.url), &self.0.earlier_secrets)
    }

    /// Returns the URL whose response redirected to this one.
    pub(crate) fn redirected_from(&self) -> Option<&Url<'static>> {
        self.0.redirected_from.as_ref()
    }
}
