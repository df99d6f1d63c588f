//! A question of the corpus, asked as the commands ask it, with what its answer grants.

use agent_api::lower::{self, Lowered};
use agent_api::{CallAnswer, PlanAnswer};
use agent_decide::{CallContext, PlanContext, PlanPolicy, PolicyEngine};
use agent_diagnostic::Diagnostic;
use agent_explain as explain;
use agent_rego as policy;
use agent_render as render;
use agent_tests::corpus::Case;
use agent_tests::inputs::{Given, Inputs};
use agent_tests::native;
use agent_tests::plan::PlanInputs;
use agent_text::DocumentKind;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Resolve,
    Match,
    Plan,
    Call,
}

/// A question with the documents that may be broken.
#[derive(Debug, Clone)]
pub(super) struct Question {
    pub(super) kind: Kind,
    pub(super) documents: Vec<(DocumentKind, String)>,
    tenant_id: Option<String>,
    /// Documents that stay as they are.
    fixed: Vec<(DocumentKind, Vec<u8>)>,
}

/// An answer: its diagnostics, and the decision if it is a yes.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) decision: Option<String>,
}

impl Question {
    /// Reads a case of `resolve`, `match`, `call` or `plan`.
    pub(super) fn of(case: &Case) -> Self {
        use DocumentKind::{
            Call, Catalogue, Context, Health, Index, Lock, Manifest, Plan, Policy, Profile,
            Request, Task, Tenant, ToolPool,
        };
        let name = case.name();
        let kind = match name.split('/').next() {
            Some("resolve") => Kind::Resolve,
            Some("match") => Kind::Match,
            Some("plan") => Kind::Plan,
            _ => Kind::Call,
        };
        let input = |file: &str| case.input(file);
        let either = |name: &str| {
            let [yaml, json] = ["yaml", "json"].map(|end| input(&format!("{name}.{end}")));
            yaml.or(json)
        };
        let (given, fixed) = match kind {
            Kind::Resolve | Kind::Match => (
                vec![
                    (Manifest, input("agents.md")),
                    (Index, input("mcp.index.json")),
                    (Task, either("task")),
                    (Tenant, either("tenant")),
                    (Health, either("health")),
                ],
                vec![(Context, either("context")), (Policy, input("policy.rego"))],
            ),
            Kind::Call => (
                vec![(Call, input("plan.json")), (Index, input("mcp.index.json"))],
                vec![
                    (Lock, input("agents.lock")),
                    (Catalogue, input("catalogue.json")),
                ],
            ),
            Kind::Plan => {
                let all = PlanInputs::of(case);
                (
                    vec![
                        (Plan, Some(all.plan)),
                        (Request, all.request),
                        (ToolPool, Some(all.tool_pool)),
                        (Profile, Some(all.profile)),
                    ],
                    vec![
                        (Index, all.index),
                        (Lock, all.lock),
                        (Catalogue, all.catalogue),
                    ],
                )
            }
        };
        let present = |(kind, bytes): (DocumentKind, Option<Vec<u8>>)| Some((kind, bytes?));
        let text = |(kind, bytes)| (kind, String::from_utf8(bytes).expect("UTF-8"));
        let id = input("tenant-id.txt").map(|id| String::from_utf8(id).expect("UTF-8"));
        Self {
            kind,
            documents: given.into_iter().filter_map(present).map(text).collect(),
            tenant_id: id.map(|id| id.trim_end().to_owned()),
            fixed: fixed.into_iter().filter_map(present).collect(),
        }
    }

    fn optional(&self, kind: DocumentKind) -> Option<Vec<u8>> {
        let documents = self.documents.iter();
        let texts = documents.map(|(kind, text)| (*kind, text.as_bytes()));
        let fixed = self.fixed.iter().map(|(kind, bytes)| (*kind, &**bytes));
        let mut all = texts.chain(fixed);
        Some(all.find(|(it, _)| *it == kind)?.1.to_vec())
    }

