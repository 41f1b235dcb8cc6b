//! [`Top`]: the best few of many, the lower row first among equals.

/// A score and the row that has it.
pub(crate) type Scored = (f32, u32);

/// Whether `a` comes before `b`: a higher score, or the same and a lower row.
pub(crate) fn before(a: Scored, b: Scored) -> bool {
    a.0 > b.0 || (a.0 == b.0 && a.1 < b.1)
}

/// Keeps the best `room` of what it is offered, best first.
#[derive(Debug, Clone)]
pub(crate) struct Top {
    room: usize,
    items: Vec<Scored>,
}

impl Top {
    pub(crate) fn new(room: usize) -> Self {
        Top {
            room,
            items: Vec::with_capacity(room + 1),
        }
    }

    /// A score that a further row must exceed to be kept, as long as rows come in ascending order.
    pub(crate) fn bar(&self) -> f32 {
        match self.items.last() {
            _ if self.room == 0 => f32::INFINITY,
            Some(worst) if self.items.len() == self.room => worst.0,
            _ => f32::NEG_INFINITY,
        }
    }

    pub(crate) fn offer(&mut self, item: Scored) {
        if self.items.len() == self.room
            && !self.items.last().is_some_and(|&worst| before(item, worst))
        {
            return;
        }
        let at = self.items.partition_point(|&other| before(other, item));
        self.items.insert(at, item);
        self.items.truncate(self.room);
    }

    pub(crate) fn items(&self) -> &[Scored] {
        &self.items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_in_order_and_the_lower_row_among_equals() {
        let mut top = Top::new(3);
        assert_eq!(top.bar(), f32::NEG_INFINITY);
        for (row, score) in [(9, 1.0), (1, 2.0), (5, 1.0), (2, 0.5), (4, 1.0), (0, 2.0)] {
            top.offer((score, row));
        }
        assert_eq!(top.items(), [(2.0, 0), (2.0, 1), (1.0, 4)]);
        assert_eq!(top.bar(), 1.0);
        let mut none = Top::new(0);
        none.offer((1.0, 1));
        assert!(none.items().is_empty() && none.bar() == f32::INFINITY);
    }
}
