//! Logs by themselves: what is written is what is read, within bounds.

use std::time::Duration;

use proptest::prelude::*;
use windlass_model::{AttemptNumber, JobId, JobNumber, RunId};
use windlass_worker::logs::{Bounds, Item, LogId, Logs, Stream};

const ID: LogId = LogId {
    job: JobId { run: RunId::from_u64(7).unwrap(), number: JobNumber(1) },
    attempt: AttemptNumber::FIRST,
};

fn logs(head: u16, tail: u16) -> (tempfile::TempDir, Logs) {
    let folder = tempfile::tempdir().expect("a folder");
    let logs = Logs::new(folder.path(), Bounds { head, tail });
    (folder, logs)
}

fn text(items: &[Item]) -> Vec<String> {
    let show = |item: &Item| match item {
        Item::Line(line) => format!("{} {}", line.number, String::from_utf8_lossy(&line.text)),
        Item::Missing(from, to) => format!("missing {from}..{to}"),
    };
    items.iter().map(show).collect()
}

#[test]
fn nothing_printed_makes_no_file() {
    let (folder, logs) = logs(2, 2);
    logs.begin(ID).finish();
    assert!(logs.open(ID).expect("it opens").is_none());
    assert_eq!(std::fs::read_dir(folder.path()).expect("it is there").count(), 0);
}

#[test]
fn any_range_is_read_and_what_is_missing_is_said() {
    let (_folder, logs) = logs(2, 3);
    let mut writer = logs.begin(ID);
    let count = 100_000;
    for number in 0..count {
        writer.write(Stream::Out, format!("line {number}\n").as_bytes());
    }
    writer.finish();
    let reader = logs.open(ID).expect("it opens").expect("there is one");
    assert_eq!(reader.lines().expect("it is read"), count);
    let (all, next) = reader.read(0, usize::MAX, usize::MAX).expect("it is read");
    assert_eq!(next, count);
    let mut expected = 0;
    let mut missing = 0;
    for item in &all {
        match item {
            Item::Line(line) => {
                assert_eq!(line.number, expected);
                assert_eq!(line.text, format!("line {expected}").into_bytes());
                expected += 1;
            }
            Item::Missing(from, to) => {
                assert_eq!(*from, expected);
                missing += 1;
                expected = *to;
            }
        }
    }
    assert_eq!((expected, missing), (count, 1));
    let (some, next) = reader.read(count - 5, 2, usize::MAX).expect("it is read");
    assert_eq!((text(&some), next), (vec!["99995 line 99995".into(), "99996 line 99996".into()], count - 3));
    let (some, _) = reader.read(17, 1, usize::MAX).expect("it is read");
    assert_eq!(text(&some), ["17 line 17"]);
    let (none, next) = reader.read(count, 10, usize::MAX).expect("it is read");
    assert_eq!((none.len(), next), (0, count));
    let tail = reader.tail(20).expect("it is read");
    assert_eq!(String::from_utf8_lossy(&tail), "ne 99998\nline 99999\n");
}

#[test]
fn a_new_life_does_not_go_on_with_the_log_of_an_old_one() {
    let (_folder, logs) = logs(2, 2);
    let mut writer = logs.begin(ID);
    writer.write(Stream::Out, b"old\nold\nold\n");
    writer.finish();
    let mut writer = logs.begin(ID);
    writer.write(Stream::Err, b"new");
    writer.finish();
    let (items, _) =
        logs.open(ID).expect("it opens").expect("there is one").read(0, 10, 1000).expect("it is read");
    assert_eq!(text(&items), ["0 new"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follower_sees_everything_and_the_end() {
    let (_folder, logs) = logs(2, 2);
    let mut writer = logs.begin(ID);
    let mut follow = logs.follow(ID, 1);
    writer.write(Stream::Out, b"zero\none\ntw");
    writer.flush();
    let next = async |follow: &mut windlass_worker::logs::Follow| {
        let items = tokio::time::timeout(Duration::from_secs(60), follow.next()).await.expect("in time");
        items.expect("it is read").map(|items| text(&items))
    };
    assert_eq!(next(&mut follow).await, Some(vec!["1 one".into()]));
    let waiting = tokio::spawn(async move {
        let first = follow.next().await.expect("it is read").map(|items| text(&items));
        (first, follow.next().await.expect("it is read"))
    });
    writer.write(Stream::Out, b"o");
    writer.finish();
    let seen =
        tokio::time::timeout(Duration::from_secs(60), waiting).await.expect("in time").expect("no panic");
    assert_eq!(seen, (Some(vec!["2 two".into()]), None));
    assert_eq!(next(&mut logs.follow(ID, 3)).await, None, "a complete log has an end at once");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn within_its_bounds_a_log_is_what_was_printed(
        chunks in proptest::collection::vec((any::<bool>(), "[a\n]{0,20}", 1..1000usize), 0..8),
    ) {
        let (_folder, logs) = logs(100, 1);
        let mut writer = logs.begin(ID);
        let mut printed = [vec![], vec![]];
        for (err, chunk, times) in &chunks {
            let bytes = chunk.repeat(*times);
            let stream = if *err { Stream::Err } else { Stream::Out };
            writer.write(stream, bytes.as_bytes());
            writer.flush();
            printed[usize::from(*err)].extend_from_slice(bytes.as_bytes());
        }
        writer.finish();
        let mut read = [vec![], vec![]];
        if let Some(reader) = logs.open(ID).expect("it opens") {
            let mut from = 0;
            loop {
                let (items, next) = reader.read(from, 999, 100_000).expect("it is read");
                if items.is_empty() {
                    break;
                }
                for item in items {
                    let Item::Line(line) = item else { panic!("nothing is missing") };
                    read[line.stream as usize].extend_from_slice(&line.text);
                    if !line.goes_on {
                        read[line.stream as usize].push(b'\n');
                    }
                }
                from = next;
            }
        }
        for (read, mut printed) in read.into_iter().zip(printed) {
            if printed.last().is_some_and(|byte| *byte != b'\n') {
                printed.push(b'\n');
            }
            prop_assert!(read == printed);
        }
    }
}