    fn required(&self, kind: DocumentKind) -> Vec<u8> {
        self.optional(kind).unwrap_or_default()
    }

    pub(super) fn ask(&self) -> Answer {
        match self.kind {
            Kind::Resolve | Kind::Match => self.decided(),
            Kind::Plan => self.planned(),
            Kind::Call => self.called(),
        }
    }

    fn decided(&self) -> Answer {
        let given = |kind| self.optional(kind).map(Given::text);
        let inputs = Inputs {
            manifest: self.optional(DocumentKind::Manifest),
            index: self.required(DocumentKind::Index),
            task: given(DocumentKind::Task),
            tenant: given(DocumentKind::Tenant),
            tenant_id: self.tenant_id.clone(),
            health: given(DocumentKind::Health),
            context: given(DocumentKind::Context),
        };
        let rego = self.optional(DocumentKind::Policy).map(|bytes| {
            let read = policy::read(bytes).expect("a valid policy");
            Arc::new(read.value) as Arc<dyn PolicyEngine>
        });
        let read = match native::read(&inputs, rego) {
            Ok(read) => read,
            Err(diagnostics) => {
                return Answer {
                    diagnostics,
                    decision: None,
                };
            }
        };
        let mut diagnostics = read.warnings.clone();
        let decision = if self.kind == Kind::Resolve {
            let resolution = read.resolution();
            diagnostics.extend(explain::resolution_diagnostics(&resolution));
            let explained = render::resolution(&resolution).expect("small enough");
            let lock = resolution.lock();
            lock.map(|lock| format!("[{},\n{explained}]", render::lock(&lock)))
        } else {
            let matching = read.matching();
            diagnostics.extend(explain::matching_diagnostics(&matching));
            let text = render::matching(&matching).expect("small enough");
            text.contains("\n  \"satisfied\": true,\n").then_some(text)
        };
        Answer {
            diagnostics,
            decision,
        }
    }

    fn planned(&self) -> Answer {
        let valid = |bytes| lower::index(bytes).expect("a valid index").value;
        let index = self.optional(DocumentKind::Index).map(valid);
        let valid = |bytes| lower::lock(bytes).expect("a valid lock").value;
        let lock = self.optional(DocumentKind::Lock).map(valid);
        let valid = |bytes| {
            lower::tools_snapshot(bytes)
                .expect("a valid catalogue")
                .value
        };
        let catalogue = self.optional(DocumentKind::Catalogue).map(valid);
        let plan = Arc::new(lower::plan(self.required(DocumentKind::Plan)));
        let pool = self.required(DocumentKind::ToolPool);
        let rules = Arc::new(PlanPolicy::new(
            pool,
            self.required(DocumentKind::Profile),
            None,
        ));
        let request = self.optional(DocumentKind::Request).map(lower::request);
        let context = PlanContext {
            request: request.as_ref(),
            index: index.as_ref(),
            lock: lock.as_ref(),
            catalogue: catalogue.as_ref(),
            evaluation_context: None,
        };
        let answer = PlanAnswer::new(&plan, &rules, context);
        Answer {
            diagnostics: answer.diagnostics(),
            decision: answer.authorized(),
        }
    }

    fn called(&self) -> Answer {
        let mut diagnostics = Vec::new();
        let index = value(
            lower::index(self.required(DocumentKind::Index)),
            &mut diagnostics,
        );
        let lock = self.optional(DocumentKind::Lock).map(lower::lock);
        let lock = lock.map(|lock| lock.expect("a valid lock").value);
        let catalogue = self.optional(DocumentKind::Catalogue);
        let catalogue = catalogue.map(lower::tools_snapshot);
        let catalogue = catalogue.map(|it| it.expect("a valid catalogue").value);
        let plan = lower::call_plan(self.required(DocumentKind::Call));
        let plan = value(plan, &mut diagnostics);
        let mut decision = None;
        if let (Some(plan), Some(index)) = (&plan, &index) {
            let context = CallContext {
                index,
                lock: lock.as_ref(),
                catalogue: catalogue.as_ref(),
                evaluation_context: None,
            };
            let answer = CallAnswer::new(plan, context);
            let found = answer.diagnostics();
            let json = answer.json();
            decision = (!json.contains("\"verdict\": \"deny\"")).then_some(json);
            diagnostics.extend(found);
        }
        Answer {
            diagnostics,
            decision,
        }
    }
}

