//! Every workflow on every page is read by the real reader.

use crate::blocks::pages;

#[test]
fn every_workflow_of_every_page_is_right_or_said_to_be_wrong() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for page in pages() {
        for block in page.blocks.iter().filter(|block| block.language() == "yaml") {
            if block.note.starts_with("not a workflow") {
                continue;
            }
            count += 1;
            let place = format!("{}:{}", page.name, block.first + 1);
            let read = windlass_workflow::from_text(block.text().as_bytes());
            match (block.note.strip_prefix("wrong:").map(str::trim), read) {
                (None, Ok(_)) => {}
                (None, Err(complaints)) => {
                    let said: Vec<_> =
                        complaints.iter().map(|said| said.render(&place).to_string()).collect();
                    wrong.push(said.join("\n"));
                }
                (Some(code), Ok(checked)) => {
                    // Some complaints are warnings.
                    if !checked.warnings.iter().any(|said| said.code.as_str() == code) {
                        wrong.push(format!("{place}: it is right, and said to be wrong with {code}"));
                    }
                }
                (Some(code), Err(complaints)) => {
                    if !complaints.iter().any(|said| said.code.as_str() == code) {
                        let said: Vec<_> =
                            complaints.iter().map(|said| said.render(&place).to_string()).collect();
                        wrong.push(format!("{place}: not {code}, but {}", said.join("\n")));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 40, "only {count} workflows were found");
}
