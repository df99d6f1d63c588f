//! Tables of measurements.

use serde_json::{Value, json};
use std::fmt;
use std::time::Duration;

/// The measurements on one world.
pub(crate) struct Table {
    /// The description of the world.
    title: String,
    unit: Duration,
    rows: Vec<Row>,
    /// The notes below the table, a paragraph each.
    notes: Vec<String>,
}

struct Row {
    name: String,
    /// None in rows that compare two other rows.
    time: Option<Duration>,
    /// The ratio to the unit, or of two compared rows.
    ratio: f64,
    target: Option<f64>,
}

impl Table {
    /// Creates a table whose first row is the unit.
    pub(crate) fn new(title: String, name: &str, unit: Duration) -> Self {
        let mut table = Self {
            title,
            unit,
            rows: Vec::new(),
            notes: Vec::new(),
        };
        table.add(&format!("{name} (the unit)"), unit);
        table
    }

    fn ratio(&self, time: Duration) -> f64 {
        time.as_secs_f64() / self.unit.as_secs_f64()
    }

    pub(crate) fn add(&mut self, name: &str, time: Duration) {
        self.push(name, time, None);
    }

    /// Adds a row whose ratio to the unit should not exceed `target`.
    pub(crate) fn add_target(&mut self, name: &str, time: Duration, target: f64) {
        self.push(name, time, Some(target));
    }

    /// Adds a note below the table.
    pub(crate) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    fn push(&mut self, name: &str, time: Duration, target: Option<f64>) {
        self.rows.push(Row {
            name: name.to_owned(),
            time: Some(time),
            ratio: self.ratio(time),
            target,
        });
    }

    /// Adds a row that compares two others, and should not exceed `target`.
    pub(crate) fn compare(&mut self, name: &str, one: &str, other: &str, target: f64) {
        let time = |name: &str| {
            let row = self.rows.iter().find(|row| row.name == name);
            row.and_then(|row| row.time)
                .expect("the row was added before")
        };
        let ratio = time(one).as_secs_f64() / time(other).as_secs_f64();
        self.rows.push(Row {
            name: name.to_owned(),
            time: None,
            ratio,
            target: Some(target),
        });
    }

    fn json(&self) -> Value {
        let rows: Vec<_> = self
            .rows
            .iter()
            .map(|row| {
                json!({
                    "name": row.name,
                    "milliseconds": row.time.map(milliseconds),
                    "ratio": row.ratio,
                    "target": row.target,
                })
            })
            .collect();
        json!({
            "title": self.title,
            "rows": rows,
            "notes": self.notes,
        })
    }
}

/// Returns all tables as JSON.
pub(crate) fn json(tables: &[Table]) -> serde_json::Result<String> {
    let tables: Vec<_> = tables.iter().map(Table::json).collect();
    serde_json::to_string_pretty(&tables)
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Renders the Markdown table of the documentation.
impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.title)?;
        writeln!(
            f,
            "| {:35} | {:>10} | {:>8} | {:>8} |",
            "", "ms", "ratio", "target"
        )?;
        writeln!(f, "|:{:-<35}-|-{:->10}:|-{:->8}:|-{:->8}:|", "", "", "", "")?;
        for row in &self.rows {
            let time = row
                .time
                .map_or(String::new(), |time| format!("{:.3}", milliseconds(time)));
            let target = row
                .target
                .map_or(String::new(), |target| format!("≤ {target}×"));
            writeln!(
                f,
                "| {:35} | {time:>10} | {:>7.3}× | {target:>8} |",
                row.name, row.ratio
            )?;
        }
        self.notes
            .iter()
            .try_for_each(|note| writeln!(f, "\n{note}"))
    }
}
