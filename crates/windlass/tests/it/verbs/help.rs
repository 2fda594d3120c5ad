//! Help is part of the interface: a change of it is looked at.

use super::windlass;

/// Every verb with a help of its own; `docs/reference/cli.md` has those of servers too.
const VERBS: &[&str] = &[
    "submit",
    "run",
    "runs list",
    "runs show",
    "runs wait",
    "logs",
    "why",
    "stop",
    "pause",
    "resume",
    "rerun",
    "recover",
    "approve",
    "reject",
    "retry",
    "force-success",
    "apply",
    "validate",
    "diff",
    "workflows list",
    "workflows show",
    "workflows versions",
    "workflows graph",
    "workflows enable",
    "workflows disable",
    "workflows delete",
    "deps",
    "schedules list",
    "schedules pause",
    "schedules resume",
    "schedules next",
    "schedules firings",
    "cron next",
    "workers list",
    "workers show",
    "workers drain",
    "workers resume",
    "cluster",
    "pools list",
    "pools set",
    "pools delete",
    "scheduler start",
    "scheduler stop",
    "scheduler status",
    "tokens create",
    "tokens list",
    "tokens revoke",
    "backup",
    "restore",
    "doctor",
    "bench",
    "schema",
    "explain",
    "completions",
    "version",
];

#[test]
fn help_is_as_it_was_looked_at() {
    let mut shown = String::new();
    for verb in VERBS {
        let mut args: Vec<&str> = verb.split(' ').collect();
        args.push("--help");
        let help = windlass(&args);
        assert_eq!((help.code, help.stderr.as_str()), (0, ""), "{verb}");
        // What every verb takes is shown once, below.
        let (own, rest) = help.stdout.split_once("Global options:").unwrap();
        let examples = rest.split_once("Example").map(|(_, examples)| format!("Example{examples}"));
        shown += &format!("===== windlass {verb}\n{own}{}\n", examples.unwrap_or_default());
    }
    let help = windlass(&["version", "--help"]).stdout;
    shown += help.split_once("Global options:").unwrap().1;
    insta::assert_snapshot!(shown);
}

#[test]
fn every_verb_shows_an_example() {
    for verb in VERBS.iter().filter(|verb| **verb != "version") {
        let mut args: Vec<&str> = verb.split(' ').collect();
        args.push("--help");
        assert!(windlass(&args).stdout.contains("Example"), "{verb}");
    }
}