/// Returns the value of a reading, and keeps its problems and warnings.
fn value<T>(lowered: Lowered<T>, problems: &mut Vec<Diagnostic>) -> Option<T> {
    match lowered {
        Ok(checked) => {
            problems.extend(checked.warnings);
            Some(checked.value)
        }
        Err(found) => {
            problems.extend(found);
            None
        }
    }
}

/// What a decision grants, and what it forbids or demands.
#[derive(Debug)]
pub(super) struct Grants {
    granted: BTreeSet<String>,
    limits: BTreeSet<String>,
}

impl Grants {
    /// Returns whether everything is granted by the other too, and whatever limits the other limits this.
    pub(super) fn is_within(&self, other: &Self) -> bool {
        self.granted.is_subset(&other.granted) && self.limits.is_superset(&other.limits)
    }
}

/// Reads what a decision grants: of a lock each selection, of a plan each step with its limits, of a call
/// the call.
pub(super) fn grants(kind: Kind, decision: &str) -> Grants {
    let decision: Value = serde_json::from_str(decision).expect("JSON");
    let mut grants = Grants {
        granted: BTreeSet::new(),
        limits: BTreeSet::new(),
    };
    match kind {
        Kind::Resolve => {
            for selection in decision[0]["selections"].as_array().expect("a list") {
                // Digests differ if the entry does, in ways that grant nothing.
                let keys = ["id", "version", "endpoint", "tool", "scopes", "load"];
                let kept = keys.map(|key| selection[key].to_string());
                grants.granted.insert(kept.join(" "));
            }
            add_limits(&decision[1]["constraints"], &mut grants);
        }
        Kind::Match => {
            for requirement in decision["requirements"].as_array().expect("a list") {
                let keys = ["id", "version", "tool", "tools"];
                let kept = keys.map(|key| requirement["selected"][key].to_string());
                grants.granted.insert(kept.join(" "));
            }
            add_limits(&decision["constraints"], &mut grants);
        }
        Kind::Plan => {
            // A pool or a profile of another digest may allow anything.
            for key in ["tool_pool", "instruction_profile"] {
                grants.granted.insert(decision["against"][key].to_string());
            }
            let steps = &decision["plan"]["plan"]["steps"];
            let servers = &decision["servers"];
            for granted in [steps, servers]
                .into_iter()
                .filter_map(Value::as_array)
                .flatten()
            {
                grants.granted.insert(granted.to_string());
            }
            for obligation in decision["obligations"].as_array().into_iter().flatten() {
                grants.limits.insert(obligation.to_string());
            }
        }
        Kind::Call => {
            grants
                .granted
                .insert(decision["authorized"]["call"].to_string());
            for obligation in decision["authorized"]["obligations"]
                .as_array()
                .into_iter()
                .flatten()
            {
                grants.limits.insert(obligation.to_string());
            }
        }
    }
    grants
}

fn add_limits(constraints: &Value, grants: &mut Grants) {
    for label in constraints["forbid"].as_array().into_iter().flatten() {
        grants.limits.insert(label.to_string());
    }
    for key in ["requireSigned", "residency", "sensitivity"] {
        let value = &constraints[key];
        if !value.is_null() && *value != Value::Bool(false) {
            grants.limits.insert(format!("{key} {value}"));
        }
    }
}
