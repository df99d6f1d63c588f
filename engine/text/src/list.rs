//! Lists of names in sentences.

use std::fmt::Display;

/// Returns names in backquotes, as many as a sentence names, and the number of the others.
pub fn listed(names: &[impl Display], limit: usize) -> String {
    let named: Vec<_> = names
        .iter()
        .take(limit)
        .map(|it| format!("`{it}`"))
        .collect();
    let named = named.join(", ");
    match names.len().saturating_sub(limit) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
