//! Hostile files are refused quickly, with bounded memory, and with a word that helps.

use std::fmt::Write;
use std::time::Duration;

use windlass_workflow::{Code, Severity, from_json, from_text, tree};

/// The code of the only complaint about a file.
fn refusal(text: &[u8]) -> Code {
    let diagnostics = from_text(text).expect_err("a hostile file is refused");
    assert_eq!(diagnostics.len(), 1, "{diagnostics:?}");
    diagnostics[0].code
}

#[test]
fn a_hundred_megabytes_are_refused_unread() {
    assert_eq!(refusal(&vec![b'x'; 100_000_000]), Code::FileTooLarge);
}

#[test]
fn a_billion_laughs_are_refused() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for line in 1..60 {
        let aliases = vec![format!("*a{}", line - 1); 9].join(", ");
        let _ = writeln!(text, "a{line}: &a{line} [{aliases}]");
    }
    assert_eq!(refusal(text.as_bytes()), Code::TooManyValues);
}

#[test]
fn many_aliases_of_one_large_value_are_refused() {
    let mut text = format!("big: &big [{}]\nall:\n", "x, ".repeat(50_000));
    for _ in 0..10_000 {
        text += "- *big\n";
    }
    assert_eq!(refusal(text.as_bytes()), Code::TooManyValues);
}

