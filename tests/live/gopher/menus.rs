//! Menus as text, as JSON and raw; the URL of each item fetches the item.

use super::completeness::AssertOutput as _;
use crate::live::gopher_server::{GOPHERNICUS, GopherServer, PYGOPHERD, each_gopher_server};
use crate::live::work_dir::{WorkDir, fetch};

each_gopher_server![
    json_menu_has_an_entry_for_each_line,
    text_menu_numbers_each_link_and_shows_its_url,
    raw_menu_equals_the_response,
    every_url_form_of_a_menu_gives_the_same_entries,
    url_of_each_root_item_fetches_the_item,
    urls_of_nested_menus_lead_to_the_deepest_file,
    menu_of_10000_items_is_shown_completely,
    empty_directory_gives_an_empty_menu,
    malformed_lines_are_shown_without_a_url,
    menu_is_written_to_a_file_unchanged,
];

/// Returns a string field, or `None` if it is null or missing.
pub(super) fn field(line: &str, name: &str) -> Option<String> {
    let (_, rest) = line.split_once(&format!("\"{name}\":\""))?;
    let mut text = String::new();
    let mut letters = rest.chars();
    loop {
        match letters.next()? {
            '"' => return Some(text),
            '\\' => match letters.next()? {
                'n' => text.push('\n'),
                'r' => text.push('\r'),
                't' => text.push('\t'),
                'u' => {
                    let digits: String = letters.by_ref().take(4).collect();
                    text.extend(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32));
                }
                letter => text.push(letter),
            },
            letter => text.push(letter),
        }
    }
}

/// Returns the JSON text of a field that is not a string.
pub(super) fn value(line: &str, name: &str) -> String {
    let (_, rest) = line.split_once(&format!("\"{name}\":")).unwrap_or_else(|| panic!("no {name}: {line}"));
    rest.split([',', '}']).next().unwrap_or_default().to_owned()
}

/// Returns the items of a JSON menu that have a URL, with it.
pub(super) fn links(json: &str) -> Vec<(&str, String)> {
    json.lines().filter_map(|line| Some((line, field(line, "url")?))).collect()
}

/// Returns the line of the item with this name.
#[track_caller]
pub(super) fn named<'a>(json: &'a str, name: &str) -> &'a str {
    let line = json.lines().find(|line| field(line, "name").as_deref() == Some(name));
    line.unwrap_or_else(|| panic!("no item {name} in\n{json}"))
}

#[track_caller]
fn json(url: &str) -> String {
    let result = fetch(&["--format", "json", url]);
    let out = result.out.clone();
    result.assert_output_with_note(out).text()
}

/// Returns the URL of an item of this server. pygopherd marks its items as Gopher+.
fn item_url(server: GopherServer, path: &str) -> String {
    server.url(&format!("{path}{}", if server.is_plus { "%09%09+" } else { "" }))
}

fn json_menu_has_an_entry_for_each_line(server: GopherServer) {
    let text = json(&server.url(""));
    for (name, gtype, kind, selector) in [
        ("About", "0", "file", "/about.txt"),
        ("All octets", "9", "file", "/all-bytes.bin"),
        ("Picture", "g", "file", "/dot.gif"),
        ("Odd names", "1", "directory", "/odd"),
        ("Relative", "1", "directory", "/pub"),
        ("Not for everybody", "0", "file", "/noperm.txt"),
    ] {
        let line = named(&text, name);
        assert_eq!(field(line, "url"), Some(item_url(server, &format!("/{gtype}{selector}"))), "{line}");
        let told = ["type", "kind", "selector", "host"].map(|name| field(line, name).expect(name));
        assert_eq!(told, [gtype, kind, selector, "127.0.0.1"].map(str::to_owned), "{line}");
        let told = ["port", "plus", "size", "modified"].map(|name| value(line, name));
        let plus = if server.is_plus { "true" } else { "false" };
        assert_eq!(told, [&server.port().to_string(), plus, "null", "null"].map(str::to_owned), "{line}");
    }
    let search = named(&text, "Search");
    assert_eq!(field(search, "type").as_deref(), Some("7"));
    for (name, gtype) in [("Welcome to the gopher servers of the fetch-url tests", "i"), ("An error", "3")] {
        let line = named(&text, name);
        assert_eq!(field(line, "url"), None, "{line}");
        assert_eq!(field(line, "type").as_deref(), Some(gtype), "{line}");
    }
    let count = server.answer("").split(|&byte| byte == b'\n').filter(|line| line.contains(&b'\t')).count();
    assert_eq!(text.lines().count(), count, "an entry for each line of the menu, and none for its end");
}

