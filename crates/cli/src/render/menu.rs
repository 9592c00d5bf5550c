//! Gopher menus: as text with numbered links and their URLs, as raw attributes, and as JSON.

use fetch_url_proto::gopher::{ItemType, MenuItem};
use fetch_url_proto::gopher_plus::{Admin, Attributes, Block, Question, QuestionKind, View};
use fetch_url_proto::text::sanitise;
use fetch_url_proto::{Details, Entry};
use serde_json::{Map, Value, json};

use super::date::format_date;
use super::wrap::{Width, wrapped};

/// Indentation of names and URLs.
const INDENT: &str = "                ";

/// Formats the entries of a menu as text, in order.
pub(super) struct GopherMenu {
    /// Number of links so far.
    links: usize,
    /// Width of the lines.
    width: Width,
}

impl GopherMenu {
    /// Starts a menu with lines of this width.
    pub(super) const fn new(width: Width) -> Self {
        Self { links: 0, width }
    }

    /// Returns the lines for a menu item. Returns `None` for other entries.
    pub(super) fn text(&mut self, entry: &Entry) -> Option<String> {
        let Details::MenuItem(item, attributes) = &entry.details else { return None };
        let name = sanitise(&item.name);
        let mut text = match (&entry.url, item.item_type()) {
            (Some(url), _) => {
                self.links += 1;
                let word = ItemType::word(item.gtype);
                let first = format!("{:>4}  {word:<8}  ", self.links);
                format!(
                    "{}\n{INDENT}{}\n",
                    wrapped(&name, &first, INDENT, self.width),
                    sanitise(url.as_bytes())
                )
            }
            (None, ItemType::Info) => info_line(&name, item.fault, self.width),
            (None, _) => {
                let first = format!("      {:<8}  ", ItemType::word(item.gtype));
                format!("{}\n", wrapped(&name, &first, INDENT, self.width))
            }
        };
        if let Some(attributes) = attributes {
            text.push_str(&attributes_text(attributes, entry.modified, self.width));
        }
        Some(text)
    }
}

/// Returns an information line, which is not a link.
fn info_line(name: &str, fault: Option<&str>, width: Width) -> String {
    let line = match fault {
        Some(fault) => format!("{name}  ({fault})"),
        None => name.to_owned(),
    };
    format!("{}\n", wrapped(&line, "", "", width))
}

/// Returns the lines for the Gopher+ attributes of an item, block by block.
fn attributes_text(attributes: &Attributes, modified: Option<i64>, width: Width) -> String {
    let mut text =
        modified.map(|modified| format!("{INDENT}modified {}\n", format_date(modified))).unwrap_or_default();
    let deeper = format!("{INDENT}  ");
    for block in &attributes.blocks {
        text.push_str(&format!("{INDENT}{}\n", sanitise(&block.name)));
        for line in
            if is_form(block) { question_lines(block) } else { block_lines(block).map(sanitise).collect() }
        {
            text.push_str(&format!("{}\n", wrapped(&line, &deeper, &deeper, width)));
        }
    }
    text
}

/// Returns `true` for a block with the questions of a form.
fn is_form(block: &Block) -> bool {
    block.name.eq_ignore_ascii_case(b"ASK")
}

/// Returns the questions of a form, with their numbers for `--form`.
fn question_lines(block: &Block) -> Vec<String> {
    let mut number = 0;
    let question = |question: Question| {
        let prompt = sanitise(&question.prompt);
        if !question.needs_answer() {
            return prompt;
        }
        number += 1;
        let word = match question.kind {
            QuestionKind::AskF => "name of a file to save to",
            QuestionKind::AskL => "several lines",
            QuestionKind::AskP => "a password",
            QuestionKind::Choose => "one of these",
            QuestionKind::ChooseF => "the content of a file",
            QuestionKind::Select => "0 or 1",
            _ => "a line",
        };
        let defaults: Vec<String> = question.defaults.iter().map(|default| sanitise(default)).collect();
        let defaults = if defaults.is_empty() { String::new() } else { format!(": {}", defaults.join(", ")) };
        format!("{number}. {prompt} ({word}{defaults})")
    };
    block.lines.iter().filter_map(|line| Question::parse(line)).map(question).collect()
}

/// Returns the lines of a block, including the text after its name.
fn block_lines(block: &Block) -> impl Iterator<Item = &[u8]> {
    let inline = Some(&block.inline[..]).filter(|inline| !inline.is_empty());
    inline.into_iter().chain(block.lines.iter().map(|line| &line[..]))
}

/// Returns the attributes of an item as the server sent them. Returns `None` for other entries.
pub(super) fn raw(entry: &Entry) -> Option<Vec<u8>> {
    let Details::MenuItem(_, Some(attributes)) = &entry.details else { return None };
    let mut bytes = [b"+INFO: ", &attributes.info[..], b"\r\n"].concat();
    for block in &attributes.blocks {
        let inline = if block.inline.is_empty() { &b""[..] } else { b" " };
        bytes.extend([b"+", &block.name[..], b":", inline, &block.inline, b"\r\n"].concat());
        block.lines.iter().for_each(|line| bytes.extend([b" ", &line[..], b"\r\n"].concat()));
    }
    Some(bytes)
}

