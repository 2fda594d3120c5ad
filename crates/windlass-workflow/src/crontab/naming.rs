//! What a workflow that was a line is called: after the program that does the work.

use std::collections::BTreeSet;

use windlass_model::Name;

/// Longer names are cut, so that a prefix and a number fit.
const LONGEST: usize = 60;

/// A name for a command.
pub fn of(command: &str) -> String {
    let words: Vec<&str> = command.split_whitespace().take(64).collect();
    let mut at = 0;
    let mut found = None;
    while let Some(word) = words.get(at) {
        at += 1;
        let bare = word.trim_matches(['(', ')', '{', '}', '"', '\'', ';', '`']);
        let program = bare.rsplit('/').next().unwrap_or(bare);
        match program {
            "" | "!" | "then" | "do" | "&&" | "||" | "|" | "exit" | "true" | "false" => {}
            // A condition or a preparation: the work comes after it.
            "test" | "[" | "[[" | "cd" | "command" | "sleep" | "if" | "export" | "umask" | "source" | "." => {
                while let Some(word) = words.get(at) {
                    at += 1;
                    if matches!(*word, "&&" | "||" | "then") || word.ends_with(';') {
                        break;
                    }
                }
            }
            "flock" => {
                while words.get(at).is_some_and(|word| word.starts_with('-') || word.parse::<f64>().is_ok()) {
                    at += 1;
                }
                at += 1;
                if words.get(at).is_some_and(|word| matches!(*word, "-c" | "--command")) {
                    at += 1;
                }
            }
            "run-parts" => {
                let folder = words[at..].iter().find(|word| word.starts_with('/'));
                found = Some(folder.and_then(|folder| folder.rsplit('/').find(|part| !part.is_empty())));
                if found.flatten().is_none() {
                    found = Some(Some(program));
                }
                break;
            }
            "nice" | "ionice" | "chronic" | "sudo" | "env" | "exec" | "time" | "timeout" | "nohup"
            | "setsid" | "sh" | "bash" | "dash" | "zsh" | "perl" | "php" | "ruby" | "node" | "java"
            | "Rscript" | "run-one" | "eatmydata" | "caffeinate" | "systemd-cat" | "cronic" | "chrt"
            | "taskset" | "stdbuf" | "xvfb-run" => {
                skip_options(&words, &mut at);
            }
            _ if program.starts_with("python") => skip_options(&words, &mut at),
            // `NAME=value` before a command.
            _ if bare.split_once('=').is_some_and(|(name, _)| !name.is_empty() && !name.contains('/')) => {}
            _ if bare.contains(['>', '<']) || bare.starts_with('-') || bare.parse::<f64>().is_ok() => {}
            _ if bare.starts_with('$') && !bare.contains('/') => {}
            _ => {
                found = Some(Some(program));
                break;
            }
        }
    }
    let program = found.flatten().unwrap_or("cron");
    let stem = match program.rsplit_once('.') {
        Some((
            stem,
            "sh" | "py" | "pl" | "rb" | "php" | "js" | "bash" | "jar" | "R" | "pyc" | "mjs" | "ts",
        )) => stem,
        _ => program,
    };
    let name: String = stem
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() || "_.-".contains(letter) { letter } else { '-' })
        .take(LONGEST)
        .collect();
    let name = name.trim_start_matches(['-', '.']).trim_end_matches(['-', '.']);
    if name.is_empty() { "cron".to_owned() } else { name.to_owned() }
}

/// Passes over options and numbers, which are not what is run.
fn skip_options(words: &[&str], at: &mut usize) {
    while let Some(word) = words.get(*at) {
        let number = word.trim_end_matches(['s', 'm', 'h']).parse::<f64>().is_ok();
        let option = word.starts_with('-') && *word != "-c";
        if !(option || number) {
            break;
        }
        *at += 1;
    }
    if words.get(*at) == Some(&"-c") {
        *at += 1;
    }
}

/// The name with the prefix, and with a number if it is taken.
pub fn unused(prefix: &str, name: &str, taken: &BTreeSet<String>) -> Option<Name> {
    let first = format!("{prefix}{name}");
    let mut tried = first.clone();
    for count in 2.. {
        if !taken.contains(&tried) {
            break;
        }
        tried = format!("{first}-{count}");
    }
    Name::new(&tried).ok()
}
