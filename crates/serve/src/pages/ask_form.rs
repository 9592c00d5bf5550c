//! The attributes of a Gopher+ item: its formats (views), and its form (`+ASK`, RFC 1738 §3.4.9) as an HTML form.

use fetch_url::Entry;
use fetch_url_proto::Details;
use fetch_url_proto::gopher_plus::{Attributes, Question, QuestionKind, View};
use maud::{Markup, html};

use super::listing::Place;
use super::shell::Shell;
use crate::field_text::{display_text, size_text};

/// The blocks that have a section of their own.
const KNOWN_BLOCKS: [&[u8]; 2] = [b"ASK", b"VIEWS"];

/// Returns the page of the attributes of `entry`, or `None` if the URL asks for no attributes, or for those of a whole
/// menu.
pub(super) fn attributes_page(place: &Place, entry: &Entry, shown: &str) -> Option<String> {
    let Details::MenuItem(item, Some(attributes)) = &entry.details else { return None };
    let text = place.url.to_string();
    let (base, plus) = text.rsplit_once("%09")?;
    if plus.starts_with('$') {
        return None;
    }
    let base = base.trim_end_matches("%09");
    let title = display_text(&item.name);
    let page = Shell::of_url(&title, place.form, &place.url, shown).page(&html! {
        h1 { (title) }
        @if let Some(questions) = questions(attributes) { (ask_form(place, base, &questions)) }
        (views(place, base, attributes))
        @for block in attributes.blocks.iter().filter(|block| !is_known(&block.name)) {
            section {
                h2 { (display_text(&block.name)) }
                pre {
                    @if !block.inline.is_empty() { (display_text(&block.inline)) "\n" }
                    @for line in &block.lines { (display_text(line)) "\n" }
                }
            }
        }
    });
    Some(page)
}

fn is_known(name: &[u8]) -> bool {
    KNOWN_BLOCKS.iter().any(|known| known.eq_ignore_ascii_case(name))
}

fn questions(attributes: &Attributes) -> Option<Vec<Question>> {
    let block = attributes.block("ASK")?;
    let questions: Vec<_> = block.lines.iter().filter_map(|line| Question::parse(line)).collect();
    (!questions.is_empty()).then_some(questions)
}

fn ask_form(place: &Place, base: &str, questions: &[Question]) -> Markup {
    let action = place.form.link(&format!("{base}%09%09?").replace('?', "%3F"));
    let mut number = 0;
    html! {
        form.questions action=(action) method="get" {
            @for question in questions {
                @if question.needs_answer() {
                    ({ number += 1; field(number, question) })
                } @else {
                    p { (display_text(&question.prompt)) }
                }
            }
            p { button { "Send" } }
        }
    }
}

fn field(number: usize, question: &Question) -> Markup {
    let name = format!("fetch-url-answer-{number}");
    let prompt = display_text(&question.prompt);
    let default = question.default_value().map(display_text).unwrap_or_default();
    html! {
        @match question.kind {
            QuestionKind::AskL | QuestionKind::ChooseF => {
                p {
                    label for=(name) { (prompt) }
                    textarea #(name) name=(name) rows="5" { (default) }
                }
            }
            QuestionKind::AskP => {
                p {
                    label for=(name) { (prompt) }
                    input #(name) type="password" name=(name) autocomplete="off";
                }
            }
            QuestionKind::Choose => {
                p {
                    label for=(name) { (prompt) }
                    select #(name) name=(name) {
                        @for choice in &question.defaults {
                            option value=(display_text(choice)) { (display_text(choice)) }
                        }
                    }
                }
            }
            QuestionKind::Select => {
                fieldset {
                    legend { (prompt) }
                    label.choice { input type="radio" name=(name) value="1" checked[default == "1"]; "Yes" }
                    label.choice { input type="radio" name=(name) value="0" checked[default != "1"]; "No" }
                }
            }
            _ => {
                p {
                    label for=(name) { (prompt) }
                    input #(name) type="text" name=(name) value=(default);
                }
            }
        }
    }
}

fn views(place: &Place, base: &str, attributes: &Attributes) -> Markup {
    let lines = attributes.block("VIEWS").map(|block| block.lines.as_slice()).unwrap_or_default();
    let views: Vec<View> = lines.iter().filter_map(|line| View::parse(line)).collect();
    let link = |view: &View| {
        let language = view.language.as_deref().map(|language| format!(" {}", display_text(language)));
        let name = format!("{}{}", display_text(&view.media_type), language.unwrap_or_default());
        let field: String = form_urlencoded::byte_serialize(name.as_bytes()).collect();
        (place.form.link(&format!("{base}?fetch-url-view={field}")), name)
    };
    html! {
        @if !views.is_empty() {
            section {
                h2 { "Formats" }
                ul {
                    @for view in &views {
                        @let (link, name) = link(view);
                        li {
                            a href=(link) { (name) }
                            @if let Some(size) = view.size { " " small { (size_text(size)) } }
                        }
                    }
                }
            }
        }
    }
}
