//! Texts with dots: decoded by detection, by RFC 1436, or left unchanged.

use super::completeness::AssertOutput as _;
use crate::live::gopher_server::{GopherServer, each_gopher_server};
use crate::live::work_dir::fetch;

each_gopher_server![
    dot_stuffing_is_detected,
    gopher_dots_option_selects_the_decoding,
    binary_item_keeps_every_dot,
    text_above_1_mib_loses_the_final_dot_only
];

/// The texts of `docker/common/make-gopher.pl`: name, file, and the output with detection and with RFC 1436.
const TEXTS: [(&str, &str, &str, &str); 8] = [
    ("none-doubled", "first\n.\n..\n.dot\n...\nlast\n", "first\n.\n..\n.dot\n...\nlast\n", "first\n"),
    ("only", ".\n", "", ""),
    ("last", "first\nlast\n.\n", "first\nlast\n", "first\nlast\n"),
    ("two-last", "first\n.\n.\n", "first\n.\n", "first\n"),
    (
        "all-doubled",
        "first\n..\n...\n..dot\nlast\n.\n",
        "first\n.\n..\n.dot\nlast\n",
        "first\n.\n..\n.dot\nlast\n",
    ),
    (
        "some-doubled",
        "first\n..two\n.one\nlast\n.\n",
        "first\n..two\n.one\nlast\n",
        "first\n.two\n.one\nlast\n",
    ),
    ("doubled-no-end", "first\n..dot\nlast\n", "first\n..dot\nlast\n", "first\n.dot\nlast\n"),
    ("no-line-end", "first\nlast\n.", "first\nlast\n", "first\nlast\n"),
];

/// A final dot without a line end may be the start of a truncated line. gophernicus adds the line end.
fn has_no_end(server: GopherServer, name: &str) -> bool {
    name == "no-line-end" && server.is_plus
}

fn dot_stuffing_is_detected(server: GopherServer) {
    for (name, file, evident, _) in TEXTS {
        let evident = if has_no_end(server, name) { file } else { evident };
        let path = format!("/dots/{name}.txt");
        assert_eq!(server.answer(&path), server.as_text(file.as_bytes()), "the server's {name}");
        for gtype in ["0", "m"] {
            fetch(&[&server.url(&format!("/{gtype}{path}"))])
                .assert_output_with_note(server.as_text(evident.as_bytes()));
        }
    }
}

fn gopher_dots_option_selects_the_decoding(server: GopherServer) {
    for (name, file, _, standard) in TEXTS {
        let url = server.url(&format!("/0/dots/{name}.txt"));
        fetch(&["--gopher-dots", "raw", &url]).assert_output_with_note(server.as_text(file.as_bytes()));
        let standard = if has_no_end(server, name) { file } else { standard };
        fetch(&["--gopher-dots", "rfc1436", &url])
            .assert_output_with_note(server.as_text(standard.as_bytes()));
    }
}

/// Items that are not texts keep every dot, with any option.
fn binary_item_keeps_every_dot(server: GopherServer) {
    for (name, file, _, _) in TEXTS {
        for (gtype, options) in [("9", &[][..]), ("d", &[]), ("h", &[]), ("9", &["--gopher-dots", "rfc1436"])]
        {
            let url = server.url(&format!("/{gtype}/dots/{name}.txt"));
            fetch(&[options, &[&url]].concat()).assert_output_with_note(server.as_text(file.as_bytes()));
        }
    }
}

/// Of a text of more than 1 MiB, detection removes only the final dot.
fn text_above_1_mib_loses_the_final_dot_only(server: GopherServer) {
    let lines: String =
        (1..=30_000).map(|line| format!("..line {line} of a text of more than one mebibyte\n")).collect();
    let url = server.url("/0/dots/large.txt");
    fetch(&["--require-complete", &url]).assert_success(server.as_text(lines.as_bytes()));
    let raw = server.as_text(format!("{lines}.\n").as_bytes());
    fetch(&["--gopher-dots", "raw", &url]).assert_success(raw);
    let standard = server.as_text(lines.replace("..line", ".line").as_bytes());
    fetch(&["--gopher-dots", "rfc1436", &url]).assert_success(standard);
}
