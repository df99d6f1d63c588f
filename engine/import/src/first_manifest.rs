//! A first manifest, made from what a project has.
//!
//! It requires as little as is useful: every category without a scope, and the capabilities that only
//! read. What else is offered stands in comments. Every choice is an assumption that is reported.

use super::document::installations;
use super::notation::Document;
use super::{DOCUMENT_LIMIT, decode};
use agent_diagnostic::{Code, Diagnostic, Problems};
use agent_lower::MANIFEST_LIMIT;
use agent_lower::fields::opening;
use agent_model::{AgentName, Category, Index, Name, Resource, ServerView};
use agent_syntax::json_string;
use agent_text::DocumentKind;
use std::collections::BTreeSet;

/// Maximum number of names in a list; `agent discover` lists all.
const LISTED: usize = 20;

/// The verbs that change nothing \[4, 2.1\].
const READING: [&str; 3] = ["read", "reason", "search"];

/// What a first manifest is made from.
#[derive(Debug)]
pub enum Offer<'a> {
    /// An index.
    Index(&'a Index),
    /// The configuration of an MCP client.
    Client(Vec<u8>),
}

/// A first manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstManifest {
    /// The whole text: the new frontmatter, and the existing text behind it.
    pub text: String,
    /// The assumptions that its author should check, a sentence each.
    pub assumptions: Vec<String>,
}

/// The reason why there is no first manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoFirstManifest {
    /// The existing text has frontmatter.
    HasFrontmatter,
    /// Nothing that is offered can be required.
    NothingOffered,
    /// The existing text or the configuration can't be read.
    Unreadable(Vec<Diagnostic>),
}

/// Makes a first manifest of an agent from an offer, in front of an existing text.
///
/// # Errors
/// The existing text has frontmatter, an input is unreadable, or nothing is offered.
pub fn first_manifest(
    name: &str,
    existing: Vec<u8>,
    offer: Offer<'_>,
) -> Result<FirstManifest, NoFirstManifest> {
    let existing = decode(DocumentKind::Manifest, existing, MANIFEST_LIMIT);
    let existing = existing.map_err(NoFirstManifest::Unreadable)?;
    let (mark, body) = split_mark(existing.as_str());
    // Also one that is not closed, or not on the first line: its author should see it.
    let mut lines = body.trim_start().lines();
    if lines.next().is_some_and(|line| line.trim_end() == "---") {
        return Err(NoFirstManifest::HasFrontmatter);
    }

    let mut draft = Draft::default();
    draft.agent(name);
    match offer {
        Offer::Index(index) => draft.index(index)?,
        Offer::Client(text) => draft.client(text)?,
    }
    let Draft { lines, assumptions } = draft;
    let frontmatter = format!("---\n{lines}---\n");
    let is_crlf = body
        .split_once('\n')
        .is_some_and(|(line, _)| line.ends_with('\r'));
    let frontmatter = match is_crlf {
        true => frontmatter.replace('\n', "\r\n"),
        false => frontmatter,
    };
    Ok(FirstManifest {
        text: [mark, &frontmatter, body].concat(),
        assumptions,
    })
}

/// Splits off a byte order mark, which stays at the beginning.
fn split_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with('\u{feff}') { 3 } else { 0 })
}

/// The lines of a frontmatter.
#[derive(Default)]
struct Draft {
    lines: String,
    assumptions: Vec<String>,
}

impl Draft {
    fn line(&mut self, line: &str) {
        self.lines.push_str(line);
        self.lines.push('\n');
    }

    fn assume(&mut self, assumption: String) {
        self.assumptions.push(assumption);
    }

    fn agent(&mut self, name: &str) {
        let (name, from) = match AgentName::new(name) {
            Ok(_) => (name, ", as the folder"),
            Err(_) => ("agent", ""),
        };
        let name = scalar(name);
        self.line("# Drafted by `agent init`. Check every line.");
        self.line(&format!("name: {name}"));
        self.line("version: 0.1.0");
        self.assume(format!("the agent is named {name}{from}, in version 0.1.0"));
    }

