//! Import cycles: files of one crate that import each other, directly or through others.
//!
//! An import is a `use` or a path that begins with `crate`, `super`, `self` or a child module. A re-export (`pub use`)
//! is not an import: a name that is imported through one counts for the file that defines it. Test modules do not
//! count. The few cycles that are allowed are listed in [`ALLOWED`] with a reason.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::source::Source;

/// The allowed cycles: the files of each, below `crates/`, and the reason.
const ALLOWED: &[(&[&str], &str)] = &[
    (&["fetch/src/body.rs", "fetch/src/body/resumer.rs"], "a body asks its resumer for another body"),
    (
        &["fetch/src/sink.rs", "fetch/src/sink/file.rs", "fetch/src/sink/part.rs"],
        "a sink opens a file, the file is a part, the part becomes a sink's target",
    ),
];

/// A module: its path below the crate root, such as `["net", "proxy"]`.
type Module = Vec<String>;

/// Reports every import cycle that is not in [`ALLOWED`].
pub(super) fn find_cycles(sources: &[Source], findings: &mut Vec<Finding>) {
    for crate_name in ["core", "proto", "fetch", "cli"] {
        let folder = format!("crates/{crate_name}/src/");
        let files = sources.iter().filter(|source| source.path.starts_with(&folder) && source.is_rust());
        let graph = Graph::new(files.filter(|source| !source.is_test()), &folder);
        for cycle in graph.find_cycles() {
            let allowed =
                |(files, _): &&(&[&str], &str)| files.iter().copied().eq(cycle.iter().map(String::as_str));
            if ALLOWED.iter().find(allowed).is_none() {
                let what = format!("import cycle of {} files: {}", cycle.len(), cycle.join(" "));
                findings.push(Finding { path: cycle[0].clone(), line: 0, what });
            }
        }
    }
}

/// The modules of one crate and their imports.
struct Graph {
    folder: String,
    modules: BTreeMap<Module, Code>,
}

/// The parts of a file that the graph needs.
struct Code {
    path: String,
    items: BTreeSet<String>,
    imports: Vec<Module>,
    re_exports: Vec<Module>,
}

impl Graph {
    fn new<'s>(files: impl Iterator<Item = &'s Source>, folder: &str) -> Self {
        let modules = files.map(|source| (module_of(&source.path, folder), Code::new(source))).collect();
        Self { folder: folder.to_owned(), modules }
    }

    /// Returns the cycles of files, each as sorted paths below `crates/`.
    fn find_cycles(&self) -> Vec<Vec<String>> {
        let edges: BTreeMap<&Module, BTreeSet<&Module>> =
            self.modules.keys().map(|module| (module, self.targets(module))).collect();
        let reachable: BTreeMap<&Module, BTreeSet<&Module>> =
            edges.keys().map(|module| (*module, reach(module, &edges))).collect();
        let mut seen = BTreeSet::new();
        let mut cycles = Vec::new();
        for (module, others) in &reachable {
            if seen.contains(module) || !others.contains(module) {
                continue;
            }
            let cycle: Vec<&Module> =
                others.iter().copied().filter(|other| reachable[other].contains(module)).collect();
            let mut paths: Vec<String> =
                cycle.iter().map(|module| self.modules[*module].path.replacen("crates/", "", 1)).collect();
            paths.sort();
            cycles.push(paths);
            seen.extend(cycle);
        }
        debug_assert!(!self.folder.is_empty());
        cycles
    }

    /// Returns the modules that `module` imports from.
    fn targets(&self, module: &Module) -> BTreeSet<&Module> {
        let imports = &self.modules[module].imports;
        let absolute = imports.iter().filter_map(|path| self.absolute(module, path));
        absolute.filter_map(|path| self.resolve(&path, 0)).filter(|target| *target != module).collect()
    }

    /// Returns the absolute form of `path`, from the crate root, or `None` for other crates.
    fn absolute(&self, module: &Module, path: &[String]) -> Option<Module> {
        let child = |name: &String| {
            let mut child = module.clone();
            child.push(name.clone());
            self.modules.contains_key(&child)
        };
        match path.first()?.as_str() {
            "crate" => Some(path[1..].to_vec()),
            "self" | "super" => {
                let ups = path.iter().take_while(|part| *part == "super").count();
                let rest = path.iter().skip_while(|part| *part == "super" || *part == "self").cloned();
                Some(module.iter().take(module.len().saturating_sub(ups)).cloned().chain(rest).collect())
            }
            _ if child(&path[0]) => Some(module.iter().chain(path).cloned().collect()),
            _ => None,
        }
    }

    /// Returns the module that defines the item at `path`. Re-exports are followed.
    fn resolve(&self, path: &[String], depth: usize) -> Option<&Module> {
        let length = (0..=path.len()).rev().find(|length| self.modules.contains_key(&path[..*length]))?;
        let (module, code) = self.modules.get_key_value(&path[..length])?;
        let Some(name) = path.get(length).filter(|name| !code.items.contains(*name)) else {
            return Some(module);
        };
        let re_exported = code.re_exports.iter().filter(|path| path.last() == Some(name));
        let mut targets = re_exported.filter_map(|path| self.absolute(module, path));
        let target = targets.next().filter(|_| depth < 8);
        target.and_then(|target| self.resolve(&target, depth + 1)).or(Some(module))
    }
}

/// Returns all modules that `module` imports, directly or through others. It contains `module` itself only if there is
/// a cycle.
fn reach<'m>(module: &'m Module, edges: &BTreeMap<&'m Module, BTreeSet<&'m Module>>) -> BTreeSet<&'m Module> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&Module> = edges[module].iter().copied().collect();
    while let Some(next) = open.pop() {
        if found.insert(next) {
            open.extend(&edges[next]);
        }
    }
    found
}

