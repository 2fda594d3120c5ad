//! Rectangles side by side on shelves, the way books of different heights are put away.

/// Cells across and down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) width: u32,
    pub(super) height: u32,
}

/// Free cells between two components, so that they read as two.
const GAP: u32 = 1;

/// Rows for each column of a packed layout. A node is drawn about four times as wide as high and a
/// window is about twice as wide as high, so this fills the window.
const ROWS_PER_COLUMN: u64 = 2;

/// Where everything goes.
pub(super) struct Packing {
    /// Left top cell `(x, y)` of each component.
    pub(super) corners: Vec<(u32, u32)>,
    /// The whole.
    pub(super) size: Size,
    grid_top: u32,
    grid_width: u32,
}

impl Packing {
    /// The cells of the grid of tasks without edges, row by row, without end.
    pub(super) fn grid(&self) -> impl Iterator<Item = (u32, u32)> {
        (self.grid_top..).flat_map(|y| (0..self.grid_width).map(move |x| (x, y)))
    }
}

/// Puts components on shelves, the highest first and equals in their order, and a grid of `lonely`
/// tasks below them.
pub(super) fn pack(components: &[Size], lonely: usize) -> Packing {
    let area = |size: &Size| u64::from(size.width + GAP) * u64::from(size.height + GAP);
    let total = components.iter().map(area).sum::<u64>() + lonely as u64;
    let widest = components.iter().map(|size| size.width).max().unwrap_or(0);
    let shelf_width = widest.max((total / ROWS_PER_COLUMN).isqrt() as u32).max(1);

    let mut by_height: Vec<usize> = (0..components.len()).collect();
    by_height.sort_by_key(|&component| std::cmp::Reverse(components[component].height));
    let mut corners = vec![(0, 0); components.len()];
    let mut whole = Size::default();
    let (mut x, mut top) = (0, 0);
    for component in by_height {
        let Size { width, height } = components[component];
        if x + width > shelf_width {
            (x, top) = (0, whole.height + GAP);
        }
        corners[component] = (x, top);
        whole.width = whole.width.max(x + width);
        whole.height = whole.height.max(top + height);
        x += width + GAP;
    }

    let grid_top = if components.is_empty() { 0 } else { whole.height + GAP };
    if lonely > 0 {
        let lonely = lonely as u32;
        whole.width = whole.width.max(shelf_width.min(lonely));
        whole.height = grid_top + lonely.div_ceil(shelf_width);
    }
    Packing { corners, size: whole, grid_top, grid_width: shelf_width }
}
