//! Text in aligned columns, without borders.

/// The narrowest that a column is cut to.
const NARROWEST: usize = 12;
/// Blanks between columns.
const GAP: &str = "  ";

/// The lines of a table. With a width the last column is cut to it.
pub fn lines(titles: &[&str], rows: &[Vec<String>], width: Option<usize>, color: bool) -> Vec<String> {
    let title_row: Vec<String> = titles.iter().map(|title| (*title).to_owned()).collect();
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| one_line(cell)).collect()).collect();
    let widths: Vec<usize> = (0..titles.len())
        .map(|column| {
            let cells = rows.iter().chain([&title_row]);
            cells.map(|row| row[column].chars().count()).max().unwrap_or(0)
        })
        .collect();
    let before: usize = widths.iter().rev().skip(1).map(|width| width + GAP.len()).sum();
    let last = width.map(|width| width.saturating_sub(before).max(NARROWEST));
    let line = |row: &Vec<String>, state: Option<usize>| {
        let mut text = String::new();
        for (column, cell) in row.iter().enumerate() {
            let is_last = column + 1 == row.len();
            let cell = match last {
                Some(most) if is_last => cut(cell, most),
                _ => cell.clone(),
            };
            let padding = if is_last { 0 } else { widths[column] + GAP.len() - cell.chars().count() };
            text += &if state == Some(column) { colored(&cell) } else { cell };
            text.extend(std::iter::repeat_n(' ', padding));
        }
        text.trim_end().to_owned()
    };
    let state = titles.iter().position(|title| *title == "STATE").filter(|_| color);
    std::iter::once(line(&title_row, None)).chain(rows.iter().map(|row| line(row, state))).collect()
}

/// A state in its colour; never by colour alone.
pub fn colored(state: &str) -> String {
    let code = match state {
        "success" | "online" | "alive" | "enabled" | "ran" => 32,
        "failed" | "lost" | "killed" | "timed_out" | "silent" => 31,
        "running" | "assigned" => 36,
        "paused" | "pausing" | "stopping" | "stopped" | "backoff" | "held" | "draining" | "disabled" => 33,
        _ => return state.to_owned(),
    };
    format!("\u{1b}[{code}m{state}\u{1b}[0m")
}

fn one_line(cell: &str) -> String {
    if cell.contains(char::is_control) { cell.replace(char::is_control, " ") } else { cell.to_owned() }
}

fn cut(cell: &str, most: usize) -> String {
    if cell.chars().count() <= most {
        return cell.to_owned();
    }
    cell.chars().take(most - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Vec<String>> {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        vec![row(["a", "success", "because of everything"]), row(["longer", "failed", "no\nreason"])]
    }

    #[test]
    fn columns_are_aligned_and_a_cell_stays_on_its_line() {
        let shown = lines(&["RUN", "STATE", "REASON"], &rows(), None, false);
        assert_eq!(
            shown,
            [
                "RUN     STATE    REASON",
                "a       success  because of everything",
                "longer  failed   no reason"
            ]
        );
    }

    #[test]
    fn the_last_column_is_cut_to_the_terminal() {
        let shown = lines(&["RUN", "STATE", "REASON"], &rows(), Some(30), false);
        assert_eq!(shown[1], "a       success  because of e…");
    }

    #[test]
    fn colours_do_not_disturb_the_alignment() {
        let shown = lines(&["RUN", "STATE", "REASON"], &rows(), None, true);
        assert_eq!(shown[1], "a       \u{1b}[32msuccess\u{1b}[0m  because of everything");
    }
}