/// Adds the details of a menu item to the JSON object of its entry.
pub(super) fn add_json(item: &MenuItem, attributes: Option<&Attributes>, object: &mut Map<String, Value>) {
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let fields = [
        ("type", json!(lossy(&[item.gtype]))),
        ("selector", json!(lossy(&item.selector))),
        ("host", json!(lossy(&item.host))),
        ("port", json!(item.port)),
        ("plus", json!(item.plus.is_some())),
        ("form", json!(item.plus == Some(b'?'))),
    ];
    object.extend(fields.map(|(name, value)| (name.to_owned(), value)));
    if let Some(fault) = item.fault {
        object.insert("note".to_owned(), json!(fault));
    }
    if let Some(attributes) = attributes {
        let mut blocks = Map::new();
        for block in &attributes.blocks {
            add_block(&mut blocks, lossy(&block.name), block_json(block));
        }
        object.insert("attributes".to_owned(), Value::Object(blocks));
    }
}

/// Adds a block to the JSON object. Several blocks with the same name become an array.
fn add_block(blocks: &mut Map<String, Value>, name: String, block: Value) {
    let all = match (blocks.remove(&name), block) {
        (None, block) => block,
        (Some(Value::Array(first)), Value::Array(second)) => Value::Array([first, second].concat()),
        (Some(Value::Array(first)), second) => Value::Array([first, vec![second]].concat()),
        (Some(first), second) => json!([first, second]),
    };
    blocks.insert(name, all);
}

/// Returns the JSON value of an attribute block.
fn block_json(block: &Block) -> Value {
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match block.name.to_ascii_uppercase().as_slice() {
        b"ADMIN" => {
            let admin = Admin::parse(&block.lines);
            json!({ "admin": admin.admin.as_deref().map(lossy), "modified": admin.modified })
        }
        b"ASK" => {
            let questions = block.lines.iter().filter_map(|line| Question::parse(line));
            let questions = questions.map(|question| {
                let defaults: Vec<String> = question.defaults.iter().map(|default| lossy(default)).collect();
                json!({ "kind": format!("{:?}", question.kind), "prompt": lossy(&question.prompt), "defaults": defaults })
            });
            Value::Array(questions.collect())
        }
        b"VIEWS" => {
            let views = block.lines.iter().filter_map(|line| View::parse(line));
            let views = views.map(|view| {
                let language = view.language.as_deref().map(lossy);
                json!({ "type": lossy(&view.media_type), "language": language, "size": view.size })
            });
            Value::Array(views.collect())
        }
        _ => Value::String(block_lines(block).map(lossy).collect::<Vec<_>>().join("\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::wrap::DEFAULT_WIDTH as WIDTH;
    use super::*;
    use bytes::Bytes;

    fn shown(lines: &[&'static str]) -> String {
        let mut menu = GopherMenu::new(Some(WIDTH));
        let items = lines.iter().map(|line| MenuItem::parse(&Bytes::from_static(line.as_bytes())));
        items.filter_map(|item| menu.text(&item.into_entry(None))).collect()
    }

    #[test]
    fn menu_items_are_printed_with_numbers_and_urls() {
        let expected = "\
Welcome

   1  text      About
                gopher://h.example/0/about
   2  html      A page
                http://h.example/
      error     Nothing here
no menu line  (fields are missing)
";
        assert_eq!(
            shown(&[
                "iWelcome\tfake\t(NULL)\t0",
                "i\tfake\t(NULL)\t0",
                "0About\t/about\th.example\t70",
                "hA page\tURL:http://h.example/\th.example\t70",
                "3Nothing here\t\terror.host\t1",
                "no menu line",
            ]),
            expected
        );
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let long =
            "1word word word word word word word word word word word word word word word word word\t\th\t70";
        let info =
            "iword word word word word word word word word word word word word word word word word\t\th\t70";
        let text = shown(&[long, info]);
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
        assert_eq!(text.matches("word").count(), 34, "{text}");
        // A wide character takes two columns.
        let wide = "i漢字 漢字 漢字 漢字 漢字 漢字 漢字 漢字 漢字 漢字 漢字 漢字 漢字 漢字 漢字 漢字 漢字 漢字\t\th\t70";
        assert_eq!(shown(&[wide]).lines().count(), 2);
    }

    #[test]
    fn control_characters_in_a_menu_are_sanitised() {
        let text = shown(&["1\u{1b}[2J\t/a\th.example\t70", "i\u{9b}x\t\t\t", "1a\t/\u{1b}\th.example\t70"]);
        assert!(text.chars().all(|character| character == '\n' || !character.is_control()), "{text}");
    }
}
