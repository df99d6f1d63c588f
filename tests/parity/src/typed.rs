//! The answers of the contract's typed functions, assembled into the files that they must equal.

use super::{Instance, call};
use agent_host::contract::capability::Verb;
use agent_host::contract::diagnostic::{Code, Diagnostic, Place};
use agent_host::contract::resolver::{Grant, Load, Selection, Serve};
use agent_tests::files;
use agent_tests::inputs::{Given, Inputs};
use serde_json::{Value, json};
use std::fmt::Write as _;

impl Instance {
    /// Returns the satisfaction and the selections in the form of `summary.json`, assembled from
    /// `satisfied` and `outcomes`; and the selections. Both inputs must be valid.
    pub fn typed(&mut self, manifest: &[u8], index: &[u8]) -> (Value, Vec<files::Locked>) {
        let (manifest, _) = self.manifest(manifest).expect("the manifest is valid");
        let (index, _) = self.index(index).expect("the index is valid");
        let it = call!(
            self,
            agent_engine_resolver.resolution,
            call_constructor(manifest, index)
        );
        let outcomes = call!(self, agent_engine_resolver.resolution, call_outcomes(it));
        let requirements = outcomes.iter().map(|outcome| {
            json!({
                "category": outcome.category,
                "permissions": outcome.permissions,
                "place": place(&outcome.place),
                "selected": outcome.selected.as_ref().map(|selected| json!({
                    "endpoint": selected.endpoint,
                    "hash": selected.hash,
                    "id": selected.id,
                    "integrity": selected.integrity,
                    "version": selected.version,
                })),
            })
        });
        let all = json!({
            "requirements": requirements.collect::<Vec<_>>(),
            "satisfied": call!(self, agent_engine_resolver.resolution, call_satisfied(it)),
        });
        let selections = outcomes.into_iter().filter_map(|it| it.selected);
        (all, selections.map(selection).collect())
    }

    /// Returns the selections of a lock.
    pub fn typed_lock(&mut self, lock: &[u8]) -> Vec<files::Locked> {
        let lock = self.lock(lock).expect("the lock is valid");
        let selections = call!(self, agent_engine_lockfile.lock, call_selections(lock));
        selections.into_iter().map(selection).collect()
    }

    /// Returns one line with everything about each diagnostic of a manifest.
    pub fn manifest_diagnostics(&mut self, manifest: &[u8]) -> Vec<String> {
        let read = self.manifest(manifest);
        super::found(read).iter().map(line).collect()
    }

    /// Returns one line with everything about each diagnostic of an index.
    pub fn index_diagnostics(&mut self, index: &[u8]) -> Vec<String> {
        let read = self.index(index);
        super::found(read).iter().map(line).collect()
    }

    /// Returns the line, the column and the UTF-16 column of an offset.
    pub fn position_at(&mut self, text: &str, offset: u32) -> (u32, u32, u32) {
        let at = call!(
            self,
            agent_engine_diagnostic,
            call_position_at(text, offset)
        );
        (at.line, at.column, at.utf16_column)
    }

    /// Returns the satisfaction and the selected tools in the form of `match.json` and
    /// `summary.json`, assembled from `satisfied` and `outcomes`; and the selections.
    ///
    /// # Panics
    /// If an input is not valid.
    pub fn typed_tools(&mut self, inputs: &Inputs) -> (Value, Vec<files::Locked>) {
        let read = self.read(inputs).expect("the inputs are valid");
        let matching = self.decide(read.manifest, read.index, read.evaluation_context);
        let it = matching.expect("nothing required is forbidden");
        let outcomes = call!(self, agent_engine_capability.matching, call_outcomes(it));
        let satisfied = call!(self, agent_engine_capability.matching, call_satisfied(it));
        let mut requirements = Vec::new();
        let mut selections = Vec::new();
        for outcome in outcomes {
            let asked = outcome.requirement;
            let approvals: Vec<_> = outcome
                .selected
                .iter()
                .map(|it| it.needs_approval)
                .collect();
            let selected: Vec<_> = outcome
                .selected
                .into_iter()
                .map(|it| selection(it.selection))
                .collect();
            let tools = selected.iter().map(|locked| {
                let files::Locked::Capability(it) = locked else {
                    panic!("a category of a capability");
                };
                files::SelectedTool {
                    definition: it.definition.clone(),
                    hash: it.hash.clone(),
                    id: it.id.clone(),
                    tool: it.tool.clone(),
                    version: it.version.clone(),
                }
            });
            let fallback = outcome.fallback.map(|it| selection(it.selection));
            let tools: Vec<_> = tools.collect();
            requirements.push(json!({
                "capability": files::Capability {
                    constraints: asked.constraints,
                    resource: asked.resource,
                    verb: verb(asked.verb),
                },
                "fallback": asked.fallback,
                "load": load(asked.load),
                "needsApproval": approvals,
                "place": place(&asked.place),
                "selected": tools,
            }));
            selections.extend(selected);
            selections.extend(fallback);
        }
        let all = json!({ "requirements": requirements, "satisfied": satisfied });
        (all, selections)
    }

