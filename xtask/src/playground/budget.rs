//! The size budgets of the page, from `playground/budget.json`.
//!
//! A budget may count all files except some: then a new file counts until somebody excludes it.

use agent_pack::{Workspace, read};
use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

use super::source;
use crate::browser::npm;
use crate::process;

/// A size in bytes: uncompressed, and compressed by `gzip -9`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Size {
    raw: u64,
    gzip: u64,
}

type Sizes = BTreeMap<String, Size>;

struct Budget {
    name: String,
    /// Maximum compressed size in bytes.
    gzip: u64,
    counts: Counts,
}

/// The files that a budget counts.
enum Counts {
    Only(Vec<String>),
    AllBut(Vec<String>),
}

/// Prints the sizes of the files in `dist`, and fails if a budget is exceeded.
pub(super) fn check(workspace: &Workspace, dist: &Path) -> Result<()> {
    let budgets = parse_budgets(&read(&source(workspace).join("budget.json"))?)
        .context("playground/budget.json is invalid")?;
    let sizes = measure(workspace, dist)?;

    println!("{:>9} {:>9}", "bytes", "gzip -9");
    for (name, size) in &sizes {
        println!("{:>9} {:>9}  {name}", size.raw, size.gzip);
    }
    let mut over = Vec::new();
    for budget in &budgets {
        let size = budget.size(&sizes)?;
        let figures = format!("{}: {} of {} bytes", budget.name, size.gzip, budget.gzip);
        println!("{:>9} {:>9}  {figures}", size.raw, size.gzip);
        if size.gzip > budget.gzip {
            over.push(figures);
        }
    }
    if !over.is_empty() {
        bail!("over the budget: {}", over.join("; "));
    }
    Ok(())
}

impl Budget {
    fn size(&self, sizes: &Sizes) -> Result<Size> {
        let (Counts::Only(named) | Counts::AllBut(named)) = &self.counts;
        // A missing name may be that of a renamed file.
        if let Some(missing) = named.iter().find(|name| !sizes.contains_key(*name)) {
            bail!("playground/budget.json names {missing}, which does not exist");
        }
        let counted = sizes.iter().filter(|(name, _)| match &self.counts {
            Counts::Only(names) => names.contains(name),
            Counts::AllBut(names) => !names.contains(name),
        });
        let none = Size { raw: 0, gzip: 0 };
        Ok(counted.fold(none, |sum, (_, size)| Size {
            raw: sum.raw + size.raw,
            gzip: sum.gzip + size.gzip,
        }))
    }
}

fn parse_budgets(json: &[u8]) -> Result<Vec<Budget>> {
    let json: Value = serde_json::from_slice(json)?;
    let budgets = json["budgets"].as_array().context("no `budgets`")?;
    budgets
        .iter()
        .map(|budget| {
            let names = |key: &str| -> Option<Vec<String>> {
                let names = budget[key].as_array()?.iter();
                names.map(|name| Some(name.as_str()?.to_owned())).collect()
            };
            let counts = names("only").map(Counts::Only);
            Ok(Budget {
                name: budget["name"].as_str().context("no `name`")?.to_owned(),
                gzip: budget["gzip"].as_u64().context("no `gzip`")?,
                counts: counts
                    .or_else(|| names("allBut").map(Counts::AllBut))
                    .context("neither `only` nor `allBut`")?,
            })
        })
        .collect()
}

/// Measures with Node.js, which is installed for the editor and compresses like gzip.
fn measure(workspace: &Workspace, dist: &Path) -> Result<Sizes> {
    let mut node = npm::node(workspace);
    let sizes = process::output(node.arg("hooks/sizes.mjs").arg(dist))?;
    parse_sizes(&sizes).context("hooks/sizes.mjs printed no sizes")
}

fn parse_sizes(json: &str) -> Option<Sizes> {
    let json: Value = serde_json::from_str(json).ok()?;
    let sizes = json.as_object()?.iter();
    sizes
        .map(|(name, size)| {
            let (raw, gzip) = (size["raw"].as_u64()?, size["gzip"].as_u64()?);
            Some((name.clone(), Size { raw, gzip }))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Size, parse_budgets, parse_sizes};

    const SIZES: &str = r#"{
        "engine.wasm": { "raw": 500, "gzip": 200 },
        "index.html": { "raw": 50, "gzip": 20 },
        "sw.js": { "raw": 5, "gzip": 2 }
    }"#;

    fn size_for(counts: &str) -> anyhow::Result<Size> {
        let json = format!(r#"{{ "budgets": [{{ "name": "all", "gzip": 1, {counts} }}] }}"#);
        parse_budgets(json.as_bytes()).unwrap()[0].size(&parse_sizes(SIZES).unwrap())
    }

    #[test]
    fn a_budget_counts_its_names_or_all_others() {
        let size = |raw, gzip| Size { raw, gzip };
        let only = size_for(r#""only": ["engine.wasm"]"#).unwrap();
        assert_eq!(only, size(500, 200));
        let all_but = size_for(r#""allBut": ["sw.js"]"#).unwrap();
        assert_eq!(all_but, size(550, 220));
    }

    #[test]
    fn an_unknown_name_is_an_error() {
        let error = size_for(r#""allBut": ["worker.js"]"#).unwrap_err();
        assert_eq!(
            error.to_string(),
            "playground/budget.json names worker.js, which does not exist"
        );
    }

    #[test]
    fn an_invalid_budget_is_an_error() {
        for json in ["", "{}", r#"{"budgets": [{"name": "all", "gzip": 1}]}"#] {
            assert!(parse_budgets(json.as_bytes()).is_err(), "{json}");
        }
    }
}
