//! What a method in the registry must have beside its algorithm. `docs/first-method.md` tells where each of them goes.

use std::fs;
use std::path::{Path, PathBuf};

use eigenspan_core::registry::{METHODS, Method, MethodInfo, Task};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The texts of all files with this ending, below a folder.
fn texts(folder: &str, ending: &str) -> Vec<(PathBuf, String)> {
    let (mut found, mut folders) = (vec![], vec![root().join(folder)]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == ending) {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    found
}

/// The methods by their own names.
fn methods() -> impl Iterator<Item = &'static MethodInfo> {
    METHODS.iter().filter(|method| method.preset_of.is_none())
}

/// The name of the parameters' type: `NpeParams`.
fn params_of(method: &MethodInfo) -> String {
    let list = text("crates/core/src/method/mod.rs");
    let line = list.split(';').find(|line| line.contains(&format!("= \"{}\",", method.name))).unwrap();
    let inside = line.rsplit_once(") =").unwrap().0.rsplit_once('(').unwrap().1;
    inside.rsplit("::").next().unwrap().to_string()
}

#[test]
fn every_method_has_a_class_in_python_that_is_exported() {
    let classes = texts("python/eigenspan", "py");
    let exported = text("python/eigenspan/__init__.py");
    for method in methods() {
        let own = format!("    METHOD = \"{}\"\n", method.name);
        let (_, file) = classes.iter().find(|(_, text)| text.contains(&own)).unwrap_or_else(|| panic!("{own}"));
        let before = &file[..file.find(&own).unwrap()];
        let class = before.rsplit("\nclass ").next().unwrap().split(['(', ':']).next().unwrap();
        assert!(exported.contains(&format!("\n    \"{class}\",\n")), "{class} is not in __all__");
        assert!(exported.contains(&format!("`{class}`")), "{class} is not in the table of the package");
    }
}

#[test]
fn every_method_has_a_row_in_the_guide() {
    let guide = text("docs/methods.md");
    for MethodInfo { name, .. } in METHODS {
        let row = guide.lines().find(|line| line.split('|').nth(1).is_some_and(|c| c.contains(&format!("`{name}`"))));
        assert!(row.is_some(), "no row for `{name}`");
    }
}

#[test]
fn every_method_has_laws() {
    let laws = texts("crates/core/tests/laws", "rs");
    let mut inside = texts("crates/core/src/method", "rs");
    inside.extend(texts("crates/core/src/classify", "rs"));
    for method in methods() {
        let params = params_of(method);
        // Laws stand in a file of their own, or at the end of the file that has the parameters.
        let tested = |text: &str| text.contains("#[test]") && text.contains(&params);
        let own = |text: &str| text.contains(&format!("pub struct {params}")) && text.contains("#[test]");
        let found = laws.iter().filter(|(path, _)| !path.ends_with("registry.rs")).any(|(_, text)| tested(text));
        assert!(found || inside.iter().any(|(_, text)| own(text)), "{params} has no laws");
    }
}

#[test]
fn every_citation_is_in_the_bibliography() {
    let bibliography = text("docs/references.bib");
    let mut files = texts("crates/core/src", "rs");
    files.retain(|(_, text)| text.contains("docs/references.bib"));
    for (path, text) in files {
        for line in text.lines().filter(|line| line.contains("docs/references.bib")) {
            let before = line.split("in `docs/references.bib`").next().unwrap();
            let key = |word: &&str| word.len() > 4 && word[word.len() - 4..].bytes().all(|b| b.is_ascii_digit());
            for key in before.split('`').skip(1).step_by(2).filter(key) {
                assert!(bibliography.contains(&format!("{{{key},")), "{}: {key}", path.display());
            }
        }
    }
}

#[test]
fn the_page_on_the_first_method_names_every_place_and_no_other() {
    let page = text("docs/first-method.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")).map(|line| {
        let (file, rest) = line.split_once("` | `").unwrap_or_else(|| panic!("{line}"));
        (file, rest.split('`').next().unwrap())
    });
    let rows: Vec<(&str, &str)> = rows.collect();
    assert!((5..=12).contains(&rows.len()), "{} places", rows.len());
    let mut files: Vec<&str> = rows.iter().map(|(file, _)| *file).collect();
    files.dedup();
    assert!(files.len() <= 6, "{} files", files.len());
    for (file, place) in &rows {
        assert!(text(file).contains(place), "{file} does not say {place}");
    }
    let names = ["random-projection", "random_projection", "RandomProjection"];
    let all = ["crates", "python", "docs"]
        .into_iter()
        .flat_map(|folder| ["rs", "py", "pyi", "toml", "md"].into_iter().flat_map(move |ending| texts(folder, ending)));
    let about = ["first-method.md", "laws/registry.rs"];
    for (path, text) in all.filter(|(path, _)| !path.components().any(|part| part.as_os_str() == "target")) {
        let said = names.iter().any(|name| text.contains(name));
        let listed = files.iter().any(|file| path.ends_with(file)) || about.iter().any(|file| path.ends_with(file));
        assert!(!said || listed, "{} speaks of the method, and the page does not list it", path.display());
    }
}

#[test]
fn every_method_says_what_it_is_for() {
    for method in METHODS {
        let labels = method.needs.labels == eigenspan_core::model::fitted::Labelling::Required;
        assert_eq!(labels, method.task == Task::Classifier, "{}", method.name);
        assert!(Method::named(method.name).is_some());
    }
}