#[test]
fn depth_is_refused_in_every_style() {
    let block: String = (0..10_000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    assert_eq!(refusal(&block.as_bytes()[..10_000_000]), Code::TooDeep);
    for (open, name) in [("[", "list"), ("{a: ", "map"), ("- ", "block list")] {
        assert_eq!(refusal(open.repeat(10_000).as_bytes()), Code::TooDeep, "{name}");
    }
    // A key that is a mapping itself is refused before it can be deep.
    assert_eq!(refusal("? ".repeat(10_000).as_bytes()), Code::UnsupportedYaml);
}

#[test]
fn depth_of_a_json_value_is_refused() {
    let mut deep = serde_json::Value::Null;
    for _ in 0..1_000 {
        deep = serde_json::json!([deep]);
    }
    assert_eq!(from_json(&deep).expect_err("too deep")[0].code, Code::TooDeep);
    // serde_json drops its values recursively; the parser in front of us bounds what arrives.
}

#[test]
fn invalid_utf8_is_refused_at_its_place() {
    let diagnostics = from_text(b"name: x\ntasks: \xff").expect_err("not UTF-8");
    assert_eq!(diagnostics[0].code, Code::NotUtf8);
    let start = diagnostics[0].span.expect("a place").start;
    assert_eq!((start.line, start.column), (2, 8));
}

#[test]
fn a_million_tasks_are_refused() {
    let mut text = String::from("name: x\ntasks: {");
    for task in 0..1_000_000 {
        let _ = write!(text, "t{task}: {{}},");
    }
    text.push('}');
    assert_eq!(refusal(text.as_bytes()), Code::TooManyValues);
}

#[test]
fn too_many_tasks_are_refused_with_a_way_out() {
    let mut text = String::from("name: x\ntasks:\n");
    for task in 0..50_001 {
        let _ = writeln!(text, "  t{task}: {{run: x}}");
    }
    let diagnostics = from_text(text.as_bytes()).expect_err("too many");
    assert_eq!(diagnostics[0].code, Code::TooManyTasks);
    assert!(diagnostics[0].help.as_deref().is_some_and(|help| help.contains("foreach")));
}

#[test]
fn a_chain_of_ten_thousand_tasks_is_right() {
    let mut text = String::from("name: x\ntasks:\n  t0: {run: x}\n");
    for task in 1..10_000 {
        let _ = writeln!(text, "  t{task}: {{run: x, depends_on: [t{}]}}", task - 1);
    }
    let checked = from_text(text.as_bytes()).expect("right");
    assert_eq!(checked.definition.graph.order().len(), 10_000);
}

#[test]
fn a_circle_of_ten_thousand_tasks_is_told_as_a_short_path() {
    let mut text = String::from("name: x\ntasks:\n");
    for task in 0..10_000 {
        let _ = writeln!(text, "  t{task}: {{run: x, depends_on: [t{}]}}", (task + 1) % 10_000);
    }
    let diagnostics = from_text(text.as_bytes()).expect_err("a circle");
    assert_eq!(diagnostics[0].code, Code::Cycle);
    assert!(diagnostics[0].message.starts_with("the tasks depend on each other in a circle: t0 → t1 → t2"));
    assert!(diagnostics[0].message.len() < 400, "{}", diagnostics[0].message);
}

#[test]
fn a_file_full_of_mistakes_gets_a_bounded_answer() {
    let mut text = String::from("name: x\ntasks:\n");
    for task in 0..5_000 {
        let _ = writeln!(text, "  t{task}: {{rum: x, depend_on: [nobody]}}");
    }
    let diagnostics = from_text(text.as_bytes()).expect_err("wrong");
    assert_eq!(diagnostics.len(), 100);
    let last = diagnostics.last().expect("some");
    assert!(last.help.as_deref().is_some_and(|help| help.contains("more complaints")), "{last:?}");
}

#[test]
fn warnings_never_push_an_error_out_of_the_answer() {
    let mut text = String::from("name: x\nparams:\n");
    for param in 0..150 {
        let _ = writeln!(text, "  p{param}: yes");
    }
    text += "tasks: {a: {run: x}}\n";
    assert_eq!(from_text(text.as_bytes()).expect("only warnings").warnings.len(), 100);
    text += "env: {WINDLASS_RUN: mine}\n";
    let diagnostics = from_text(text.as_bytes()).expect_err("one error behind many warnings");
    let errors: Vec<_> = diagnostics.iter().filter(|told| told.severity == Severity::Error).collect();
    assert_eq!((diagnostics.len(), errors.len()), (100, 1));
    assert_eq!(errors[0].code, Code::BadName);
}

/// Each of these once took time that grows with the square of the file: minutes of processor time where a
/// debug build now takes a second or two, however busy the machine is.
#[test]
fn what_a_file_repeats_is_read_in_linear_time() {
    const PATIENCE: Duration = Duration::from_secs(20);
    let lines = |count: usize, line: &dyn Fn(usize) -> String| (0..count).map(line).collect::<String>();
    let tasks = "tasks: {a: {run: x}}\n";
    let files = [
        ("duplicate keys", format!("name: x\n{}{tasks}", "a: 1\n".repeat(50_000))),
        ("unknown keys", format!("name: x\n{}{tasks}", lines(50_000, &|n| format!("key{n}: 1\n")))),
        (
            "schedules",
            format!("name: x\n{tasks}schedule:\n{}", lines(50_000, &|n| format!("- {} 0 1 1 *\n", n % 60))),
        ),
        (
            "zones",
            format!(
                "name: x\n{tasks}schedule:\n{}",
                lines(20_000, &|n| format!("- {{cron: '* * * * *', timezone: Europe/Osl{n}}}\n"))
            ),
        ),
        (
            "parameters and tasks",
            format!(
                "name: x\nparams:\n{}tasks:\n{}",
                lines(50_000, &|n| format!("  p{n}: 1\n")),
                lines(20_000, &|n| format!("  t{n}: {{run: x}}\n"))
            ),
        ),
        (
            "parameters of a schedule",
            format!(
                "name: x\n{tasks}schedule:\n  cron: '* * * * *'\n  params:\n{}",
                lines(100_000, &|n| format!("    p{n}: 1\n"))
            ),
        ),
        (
            "holes",
            format!(
                "name: x\nparams: {{p: 1}}\ntasks:\n  a:\n    run: |\n{}",
                "      echo ${{ params.p }}\n".repeat(30_000)
            ),
        ),
        (
            "unsafe holes",
            format!(
                "name: x\nparams: {{p: 1}}\ntasks:\n  a:\n    run: |\n{}",
                "      echo '${{ params.p }}'\n".repeat(30_000)
            ),
        ),
        (
            "unknown tasks",
            format!(
                "name: x\ntasks:\n{}",
                lines(5_000, &|n| format!("  task{n}: {{run: x, depends_on: [tusk{n}x, tosk{n}x]}}\n"))
            ),
        ),
        ("gangs", gangs(2_000)),
    ];
    for (what, text) in files {
        let before = processor_time();
        let _ = from_text(text.as_bytes());
        let took = processor_time() - before;
        assert!(took < PATIENCE, "{what}: {took:?}");
    }
}

/// How long this thread has had a processor; time spent waiting for one does not count.
fn processor_time() -> Duration {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells it");
    let nanos = times.split(' ').next().and_then(|first| first.parse().ok());
    Duration::from_nanos(nanos.expect("the first number of schedstat"))
}

/// Many gangs above and below one dense graph, whose members do not depend on each other.
fn gangs(count: usize) -> String {
    const WIDTH: usize = 100;
    let mut text = String::from("name: x\ntasks:\n  c0: {run: x}\n");
    let mut task = |id: String, rest: String| {
        let _ = writeln!(text, "  {id}: {{run: x{rest}}}");
    };
    for link in 1..20 {
        task(format!("c{link}"), format!(", depends_on: [c{}]", link - 1));
    }
    for gang in 0..count {
        task(format!("x{gang}"), format!(", gang: g{gang}"));
        task(format!("y{gang}"), format!(", gang: g{gang}, depends_on: [c19]"));
    }
    for node in 0..WIDTH * 8 {
        let (layer, place) = (node / WIDTH, node % WIDTH);
        let names: Vec<_> = match layer {
            0 => (place..count).step_by(WIDTH).map(|gang| format!("x{gang}")).collect(),
            _ => (0..WIDTH).map(|place| format!("m{}", (layer - 1) * WIDTH + place)).collect(),
        };
        task(format!("m{node}"), format!(", depends_on: [{}]", names.join(", ")));
    }
    text
}

#[test]
fn hostile_words_are_shown_shortened_and_without_control_characters() {
    let text = format!("name: x\ntasks:\n  a: {{run: x, \"{}\\e[31m\": 1}}\n", "k".repeat(5_000));
    let diagnostics = from_text(text.as_bytes()).expect_err("an unknown key");
    assert!(diagnostics[0].message.len() < 300, "{}", diagnostics[0].message.len());
    let text = "name: \"a\\e[31mb\"\ntasks: {a: {run: x}}\n";
    let diagnostics = from_text(text.as_bytes()).expect_err("a bad name");
    assert!(!diagnostics[0].message.contains('\u{1b}'), "{:?}", diagnostics[0].message);
}

#[test]
fn the_limits_are_those_the_documents_name() {
    assert_eq!((tree::MAX_BYTES, tree::MAX_DEPTH), (16 * 1024 * 1024, 64));
    assert_eq!((tree::MAX_VALUES, tree::MAX_ALIASED_VALUES), (1_000_000, 100_000));
}
