//! Arbitrary bytes as attributes, as their lines, as a form and as its answers: no panic; the result does not depend on
//! where a body is cut; every line of a block is a line of the body; a filled form is one block of data.
//!
//! The bytes after the first NUL are the answers, with NUL between them.
#![no_main]

use fetch_url_proto::gopher_plus::{
    Admin, Attributes, AttributesReader, ErrorResponse, MAX_STATUS_BYTES, Question, View, encode_answers,
    is_data_block, status,
};
use fetch_url_proto::{RecvBuffer, WireError, calendar};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let whole = play(data, data.len().max(1));
    for length in [1, 2, 7] {
        assert_eq!(play(data, length), whole);
    }
    whole.0.iter().for_each(|item| check_item(data, item));
    check_refusal(data);
    let mut parts = data.split(|&byte| byte == 0);
    let form = parts.next().unwrap_or_default().split(|&byte| byte == b'\n');
    form.clone().for_each(check_line);
    let questions: Vec<Question> = form.filter_map(Question::parse).collect();
    let mut values: Vec<Vec<u8>> = parts.map(<[u8]>::to_vec).collect();
    values.resize(questions.iter().filter(|question| question.needs_answer()).count(), b"1".to_vec());
    if let Ok(block) = encode_answers(&questions, &values) {
        assert!(is_data_block(&block), "{questions:?} {values:?}");
    }
    if is_data_block(data) {
        assert!(data.starts_with(b"+") && !data.contains(&0));
        assert!(!is_data_block(&[data, b"\r\n"].concat()) && !is_data_block(&data[..data.len() - 1]));
    }
});

fn play(bytes: &[u8], length: usize) -> (Vec<Attributes>, Result<(), WireError>) {
    let (mut reader, mut buffer) = (AttributesReader::new(), RecvBuffer::new());
    let (mut said, mut pieces) = (Vec::new(), bytes.chunks(length));
    loop {
        match reader.read(&mut buffer) {
            Ok(Some(item)) => said.push(item),
            Ok(None) if buffer.is_ended() => return (said, Ok(())),
            Ok(None) => match pieces.next() {
                Some(piece) => buffer.push(piece),
                None => buffer.mark_closed(),
            },
            Err(error) => return (said, Err(error)),
        }
    }
}

fn check_item(bytes: &[u8], item: &Attributes) {
    let is_in = |part: &[u8]| part.is_empty() || bytes.windows(part.len()).any(|window| window == part);
    assert!(is_in(&item.info) && !item.info.contains(&b'\n'));
    for block in &item.blocks {
        assert!(!block.name.eq_ignore_ascii_case(b"INFO") && is_in(&block.name) && is_in(&block.inline));
        assert!(!block.name.is_empty() || (block.inline.is_empty() && !block.lines.is_empty()));
        assert!(block.lines.iter().all(|line| is_in(line) && !line.contains(&b'\n')));
        let _ = Admin::parse(&block.lines);
    }
    let mut kept = item.clone();
    kept.retain_blocks(&item.blocks.iter().map(|block| block.name.to_ascii_lowercase()).collect::<Vec<_>>());
    assert_eq!(kept, *item);
    kept.retain_blocks(&["no block has this name"]);
    assert!(kept.blocks.is_empty());
}

fn check_refusal(body: &[u8]) {
    let refusal = ErrorResponse::parse(body);
    assert!(refusal.text.len() <= 100 && refusal.words().len() <= 1024);
    assert!(refusal.moved_to().is_none_or(|item| item.contains(&b'\t') && refusal.code == Some(3)));
    assert!(!refusal.words().contains(&b'\n'));
}

fn check_line(line: &[u8]) {
    assert!(status(line).is_none() || line.len() <= MAX_STATUS_BYTES);
    if let Some(view) = View::parse(line) {
        assert!(!view.media_type.is_empty() && view.language.is_none_or(|language| !language.is_empty()));
    }
    if let Some(question) = Question::parse(line) {
        assert!(question.defaults.iter().all(|default| !default.is_empty() && !default.contains(&b'\t')));
        assert!(question.default_value().is_none_or(|_| question.needs_answer()));
    }
    let date = [b"Mod-Date: ", line].concat();
    if let Some(seconds) = Admin::parse(&[date.into()]).modified {
        let (year, month, day, hour, minute, second) = calendar::from_timestamp(seconds);
        assert_eq!(calendar::to_timestamp(year, month, day, hour, minute, second), Some(seconds));
    }
}