    /// Returns one line with everything about each diagnostic of a task.
    pub fn task_diagnostics(&mut self, task: &Given) -> Vec<String> {
        let read = self.task(task);
        super::found(read).iter().map(line).collect()
    }

    /// Returns one line with everything about each diagnostic of a tenant's configuration.
    pub fn tenant_diagnostics(&mut self, tenant: &Given) -> Vec<String> {
        let read = self.tenant(tenant, None);
        super::found(read).iter().map(line).collect()
    }

    /// Returns one line with everything about each diagnostic of a snapshot of health.
    pub fn health_diagnostics(&mut self, health: &Given) -> Vec<String> {
        let read = self.health(health);
        super::found(read).iter().map(line).collect()
    }

    /// Returns the catalogue: name, case in the contract, severity, title and help of each code.
    pub fn catalogue(&mut self) -> Vec<[String; 5]> {
        let entries = call!(self, agent_engine_catalogue, call_codes());
        let entries = entries.into_iter().map(|entry| {
            let severity = lower_case(&entry.severity);
            [
                entry.name,
                case(entry.code),
                severity,
                entry.title,
                entry.help,
            ]
        });
        entries.collect()
    }
}

pub(super) fn place(place: &Place) -> Value {
    json!({
        "column": place.start.column,
        "endColumn": place.end.column,
        "endLine": place.end.line,
        "endOffset": place.span.end,
        "line": place.start.line,
        "offset": place.span.start,
        "source": lower_case(&place.span.source),
    })
}

/// Returns everything about a diagnostic; `agent_tests::native` does the same for the engine.
fn line(diagnostic: &Diagnostic) -> String {
    let mut line = format!(
        "{} {} {:?} {:?} {:?}",
        lower_case(&diagnostic.severity),
        case(diagnostic.code),
        diagnostic.message,
        diagnostic.notes,
        diagnostic
            .fixes
            .iter()
            .map(|it| &it.title)
            .collect::<Vec<_>>()
    );
    for label in &diagnostic.labels {
        let Place { span, start, end } = &label.place;
        let _ = write!(
            line,
            " {} {}-{} {}:{}:{}-{}:{}:{} {:?}",
            lower_case(&span.source),
            span.start,
            span.end,
            start.line,
            start.column,
            start.utf16_column,
            end.line,
            end.column,
            end.utf16_column,
            label.text
        );
    }
    line
}

/// Returns a case of an enumeration in the contract's spelling: `Severity::Error` as `error`.
fn lower_case(case: &impl std::fmt::Debug) -> String {
    let case = format!("{case:?}");
    case.rsplit("::").next().unwrap_or_default().to_lowercase()
}

fn selection(selection: Selection) -> files::Locked {
    match selection.grant {
        Grant::Category(grant) => files::Locked::Category(files::Selection {
            category: grant.category,
            endpoint: selection.endpoint,
            hash: selection.hash,
            id: selection.id,
            integrity: selection.integrity,
            load: Some(load(grant.load)).filter(|it| *it == files::Load::OnDemand),
            only: Some(grant.only).filter(|it| !it.is_empty()),
            patterns: None,
            scopes: selection.scopes,
            serve: Some(served(&grant.serve)).filter(|it| !it.is_empty()),
            version: selection.version,
        }),
        Grant::Capability(grant) => {
            let (verb, resource) = grant.pair.split_once(':').expect("a pair");
            files::Locked::Capability(files::ToolSelection {
                capability: files::Capability {
                    constraints: grant.constraints,
                    resource: resource.to_owned(),
                    verb: verb.to_owned(),
                },
                definition: grant.definition,
                endpoint: selection.endpoint,
                fallback: grant.fallback.then_some(1),
                hash: selection.hash,
                id: selection.id,
                integrity: selection.integrity,
                load: load(grant.load),
                patterns: None,
                scopes: selection.scopes,
                tool: grant.tool,
                version: selection.version,
            })
        }
    }
}

fn served(serve: &[Serve]) -> Vec<String> {
    let served = serve.iter().map(|it| match it {
        Serve::Prompts => "prompts",
        Serve::Resources => "resources",
    });
    served.map(str::to_owned).collect()
}

fn load(load: Load) -> files::Load {
    match load {
        Load::Essential => files::Load::Essential,
        Load::OnDemand => files::Load::OnDemand,
    }
}

fn verb(verb: Verb) -> String {
    match verb {
        Verb::Execute => "execute",
        Verb::Notify => "notify",
        Verb::Read => "read",
        Verb::Reason => "reason",
        Verb::Search => "search",
        Verb::Write => "write",
    }
    .to_owned()
}

/// Returns a code's case in the contract, in upper case with underscores.
fn case(code: Code) -> String {
    let name = format!("{code:?}");
    let mut out = String::new();
    for (i, c) in name.trim_start_matches("Code::").chars().enumerate() {
        if i > 0 && c.is_uppercase() {
            out.push('_');
        }
        out.extend(c.to_uppercase());
    }
    out
}
