//! `agent explain`: the page of a code.

use super::session;
use super::{CommandAnswer, suggest};
use crate::args::{Explain, Global};
use crate::pages;
use agent_host::contract::catalogue::CodeEntry;
use agent_host::contract::view::{Style, StyledSpan};
use agent_host::{Failure, output};

/// Minimum likeness, from 0 to 1, of a name that is suggested for another.
const ALIKE: f64 = 0.8;

pub(super) fn run(args: &Explain, global: &Global) -> Result<CommandAnswer, Failure> {
    match &args.code {
        None => output::print_parts(&list(session::engine(global)?.catalogue()?))?,
        // Some codes are in lower case, and have a namesake in upper case.
        Some(code) => match pages::of(code) {
            Some(page) => output::print_text(page)?,
            None => output::print_text(page(&code.to_uppercase(), global)?)?,
        },
    }
    Ok(CommandAnswer::Yes)
}

fn page(code: &str, global: &Global) -> Result<&'static str, Failure> {
    if let Some(page) = pages::of(code) {
        return Ok(page);
    }
    let failure = Failure::new(format_args!("there is no code `{code}`"));
    let mut engine = session::engine(global)?;
    let alike = alike(code, engine.catalogue()?);
    let list_all = "list all codes with `agent explain`";
    Err(suggest(failure, &alike, list_all))
}

/// Returns the names that `code` may be a misspelling of, best first.
fn alike(code: &str, catalogue: &[CodeEntry]) -> Vec<String> {
    let mut alike: Vec<_> = catalogue
        .iter()
        .map(|entry| (strsim::jaro_winkler(code, &entry.name), &entry.name))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .collect();
    alike.sort_by(|a, b| b.0.total_cmp(&a.0));
    alike
        .into_iter()
        .take(3)
        .map(|(_, name)| name.clone())
        .collect()
}

fn list(catalogue: &[CodeEntry]) -> Vec<StyledSpan> {
    let width = catalogue
        .iter()
        .map(|entry| entry.name.len())
        .max()
        .unwrap_or(0);
    catalogue
        .iter()
        .flat_map(|entry| {
            let name = StyledSpan {
                style: Style::Code,
                text: entry.name.clone(),
            };
            let gap = " ".repeat(width - entry.name.len() + 2);
            let title = StyledSpan {
                style: Style::Plain,
                text: format!("{gap}{}\n", entry.title),
            };
            [name, title]
        })
        .collect()
}
