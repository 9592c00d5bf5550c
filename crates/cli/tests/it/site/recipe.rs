//! The commands of a page: blocks of `console` with commands after `$ ` and their output below.

/// A block of commands, which share a directory.
#[derive(Debug)]
pub(crate) struct Block {
    line: usize,
    pub(crate) steps: Vec<Step>,
}

/// A command and the output that the page shows.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) command: String,
    output: Vec<String>,
}

/// Returns the blocks of a page.
pub(crate) fn blocks(text: &str) -> impl Iterator<Item = Block> {
    let mut lines = text.lines().enumerate();
    std::iter::from_fn(move || {
        let (line, _) = lines.find(|(_, line)| *line == "```console")?;
        let mut steps: Vec<Step> = Vec::new();
        for (_, line) in lines.by_ref().take_while(|(_, line)| *line != "```") {
            match (line.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) => steps.push(Step { command: command.to_owned(), output: Vec::new() }),
                (None, Some(step)) => step.output.push(line.to_owned()),
                (None, None) => panic!("a block that does not begin with a command: {line}"),
            }
        }
        Some(Block { line: line + 1, steps })
    })
}

impl Block {
    /// Compares the outputs of the commands with those of the page.
    pub(crate) fn check(&self, actual: &[String]) -> Result<(), String> {
        for (step, actual) in self.steps.iter().zip(actual) {
            let actual: Vec<&str> = actual.lines().collect();
            if !all_match(&step.output, &actual) {
                let line = self.line;
                return Err(format!("line {line}: {}\nprints:\n{}", step.command, actual.join("\n")));
            }
        }
        Ok(())
    }
}

fn all_match(patterns: &[String], lines: &[&str]) -> bool {
    patterns.len() == lines.len() && patterns.iter().zip(lines).all(|(pattern, line)| matches(pattern, line))
}

/// Compares a line with a pattern, in which `…` stands for any text.
fn matches(pattern: &str, line: &str) -> bool {
    let mut parts = pattern.split('…');
    let Some(mut rest) = parts.next().and_then(|start| line.strip_prefix(start)) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some((_, behind)) = rest.split_once(part) else { return false };
        rest = behind;
    }
    rest.ends_with(last)
}

/// Returns the page with the real output of its commands. Lines that match already stay as they are.
pub(crate) fn with_output(text: &str, outputs: &[Vec<String>]) -> String {
    let mut new = String::new();
    let (mut outputs, mut lines) = (outputs.iter(), text.lines());
    for block in blocks(text) {
        for line in lines.by_ref() {
            new += &format!("{line}\n");
            if line == "```console" {
                break;
            }
        }
        lines.by_ref().find(|line| *line == "```");
        let actual = outputs.next().map(Vec::as_slice).unwrap_or_default();
        for (index, step) in block.steps.iter().enumerate() {
            new += &format!("$ {}\n", step.command);
            let lines: Option<Vec<&str>> = actual.get(index).map(|text| text.lines().collect());
            match lines {
                Some(lines) if !all_match(&step.output, &lines) => {
                    lines.iter().for_each(|line| new += &format!("{line}\n"));
                }
                _ => step.output.iter().for_each(|line| new += &format!("{line}\n")),
            }
        }
        new += "```\n";
    }
    lines.for_each(|line| new += &format!("{line}\n"));
    new
}

#[test]
fn wrong_output_is_found_and_shown() {
    let page = "text\n```console\n$ one\na…c\n$ two\n```\nend\n";
    let block = blocks(page).next().expect("a block");
    assert_eq!(block.check(&["abc\n".to_owned(), String::new()]), Ok(()));
    let why = block.check(&["abd\n".to_owned(), String::new()]).unwrap_err();
    assert_eq!(why, "line 2: one\nprints:\nabd");
    assert!(block.check(&["abc\n".to_owned(), "more\n".to_owned()]).is_err());
    let outputs = [vec!["abc\n".to_owned(), "more\n".to_owned()]];
    assert_eq!(with_output(page, &outputs), "text\n```console\n$ one\na…c\n$ two\nmore\n```\nend\n");
}
