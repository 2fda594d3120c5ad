//! The reference of the command line and of settings is generated from the code.

use std::fmt::Write as _;

use clap::{Arg, Command, CommandFactory as _};
use windlass_tests::pages;

use crate::cli::Cli;
use crate::settings::{KEYS, Role};

#[test]
fn the_page_about_the_command_line_is_the_generated_one() {
    let mut root = Cli::command();
    root.build();
    let mut page = String::from(COMMAND_LINE);
    write_options(&mut page, root.get_arguments().filter(|arg| arg.is_global_set()));
    page.push_str(EXIT_CODES);
    write_commands(&mut page, &root);
    page.push_str("\n## Not there yet\n\nThese say what works instead, and exit with 2:\n");
    let later: Vec<String> = root
        .get_subcommands()
        .filter(|command| command.is_hide_set())
        .map(|command| format!("`{}`", command.get_name()))
        .collect();
    writeln!(page, "{}.", later.join(", ")).unwrap();
    pages::whole("cli.md", &page);
}

const COMMAND_LINE: &str = "\
# Command line

`windlass` is one program: servers, and what people do with them. Results are printed on standard output,
everything else on standard error; with `-o json` standard output is JSON only, a list being
`{\"items\": [...]}`. A `RUN` is an id, the beginning of one, or `last`; a `TASK` is a task's id, `task[index]`
for one job of several, or the number of a job. This page is made from the program's own help.

## Options of every command

";

const EXIT_CODES: &str = "
## Exit codes

| code | meaning |
|---|---|
| 0 | fine |
| 1 | the run failed or was stopped, or something went wrong that has no code of its own |
| 2 | used in a way that makes no sense |
| 3 | the workflow is invalid |
| 4 | there is no such thing |
| 5 | it does not fit the state that things are in |
| 6 | not allowed |
| 7 | the server cannot be reached, or cannot answer now |
| 8 | waiting took longer than allowed |
| 130 | interrupted with Ctrl-C; what was started goes on |
";

fn write_commands(page: &mut String, command: &Command) {
    for command in command.get_subcommands().filter(|command| !command.is_hide_set()) {
        if command.get_name() == "help" {
            continue;
        }
        if command.has_subcommands() {
            write_commands(page, command);
        } else {
            write_command(page, command);
        }
    }
}

fn write_command(page: &mut String, command: &Command) {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    let name = usage.split([' ']).take_while(|word| word.starts_with(|c: char| c.is_ascii_lowercase()));
    writeln!(page, "\n## {}\n", name.collect::<Vec<_>>().join(" ")).unwrap();
    if let Some(about) = command.get_about() {
        writeln!(page, "{about}.\n").unwrap();
    }
    writeln!(page, "```text\n{usage}\n```\n").unwrap();
    let own = command.get_arguments().filter(|arg| !arg.is_global_set() && arg.get_id() != "help");
    write_options(page, own);
    if let Some(examples) = command.get_after_help() {
        let examples = examples.to_string();
        match examples.strip_prefix("Example") {
            Some(examples) => {
                let lines: Vec<&str> = examples.lines().skip(1).map(str::trim).collect();
                writeln!(page, "\n```sh\n{}\n```", lines.join("\n")).unwrap();
            }
            None => writeln!(page, "\n{}", examples.trim()).unwrap(),
        }
    }
}

fn write_options<'a>(page: &mut String, args: impl Iterator<Item = &'a Arg>) {
    let mut rows = String::new();
    for arg in args.filter(|arg| !arg.is_hide_set()) {
        let mut meaning = arg.get_help().map(|help| help.to_string().replace('|', "\\|")).unwrap_or_default();
        let default: Vec<_> = arg.get_default_values().iter().filter_map(|value| value.to_str()).collect();
        if !default.is_empty() && arg.get_action().takes_values() {
            write!(meaning, " (default: `{}`)", default.join(" ")).unwrap();
        }
        if let Some(variable) = arg.get_env().and_then(|variable| variable.to_str()) {
            write!(meaning, " (environment: `{variable}`)").unwrap();
        }
        writeln!(rows, "| `{}` | {meaning} |", spelling(arg)).unwrap();
    }
    if !rows.is_empty() {
        write!(page, "| | |\n|---|---|\n{rows}").unwrap();
    }
}

fn spelling(arg: &Arg) -> String {
    let value = arg.get_value_names().into_iter().flatten().next().map(ToString::to_string);
    let value = value.filter(|_| arg.get_action().takes_values()).map(|name| name.replace('|', "\\|"));
    let flags: Vec<String> =
        [arg.get_short().map(|short| format!("-{short}")), arg.get_long().map(|long| format!("--{long}"))]
            .into_iter()
            .flatten()
            .collect();
    match (flags.is_empty(), value) {
        (true, value) => value.unwrap_or_default(),
        (false, Some(value)) => format!("{} {value}", flags.join(", ")),
        (false, None) => flags.join(", "),
    }
}

#[test]
fn the_page_about_settings_is_the_generated_one() {
    let mut page = String::from(SETTINGS);
    for key in KEYS {
        let roles: Vec<&str> = key.roles.iter().map(|role| role_name(*role)).collect();
        writeln!(
            page,
            "| `{}` | `--{}` | `{}` | {} | {} | {} |",
            key.name,
            key.flag(),
            key.variable(),
            key.default.map(|text| format!("`{text}`")).unwrap_or_default(),
            roles.join(", "),
            key.meaning.replace('|', "\\|")
        )
        .unwrap();
    }
    pages::whole("settings.md", &page);
}

const SETTINGS: &str = "\
# Settings

A server takes each setting from the first place that has it: a flag, an environment variable, the settings
file, the default. The file is `/etc/windlass/windlass.toml`, or what `--config` or `WINDLASS_CONFIG` names; a key
that is not on this page is refused. `windlass doctor` shows each value and where it came from. Lengths of time
are written like `4s` or `1h30m`; what may be given several times is a list in the file and has commas in a
variable.

```toml
listen = \"127.0.0.1:8000\"
label = [\"disk=ssd\", \"zone=a\"]
```

| key | flag | variable | default | for | meaning |
|---|---|---|---|---|---|
";

fn role_name(role: Role) -> &'static str {
    match role {
        Role::Standalone => "standalone",
        Role::Master => "master",
        Role::Worker => "worker",
    }
}
