//! Every command of the README and of `docs/` is typed into a terminal, page by page, and must print what the page
//! shows.

use std::sync::Mutex;

use crate::blocks::{Block, Page, pages};
use crate::compare::fits;
use crate::shell::{Shell, at_once};

/// A command of a block, and the lines that it prints.
#[derive(Debug)]
struct Typed {
    command: String,
    shown: Vec<String>,
    /// The lines of the block that show it.
    lines: std::ops::Range<usize>,
}

/// What stands behind `$ `, with what goes on behind `> `.
fn commands(block: &Block) -> Vec<Typed> {
    let mut found: Vec<Typed> = Vec::new();
    for (number, line) in block.lines.iter().enumerate() {
        if let Some(command) = line.strip_prefix("$ ") {
            found.push(Typed { command: command.to_owned(), shown: vec![], lines: number + 1..number + 1 });
            continue;
        }
        let Some(last) = found.last_mut() else { continue };
        if let Some(more) = line.strip_prefix("> ").filter(|_| last.shown.is_empty()) {
            last.command = format!("{}\n{more}", last.command);
            last.lines = number + 1..number + 1;
        } else {
            last.shown.push(line.clone());
            last.lines.end = number + 1;
        }
    }
    found
}

fn is_server(command: &str) -> bool {
    ["standalone", "master", "worker"].iter().any(|role| {
        let role = format!("windlass {role}");
        command
            .split(" # ")
            .next()
            .unwrap_or_default()
            .split("; ")
            .any(|part| part.ends_with(&role) || part.contains(&format!("{role} ")))
    })
}

/// Types everything on a page. What does not fit is told, or written into the page.
fn follow(page: &Page) -> Vec<String> {
    let blocks: Vec<&Block> = page.blocks.iter().filter(|block| block.language() == "console").collect();
    for block in &blocks {
        assert!(!commands(block).is_empty(), "{}: a console block without `$ `", page.name);
        assert!(block.not_run() != Some(""), "{}: a block is not run for no reason", page.name);
    }
    if blocks.iter().all(|block| block.not_run().is_some()) {
        return Vec::new();
    }
    let mut shell = Shell::new();
    let runs = || blocks.iter().filter(|block| block.not_run().is_none());
    let text: String = runs().map(|block| block.text()).collect();
    if text.contains("examples/") {
        shell.copy("examples");
    }
    let serves = |command: &str| is_server(command) && !command.contains("windlass worker ");
    // The last command of a block that exits with something is no server that goes on.
    let going = |block: &Block| commands(block).len() - usize::from(block.exit().is_some());
    if !runs().any(|block| commands(block)[..going(block)].iter().any(|typed| serves(&typed.command))) {
        shell.serve("windlass standalone");
    }
    let mut wrong = Vec::new();
    for block in &page.blocks {
        if let Some(name) = block.file().filter(|_| block.not_run().is_none()) {
            shell.write(name, &block.text());
        }
        if block.language() == "console" && block.not_run().is_none() {
            wrong.extend(type_block(&mut shell, page, block));
        }
    }
    wrong
}

fn type_block(shell: &mut Shell, page: &Page, block: &Block) -> Vec<String> {
    let typed = commands(block);
    let count = typed.len();
    let mut wrong = Vec::new();
    for (number, typed) in typed.iter().enumerate() {
        let Typed { command, shown, lines } = typed;
        let expected = block.exit().filter(|_| number + 1 == count);
        if is_server(command) && expected.is_none() {
            shell.serve(command);
            continue;
        }
        let ended = shell.run(command);
        if ended.code != expected.unwrap_or(0) {
            wrong.push(format!(
                "{}: `{command}` exits with {}:\n{}",
                page.name,
                ended.code,
                ended.printed.join("\n")
            ));
        }
        if !shown.is_empty() && !fits(shown, &ended.printed) {
            wrong.push(format!(
                "{}: `{command}` is shown with\n{}\nand printed\n{}",
                page.name,
                shown.join("\n"),
                ended.printed.join("\n")
            ));
            REWRITES.lock().unwrap().push(Rewrite {
                page: page.path.clone(),
                lines: block.first + lines.start..block.first + lines.end,
                text: ended.printed,
            });
        }
    }
    wrong
}

struct Rewrite {
    page: std::path::PathBuf,
    lines: std::ops::Range<usize>,
    text: Vec<String>,
}

static REWRITES: Mutex<Vec<Rewrite>> = Mutex::new(Vec::new());

/// Puts what was printed in the place of what was shown.
fn rewrite() {
    let mut rewrites = std::mem::take(&mut *REWRITES.lock().unwrap());
    rewrites.sort_by_key(|rewrite| std::cmp::Reverse(rewrite.lines.start));
    for Rewrite { page, lines, text } in rewrites {
        let whole = std::fs::read_to_string(&page).unwrap();
        let mut all: Vec<String> = whole.lines().map(str::to_owned).collect();
        all.splice(lines, text);
        std::fs::write(page, all.join("\n") + "\n").unwrap();
    }
}

#[test]
fn every_command_of_every_page_prints_what_the_page_shows() {
    let wanted = std::env::var("WINDLASS_DOCS_PAGE").unwrap_or_default();
    let pages: Vec<Page> = pages().into_iter().filter(|page| page.name.contains(&wanted)).collect();
    let wrong = Mutex::new(Vec::new());
    let failed = at_once(&pages, |page| {
        let found = follow(page);
        wrong.lock().unwrap().extend(found);
    });
    if std::env::var("UPDATE_DOCS").is_ok_and(|value| value == "1") {
        rewrite();
    }
    let wrong = wrong.into_inner().unwrap();
    assert!(
        wrong.is_empty(),
        "{} commands do not do what their pages say:\n\n{}",
        wrong.len(),
        wrong.join("\n\n")
    );
    assert_eq!(failed, 0, "pages that could not be followed; what they said is above");
}