/// The lines are in the order of the menu; each link has a number, and its URL on the next line.
fn text_menu_numbers_each_link_and_shows_its_url(server: GopherServer) {
    let text = fetch(&[&server.url("")]).assert_exit(0).text();
    let lines: Vec<&str> = text.lines().collect();
    let all = json(&server.url(""));
    let mut at = 0;
    for (index, (line, url)) in links(&all).into_iter().enumerate() {
        let below = lines[at..].iter().position(|line| line.trim() == url);
        let below = at + below.unwrap_or_else(|| panic!("{url} is not a line of\n{text}"));
        let above = lines[below - 1];
        let name = field(line, "name").expect("a name");
        assert!(above.contains(&name), "{above:?} is not {name}");
        let number = (index + 1).to_string();
        assert!(above.split_whitespace().any(|word| word.trim_matches(['.', '[', ']']) == number), "{above}");
        at = below + 1;
    }
    assert!(text.starts_with("Welcome to the gopher servers"), "{text}");
    assert!(text.contains("a line that ends with a dot.\n"), "{text}");
    assert!(text.contains("An error"), "{text}");
    assert!(!text.contains("null.host") && !text.contains("(NULL)") && !text.contains('\t'), "{text}");
}

fn raw_menu_equals_the_response(server: GopherServer) {
    for selector in ["", "/pub", "/odd", "/kinds", "/cgi-bin/odd-menu", "/empty-dir", "/cgi-bin/ten-thousand"]
    {
        let path = if selector.is_empty() { String::new() } else { format!("/1{selector}") };
        fetch(&["--format", "raw", &server.url(&path)]).assert_output_with_note(server.answer(selector));
    }
}

fn every_url_form_of_a_menu_gives_the_same_entries(server: GopherServer) {
    let expected = json(&server.url(""));
    for path in ["/", "/1", "/1/", "#fragment", "/1#fragment"] {
        assert_eq!(json(&server.url(path)), expected, "{path:?}");
    }
    let expected = json(&server.url("/1/pub"));
    for path in ["/1/pub/", "/1pub", "/1/%70ub"] {
        assert_eq!(json(&server.url(path)), expected, "{path:?}");
    }
}

fn url_of_each_root_item_fetches_the_item(server: GopherServer) {
    let text = json(&server.url(""));
    let url = |name: &str| field(named(&text, name), "url").unwrap_or_else(|| panic!("{name} has no URL"));
    fetch(&[&url("About")]).assert_output_with_note(server.answer("/about.txt"));
    fetch(&[&url("All octets")]).assert_output_with_note((0..=255).collect::<Vec<u8>>().repeat(16));
    fetch(&[&url("Picture")]).assert_output_with_note(server.answer("/dot.gif"));
    fetch(&[&url("Web page")]).assert_exit(0).assert_stdout("Hello, world\n");
    fetch(&[&url("At pygopherd")]).assert_output_with_note("Hello, world\n");
    assert_eq!(url("At pygopherd"), PYGOPHERD.url("/0/hello.txt"));
    for (name, selector) in [("Odd names", "/odd"), ("One of each kind", "/kinds"), ("Relative", "/pub")] {
        assert_eq!(json(&url(name)), json(&server.url(&format!("/1{selector}"))), "{name}");
    }
    for name in ["Telnet", "Terminal", "Phone book"] {
        fetch(&[&url(name)]).assert_exit(0);
    }
}

/// Follows the URLs of menus to the deepest file.
fn urls_of_nested_menus_lead_to_the_deepest_file(server: GopherServer) {
    let mut url = field(named(&json(&server.url("")), "Relative"), "url").expect("a URL");
    for name in ["a", "b", "c", "deep"] {
        let menu = json(&url);
        let begins =
            |line: &&(&str, String)| field(line.0, "name").is_some_and(|told| told.starts_with(name));
        url = links(&menu).iter().find(begins).unwrap_or_else(|| panic!("no {name} in\n{menu}")).1.clone();
    }
    fetch(&[&url]).assert_output_with_note(server.as_text(b"path=pub/a/b/c/deep.txt\n"));
}