    fn index(&mut self, index: &Index) -> Result<(), NoFirstManifest> {
        let (reading, writing): (Vec<_>, Vec<_>) = index
            .pair_names()
            .filter_map(|pair| pair.split_once(':'))
            .filter(|(_, resource)| Resource::new(*resource).is_ok())
            .partition(|(verb, _)| READING.contains(verb));
        let categories: Vec<_> = index.category_names().collect();
        // A manifest requires something. One capability that writes is less than all of them.
        let is_writing = categories.is_empty() && reading.is_empty();
        let (required, others) = match is_writing {
            true => writing.split_at(writing.len().min(1)),
            false => (&reading[..], &writing[..]),
        };
        let required = &required[..required.len().min(LISTED)];
        let shown = &categories[..categories.len().min(LISTED)];
        if shown.is_empty() && required.is_empty() {
            return Err(NoFirstManifest::NothingOffered);
        }
        self.line("requires:");
        let mut needs: Vec<Vec<ServerView<'_>>> = Vec::new();
        if !shown.is_empty() {
            self.line("  mcp:");
            self.line("    # `permissions` lists the scopes that the agent gets: none so far.");
            for (number, category) in (0..).zip(shown) {
                let servers = index.servers_of(number);
                let scopes = servers.iter().flat_map(|server| server.scopes());
                let scopes: BTreeSet<_> = scopes.collect();
                self.line(&format!("    - category: {}", scalar(category)));
                let offered = match scopes.is_empty() {
                    true => String::new(),
                    false => format!("  # offered: {}", listed(scopes)),
                };
                self.line(&format!("      permissions: []{offered}"));
                needs.push(servers);
            }
            self.left_out("categories", categories.len());
            let all = if shown.len() == 1 {
                "the category"
            } else {
                "every category"
            };
            self.assume(format!(
                "the agent needs {all} of the index, without a scope: add what it needs to `permissions`"
            ));
        }
        self.capabilities(required, others);
        match (is_writing, required) {
            (true, [(verb, resource), ..]) => self.assume(format!(
                "the agent needs {}, though it can change something: no tool of the index only reads",
                scalar(&format!("{verb}:{resource}"))
            )),
            (_, []) => {}
            _ => self.assume("the agent needs the capabilities that only read".to_owned()),
        }
        if !is_writing && !others.is_empty() {
            self.assume(
                "the agent needs no capability that can change something: these are in comments"
                    .to_owned(),
            );
        }
        for (verb, resource) in required {
            let pair = format!("{verb}:{resource}");
            let tools = index.tools();
            let able = tools.filter(|tool| tool.pairs().contains(&&*pair));
            needs.push(able.map(|tool| tool.server()).collect());
        }
        self.trust(&needs);
        Ok(())
    }

    fn capabilities(&mut self, required: &[(&str, &str)], others: &[(&str, &str)]) {
        if required.is_empty() && others.is_empty() {
            return;
        }
        let entry = |mark: &str, (verb, resource): (&str, &str)| {
            let resource = scalar(resource);
            format!("    {mark}- verb: {verb}\n    {mark}  resource: {resource}")
        };
        // An empty list would be an error.
        let mark = if required.is_empty() { "# " } else { "" };
        self.line(&format!("  {mark}capabilities:"));
        for pair in required {
            self.line(&entry("", *pair));
        }
        if !others.is_empty() {
            self.line("    # Also offered, and able to change something:");
        }
        for pair in &others[..others.len().min(LISTED)] {
            self.line(&entry("# ", *pair));
        }
        self.left_out("capabilities", others.len());
    }

