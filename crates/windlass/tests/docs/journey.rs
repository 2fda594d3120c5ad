//! The way of a new user who has read the README and nothing else: a workflow of their own, with a mistake, a retry, a
//! failure that is understood, and a recovery. Whatever is typed was in the README or was printed before, so nobody has
//! to guess.

use crate::blocks::{page, root};
use crate::shell::{Ended, Shell};

struct User {
    shell: Shell,
    /// Everything that was read so far.
    read: String,
}

impl User {
    fn new() -> User {
        let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
        User { shell: Shell::new(), read: readme }
    }

    /// Types a command whose verb and flags were read somewhere.
    #[track_caller]
    fn types(&mut self, command: &str) -> Ended {
        let words: Vec<&str> = command.split_whitespace().collect();
        let verb = words[..2].join(" ");
        assert!(self.read.contains(&verb), "nobody said `{verb}`");
        for flag in words.iter().filter(|word| word.starts_with("--")) {
            assert!(self.read.contains(*flag), "nobody said `{flag}`");
        }
        let ended = self.shell.run(command);
        self.read += &ended.printed.join("\n");
        ended
    }

    /// The command that begins so in what was printed last.
    #[track_caller]
    fn told(&self, printed: &Ended, begin: &str) -> String {
        let text = printed.printed.join("\n");
        let place = text.find(begin).unwrap_or_else(|| panic!("nobody says `{begin}`:\n{text}"));
        let command = text[place..].split([';', '\n', '"']).next().unwrap();
        // A run, and sometimes a task in quotes, stand behind the verb; words of a sentence may follow.
        let words: Vec<&str> = command.split(' ').collect();
        let end = if words.get(3).is_some_and(|word| word.starts_with('\'')) { 4 } else { 3 };
        words[..end.min(words.len())].join(" ")
    }
}

fn lines(ended: &Ended) -> String {
    ended.printed.join("\n")
}

#[test]
fn from_the_readme_to_a_recovered_workflow_of_ones_own() {
    let mut user = User::new();

    // The first minutes, as they stand there.
    user.shell.serve("windlass standalone");
    let hello = user.types("windlass submit --wait -- echo hello");
    assert!(hello.code == 0 && hello.printed.iter().any(|line| line == "hello"), "{hello:?}");

    // A workflow of their own, made from the one that the README shows.
    let readme = page(&root().join("README.md"));
    let shown =
        readme.blocks.iter().find(|block| block.file() == Some("sales.yaml")).expect("a workflow to copy");
    let mine = shown.text().replace("sales", "stock").replace("orders.csv", "boxes.csv");
    let mine = mine.replace("max: 2", "max: 1").replace("retries", "retrys");
    user.shell.write("stock.yaml", &mine);

    // They have mistyped a key. The message says where, and what to write.
    let wrong = user.types("windlass run stock.yaml --wait");
    let said = lines(&wrong);
    assert!(
        wrong.code == 3 && said.contains("unknown key `retrys`") && said.contains("did you mean `retries`?"),
        "{said}"
    );
    let code = said.split("error[").nth(1).and_then(|rest| rest.split(']').next()).unwrap().to_owned();
    let page = user.types(&format!("windlass explain {code}"));
    assert!(page.code == 0 && lines(&page).contains("What to do"), "{page:?}");
    user.shell.write("stock.yaml", &mine.replace("retrys", "retries"));

    // It fails, after as many tries as they asked for, and says where to look.
    let failed = user.types("windlass run stock.yaml --wait");
    assert_eq!(failed.code, 1, "{failed:?}");
    let command = user.told(&failed, "windlass logs");
    let log = user.types(&command);
    assert!(log.code == 0 && lines(&log).contains("/boxes.csv"), "{log:?}");
    let why = user.types("windlass why last");
    let said = lines(&why);
    assert!(
        said.contains("extract is failed") && said.contains("exit code 1, after 2 attempts [failed]"),
        "{said}"
    );

    // They mend the cause and do what was said.
    std::fs::write(user.shell.home().join("boxes.csv"), "a\nb\nc\n").unwrap();
    let command = user.told(&why, "windlass recover");
    let recovered = user.types(&command);
    assert_eq!(recovered.code, 0, "{recovered:?}");
    let over = user.types("windlass runs wait last");
    assert_eq!(over.code, 0, "{over:?}");
    let log = user.types("windlass logs last load");
    assert!(lines(&log).contains("loading 3 rows"), "{log:?}");
}