fn menu_of_10000_items_is_shown_completely(server: GopherServer) {
    let text = json(&server.url("/1/cgi-bin/ten-thousand"));
    let all = links(&text);
    assert_eq!(all.len(), 10_000);
    for (number, (line, url)) in all.iter().enumerate() {
        assert_eq!(field(line, "name"), Some(format!("item {number:04}")));
        assert_eq!(*url, server.url(&format!("/0/many/f{:04}.txt", number % 5000)));
    }
    fetch(&[&all[9_999].1]).assert_output_with_note(server.as_text(b"4999\n"));
    let text = fetch(&[&server.url("/1/cgi-bin/ten-thousand")]).assert_exit(0).text();
    assert!(text.contains("10000") && text.contains("item 9999"), "the last item has its number");
    assert_eq!(text.lines().filter(|line| line.trim().starts_with("gopher://")).count(), 10_000);
}

/// gophernicus lists at most 1,022 files; pygopherd lists all of them, slowly.
#[test]
#[ignore = "needs the servers of docker/"]
fn menu_of_gophernicus_lists_1022_files() {
    let text = json(&GOPHERNICUS.url("/1/many"));
    let files = links(&text).iter().filter(|(line, _)| field(line, "type").as_deref() == Some("0")).count();
    assert_eq!(files, 1022);
}

fn empty_directory_gives_an_empty_menu(server: GopherServer) {
    let text = json(&server.url("/1/empty-dir"));
    let own: Vec<_> = links(&text).into_iter().filter(|(line, _)| !line.contains("\"..")).collect();
    assert_eq!(own, []);
    if server.is_plus {
        assert_eq!(text, "", "no octets, no entries");
        fetch(&[&server.url("/1/empty-dir")]).assert_output_with_note("");
    }
}

/// Valid links have a URL; all other lines are shown without one.
fn malformed_lines_are_shown_without_a_url(server: GopherServer) {
    let text = json(&server.url("/1/cgi-bin/odd-menu"));
    for name in ["four fields", "lone line feed", "the last one"] {
        assert_eq!(field(named(&text, name), "url"), Some(server.url("/0/about.txt")), "{name}");
    }
    for (name, end) in [("five fields", "+"), ("six fields", "?")] {
        let line = named(&text, name);
        assert_eq!(field(line, "url"), Some(server.url(&format!("/0/about.txt%09%09{end}"))), "{line}");
        assert_eq!(value(line, "plus"), "true", "{line}");
    }
    let latin = text.lines().find(|line| line.contains("latin-1: ")).expect("the line in Latin-1");
    let url = field(latin, "url").expect("a URL");
    assert!(url.ends_with("/0/odd/caf%E9/r%E9sum%E9.txt"), "{url}");
    fetch(&[&url]).assert_output_with_note(server.as_text(b"path=odd/caf%E9/r%E9sum%E9.txt\n"));
    // A line without a valid host and port has no URL, and is shown.
    for part in ["no fields", "no host", "no port", "port 0", "port 99999", "port x", "empty host", "info"] {
        let line =
            text.lines().find(|line| line.contains(part)).unwrap_or_else(|| panic!("no {part}: {text}"));
        assert_eq!(field(line, "url"), None, "{line}");
    }
    let text = fetch(&[&server.url("/1/cgi-bin/odd-menu")]).assert_exit(0).text();
    assert!(!text.contains('\u{1b}'), "an escape goes to the terminal: {text:?}");
    for part in ["no fields", "no host", "port x", "the last one"] {
        assert!(text.contains(part), "no {part} in {text}");
    }
}

fn menu_is_written_to_a_file_unchanged(server: GopherServer) {
    let dir = WorkDir::new();
    for format in ["text", "json", "raw"] {
        let url = server.url("/1/odd");
        let out = fetch(&["--format", format, &url]).assert_exit(0).out;
        dir.fetch(&["--format", format, "-o", format, &url]).assert_output_with_note("");
        assert_eq!(dir.read(format), out, "{format}");
    }
    assert_eq!(dir.read("raw"), server.answer("/odd"));
}