    /// Says how many names of a list are left out.
    fn left_out(&mut self, what: &str, len: usize) {
        if let Some(more) = len.checked_sub(LISTED).filter(|more| *more > 0) {
            self.line(&format!(
                "    # And {more} more {what}: see `agent discover`."
            ));
            self.assume(format!(
                "{more} {what} are left out, behind the first {LISTED}"
            ));
        }
    }

    /// Requires signed servers, if every requirement keeps one.
    fn trust(&mut self, needs: &[Vec<ServerView<'_>>]) {
        let is_signed = |server: &ServerView<'_>| server.constraint_key().signed();
        if needs.iter().all(|servers| servers.iter().any(is_signed)) {
            self.line("constraints:\n  trust:\n    requireSigned: true  # each requirement has a signed server");
            self.assume("only signed servers may be selected".to_owned());
        } else {
            self.assume(
                "unsigned servers may be selected: a requirement has no signed one".to_owned(),
            );
        }
        self.assume(
            "any server may hold the agent's data: no `residency` and no `sensitivity` is set"
                .to_owned(),
        );
    }

    fn client(&mut self, text: Vec<u8>) -> Result<(), NoFirstManifest> {
        let text = decode(DocumentKind::Import, text, DOCUMENT_LIMIT);
        let document = Document::new(text.map_err(NoFirstManifest::Unreadable)?);
        let mut problems = Problems::new(&document.text);
        let names = server_names(&document, &mut problems);
        // A server whose name appears twice is one too few.
        let names = names.filter(|_| !problems.has_errors());
        let names = names.ok_or_else(|| NoFirstManifest::Unreadable(problems.finish()))?;
        let shown = &names[..names.len().min(LISTED)];
        if shown.is_empty() {
            return Err(NoFirstManifest::NothingOffered);
        }
        self.line("requires:\n  mcp:");
        self.line("    # One category for each server of the client's configuration.");
        for name in shown {
            let name = scalar(name);
            self.line(&format!("    - category: {name}\n      permissions: []"));
        }
        self.left_out("servers", names.len());
        self.assume(
            "each server has a category of its own name, as `agent index import` gives it"
                .to_owned(),
        );
        self.assume("the agent needs no scope: add what it needs to `permissions`".to_owned());
        self.assume(
            "any server may be selected: no `requireSigned`, no `residency` and no `sensitivity` is set"
                .to_owned(),
        );
        Ok(())
    }
}

/// Returns the names of the servers in a client's configuration, sorted. Names that a manifest can't
/// contain are left out.
fn server_names<'d>(document: &'d Document, problems: &mut Problems<'d>) -> Option<Vec<String>> {
    let root = document.parse(problems)?;
    let Some(installations) = installations(&root) else {
        let message = "the document is not the configuration of an MCP client";
        problems
            .report(
                Code::ImportFormat,
                opening(&root),
                "no `mcpServers`",
                message,
            )
            .help("name an index with `--index`, or a file with `mcpServers` with `--client`");
        return None;
    };
    let names = installations.iter().filter_map(|it| it.name);
    let names = names.filter(|(name, _)| Category::new(*name).is_ok());
    let names: BTreeSet<_> = names.map(|(name, _)| name.to_owned()).collect();
    Some(names.into_iter().collect())
}

/// Returns names for a comment.
fn listed(names: BTreeSet<&str>) -> String {
    let shown: Vec<_> = names.iter().take(LISTED).map(|name| scalar(name)).collect();
    let more = match names.len().checked_sub(LISTED) {
        None | Some(0) => String::new(),
        Some(more) => format!(" and {more} more"),
    };
    shown.join(", ") + &more
}

/// Returns a name as a scalar of YAML, in quotes unless it is surely a string without.
fn scalar(name: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || "_.-/:@".contains(c);
    let is_plain = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(is_word)
        && !name.ends_with(':')
        && !["null", "true", "false"].contains(&&*name.to_ascii_lowercase());
    match is_plain {
        true => name.to_owned(),
        false => json_string(name),
    }
}
