//! The completion scripts for shells: those of `clap_complete`, with the parts corrected that do not work for this
//! command.

use clap_complete::Shell;

use crate::flags;

/// The functions that tell whether the command line has a sub-command, which is always the first argument.
///
/// Those of `clap_complete` parse all options with fish's `argparse`, which rejects names with a dot such as `http1.1`.
const FISH_FUNCTIONS: &str = r"# Succeed if the command line has no sub-command, which is always the first argument.
function __fish_fetch_url_needs_command
    set -l words (commandline -opc)
    not contains -- $words[2] VERBS
end

# Succeed if nothing precedes the current argument.
function __fish_fetch_url_is_first_argument
    test (count (commandline -opc)) -eq 1
end

# Succeed if the sub-command is one of the arguments.
function __fish_fetch_url_using_subcommand
    set -l words (commandline -opc)
    contains -- $words[2] $argv
end

";

/// Returns the completion script for a shell.
pub fn completion_script(shell: Shell) -> String {
    let mut script = Vec::new();
    let mut command = flags::command();
    clap_complete::generate(shell, &mut command, "fetch-url", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    match shell {
        // The name of the command is spelt in two ways, so that no sub-command would be completed.
        Shell::Bash => script.replace("fetch__subcmd__url__", "fetch__url__"),
        Shell::Fish => fish_script(&script, &command),
        Shell::Zsh => zsh_script(&script, &command),
        _ => script,
    }
}

fn fish_script(script: &str, command: &clap::Command) -> String {
    let verbs: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    let mut text = FISH_FUNCTIONS.replace("VERBS", &verbs.join(" "));
    let lines = script.lines().skip_while(|line| !line.starts_with("complete "));
    for line in lines {
        // Without quotes, `#` begins a comment.
        let mut line = line.replace(" -s # ", " -s '#' ");
        let is_verb = |verb: &str| line.contains(&format!("needs_command\" -a \"{verb}\" "));
        if verbs.iter().any(|verb| is_verb(verb)) {
            line = line.replacen("needs_command\" -a", "is_first_argument\" -f -a", 1);
        }
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// The function that completes the first argument in zsh: a sub-command or a URL.
const ZSH_FIRST_ARGUMENT: &str = r"(( $+functions[_fetch-url_first_argument] )) ||
_fetch-url_first_argument() {
    local ret=1
    _fetch-url_commands && ret=0
    _default && ret=0
    return ret
}
";

/// Lets a sub-command be the first argument: `clap_complete` expects it after a URL.
fn zsh_script(script: &str, command: &clap::Command) -> String {
    let verbs: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    let start = "    _arguments \"${_arguments_options[@]}\" : \\\n";
    let test = format!(
        "    if (( CURRENT > 2 )) && [[ $words[2] == ({}) ]]; then\n        state=fetch-url\n    else\n{start}",
        verbs.join("|")
    );
    let arguments = "\":: :_fetch-url_commands\" \\\n\"*::: :->fetch-url\" \\\n&& ret=0\n";
    let replaced = [
        (start, test.as_str()),
        ("'::urls -- URLs to fetch:_default' \\\n", ""),
        (
            arguments,
            "\"::URL or sub-command:_fetch-url_first_argument\" \\\n\"*:URL:_default\" \\\n&& ret=0\n    fi\n",
        ),
        (
            "        words=($line[2] \"${words[@]}\")\n        (( CURRENT += 1 ))\n",
            "        shift words\n        (( CURRENT -= 1 ))\n",
        ),
        ("fetch-url-command-$line[2]:", "fetch-url-command-$words[1]:"),
        ("        case $line[2] in\n", "        case $words[1] in\n"),
        (
            "(( $+functions[_fetch-url_commands] ))",
            &format!("{ZSH_FIRST_ARGUMENT}(( $+functions[_fetch-url_commands] ))"),
        ),
    ];
    replaced.iter().fold(script.to_owned(), |script, (from, to)| script.replacen(from, to, 1))
}