fn module_of(path: &str, folder: &str) -> Module {
    let inner = path.trim_start_matches(folder).trim_end_matches(".rs");
    let mut module: Module = inner.split('/').map(str::to_owned).collect();
    if matches!(module.last().map(String::as_str), Some("mod" | "lib")) {
        module.pop();
    }
    module
}

impl Code {
    fn new(source: &Source) -> Self {
        let text: String = source
            .lines()
            .filter(|line| !line.is_test)
            .flat_map(|line| [without_strings(line.code), "\n".into()])
            .collect();
        let (mut imports, mut re_exports, mut rest) = (Vec::new(), Vec::new(), String::new());
        for statement in text.split_inclusive(';') {
            match statement.rfind("use ").filter(|at| is_use(statement, *at)) {
                Some(at) => {
                    let tree = statement[at + 4..].trim_end_matches(';');
                    let is_public = statement[..at].trim_end().ends_with(')')
                        || statement[..at].trim_end().ends_with("pub");
                    let paths = if is_public { &mut re_exports } else { &mut imports };
                    expand(&[], tree, paths);
                    rest.push_str(&statement[..at]);
                }
                None => rest.push_str(statement),
            }
        }
        imports.extend(paths_in(&rest));
        Self { path: source.path.clone(), items: items_of(&rest), imports, re_exports }
    }
}

/// Returns `true` if the `use ` at `at` begins an import: only a visibility may precede it on its line.
fn is_use(statement: &str, at: usize) -> bool {
    let line = statement[..at].rsplit('\n').next().unwrap_or_default().trim();
    line.is_empty() || line.starts_with("pub")
}

fn without_strings(line: &str) -> String {
    line.split('"').step_by(2).collect::<Vec<_>>().join("\"\"")
}

/// Expands a use tree to paths: `a::{b, c::D as E}` becomes `a::b` and `a::c::D`.
fn expand(prefix: &[String], tree: &str, paths: &mut Vec<Module>) {
    let tree = tree.trim();
    if let Some((before, inside)) = tree.split_once('{') {
        let prefix: Module = prefix.iter().cloned().chain(segments(before)).collect();
        for part in split_at_commas(inside.trim_end().trim_end_matches('}')) {
            expand(&prefix, part, paths);
        }
    } else if !tree.is_empty() {
        let name = tree.split(" as ").next().unwrap_or(tree);
        let own = segments(name).into_iter().enumerate().filter(|(at, name)| *at == 0 || name != "self");
        paths.push(
            prefix.iter().cloned().chain(own.map(|(_, name)| name).filter(|name| name != "self")).collect(),
        );
    }
}

/// Splits a use tree at its top-level commas.
fn split_at_commas(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0_u32, 0, Vec::new());
    for (at, character) in text.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn segments(path: &str) -> Module {
    path.split("::").map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// Returns the paths in code, such as `super::plan::new`.
fn paths_in(code: &str) -> Vec<Module> {
    let is_path = |character: char| character.is_alphanumeric() || character == '_' || character == ':';
    let words = code.split(|character| !is_path(character)).filter(|word| word.contains("::"));
    words.map(segments).filter(|path| path.len() > 1).collect()
}

/// Returns the names that a file defines.
fn items_of(code: &str) -> BTreeSet<String> {
    let words: Vec<&str> =
        code.split(|character: char| !(character.is_alphanumeric() || character == '_')).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let defines = ["fn", "struct", "enum", "trait", "type", "const", "static", "macro_rules"];
    words.windows(2).filter(|pair| defines.contains(&pair[0])).map(|pair| pair[1].to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find_cycles_of(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let sources: Vec<Source> =
            files.iter().map(|(path, text)| Source::new(&format!("crates/core/src/{path}"), text)).collect();
        Graph::new(sources.iter(), "crates/core/src/").find_cycles()
    }

    #[test]
    fn two_files_that_import_each_other_are_a_cycle() {
        let cycle = find_cycles_of(&[
            ("lib.rs", "mod a;\nmod b;\n"),
            ("a.rs", "use super::b::B;\npub struct A;\n"),
            ("b.rs", "pub struct B;\nfn f() { crate::a::new() }\n"),
        ]);
        assert_eq!(cycle, [["core/src/a.rs", "core/src/b.rs"]]);
    }

    #[test]
    fn re_exports_lead_to_the_file_that_defines_the_name() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\npub use a::A;\n"),
            ("a.rs", "use crate::b::{self, B};\npub struct A;\n"),
        ];
        assert_eq!(
            find_cycles_of(&[&files[..], &[("b.rs", "use crate::A;\npub struct B;\n")]].concat()).len(),
            1
        );
        assert_eq!(find_cycles_of(&[&files[..], &[("b.rs", "pub struct B;\n")]].concat()).len(), 0);
    }

    #[test]
    fn parent_and_child_that_use_each_other_are_a_cycle() {
        let parent = "mod child;\nuse child::Child;\npub struct Parent;\n";
        let cycle =
            find_cycles_of(&[("a.rs", parent), ("a/child.rs", "use super::Parent;\npub struct Child;\n")]);
        assert_eq!(cycle, [["core/src/a.rs", "core/src/a/child.rs"]]);
    }

    #[test]
    fn imports_in_tests_strings_and_comments_are_ignored() {
        let a = "use super::b::B;\npub struct A;\n";
        let b = "pub struct B; // crate::a::A\nconst X: &str = \"crate::a\";\n#[cfg(test)]\nmod tests { use crate::a::A; }\n";
        assert_eq!(find_cycles_of(&[("a.rs", a), ("b.rs", b)]).len(), 0);
    }
}
