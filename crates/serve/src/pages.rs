//! The HTML pages. Templates escape all text; links are made by [`crate::link`].

pub(crate) mod advice;
pub(crate) mod article;
mod ask_form;
mod directory;
pub(crate) mod error;
mod listing;
mod menu;
mod news;
mod results;
pub(crate) mod search;
mod shell;
pub(crate) mod start;
pub(crate) mod style;
mod threads;

pub(crate) use listing::listing_answer;
