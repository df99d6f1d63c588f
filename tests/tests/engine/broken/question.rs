//! Whole questions, asked as the commands ask them.

use super::case::Documents;
use agent_api::documents::{Overlay, import};
use agent_api::lower::{self, Lowered, Notation};
use agent_api::{CallAnswer, GroundingAnswer, LockText, PlanAnswer, compare, verify};
use agent_decide::{CallContext, PlanContext, PlanPolicy, PolicyEngine};
use agent_diagnostic::Diagnostic;
use agent_explain as explain;
use agent_rego as policy;
use agent_tests::inputs::{Given, Inputs};
use agent_tests::native;
use agent_text::DocumentKind;
use std::sync::Arc;

/// Returns the kind of a document by its usual name.
pub(super) fn kind(file: &str) -> DocumentKind {
    let mut kinds = DocumentKind::ALL.into_iter();
    let kind = kinds.find(|kind| kind.usual_name() == file);
    kind.unwrap_or_else(|| panic!("{file} is no usual name"))
}

/// Returns the diagnostics of a question.
pub(super) fn ask(question: &str, documents: &Documents, tenant: Option<&str>) -> Vec<Diagnostic> {
    let all = Asked { documents, tenant };
    let found = all.answered(question);
    // As the commands do before they report.
    let texts: Vec<_> = documents
        .iter()
        .filter_map(|(file, bytes)| Some((kind(file), std::str::from_utf8(bytes).ok()?)))
        .filter(|(kind, _)| all.is_read(question, *kind))
        .collect();
    agent_api::together(&texts, found)
}

impl Asked<'_> {
    /// Returns whether a question reads the documents of a kind.
    fn is_read(&self, question: &str, kind: DocumentKind) -> bool {
        use DocumentKind::{
            Call, Health, Index, Lock, Manifest, Payload, Plan, Profile, Request, Summary, Task,
            ToolPool,
        };
        match question {
            "resolve" | "locked" => matches!(kind, Manifest | Index),
            "match" => matches!(kind, Task | Index | Health),
            "call check" => matches!(kind, Call | Index | Lock),
            "ground" => matches!(kind, Summary | Payload),
            "plan check" => matches!(kind, Plan | ToolPool | Profile | Request | Index | Lock),
            "verify" => matches!(kind, Lock | Index),
            _ => false,
        }
    }

    fn answered(&self, question: &str) -> Vec<Diagnostic> {
        let all = self;
        match question.split_once(' ') {
            Some(("validate", file)) => all.validated(file),
            Some(("plan", "check")) => all.planned(),
            Some(("call", "check")) => all.called(),
            Some(("policy", "check")) => all.policy_checked(),
            _ => match question {
                "resolve" => all.resolved(),
                "match" => all.matched(),
                "ground" => all.grounded(),
                "import" => all.imported(),
                "verify" => all.verified(),
                "locked" => all.locked(),
                other => panic!("{other} is no question"),
            },
        }
    }
}

struct Asked<'d> {
    documents: &'d Documents,
    tenant: Option<&'d str>,
}

impl Asked<'_> {
    fn optional(&self, file: &str) -> Option<Vec<u8>> {
        self.documents.get(file).cloned()
    }

    fn required(&self, file: &str) -> Vec<u8> {
        let document = self.optional(file);
        document.unwrap_or_else(|| panic!("there is no {file}"))
    }

    fn given(&self, file: &str) -> Option<Given> {
        self.optional(file).map(Given::text)
    }

    fn validated(&self, file: &str) -> Vec<Diagnostic> {
        let bytes = self.required(file);
        match file {
            "agents.md" => found(lower::manifest(bytes)),
            "mcp.index.json" => found(lower::index(bytes)),
            other => panic!("{other} is validated by no case"),
        }
    }

    fn resolved(&self) -> Vec<Diagnostic> {
        let inputs = Inputs {
            manifest: self.optional("agents.md"),
            index: self.required("mcp.index.json"),
            ..Inputs::default()
        };
        match native::read(&inputs, None) {
            Ok(read) => [
                read.warnings.clone(),
                explain::resolution_diagnostics(&read.resolution()),
            ]
            .concat(),
            Err(problems) => problems,
        }
    }

    fn matched(&self) -> Vec<Diagnostic> {
        let inputs = Inputs {
            manifest: None,
            index: self.required("mcp.index.json"),
            task: self.given("task.yaml"),
            tenant: self.given("tenant.yaml"),
            tenant_id: self.tenant.map(str::to_owned),
            health: self.given("health.yaml"),
            context: None,
        };
        let (engine, mut problems) = match policy::read(self.required("policy.rego")) {
            Ok(read) => (Some(Arc::new(read.value)), Vec::new()),
            Err(problems) => (None, problems),
        };
        let engine = engine.map(|it| -> Arc<dyn PolicyEngine> { it });
        let allowed = engine.is_some();
        match native::read(&inputs, engine) {
            Ok(read) if allowed => [
                read.warnings.clone(),
                explain::matching_diagnostics(&read.matching()),
            ]
            .concat(),
            Ok(_) => problems,
            Err(found) => {
                problems.extend(found);
                problems
            }
        }
    }

    fn policy_checked(&self) -> Vec<Diagnostic> {
        match policy::read(self.required("policy.rego")) {
            Ok(read) => [
                policy::never_allows(&read.value),
                policy::dead_rules(&read.value, &policy::vocabulary(None, None)),
            ]
            .concat(),
            Err(problems) => problems,
        }
    }

    fn planned(&self) -> Vec<Diagnostic> {
        let mut problems = Vec::new();
        let index = self.optional("mcp.index.json").map(lower::index);
        let index = index.and_then(|it| value(it, &mut problems));
        let lock = self.optional("agents.lock").map(lower::lock);
        let lock = lock.and_then(|it| value(it, &mut problems));
        let plan = Arc::new(lower::plan(self.required("plan.json")));
        let pool = self.required("tool-pool.json");
        let rules = Arc::new(PlanPolicy::new(pool, self.required("profile.json"), None));
        let request = self.optional("request.json").map(lower::request);
        let context = PlanContext {
            request: request.as_ref(),
            index: index.as_ref(),
            lock: lock.as_ref(),
            catalogue: None,
            evaluation_context: None,
        };
        let answer = PlanAnswer::new(&plan, &rules, context);
        problems.extend(answer.diagnostics());
        problems.extend(answer.warnings());
        problems
    }

    fn called(&self) -> Vec<Diagnostic> {
        let mut problems = Vec::new();
        let index = value(lower::index(self.required("mcp.index.json")), &mut problems);
        let lock = self.optional("agents.lock").map(lower::lock);
        let lock = lock.and_then(|it| value(it, &mut problems));
        let plan = value(lower::call_plan(self.required("call.json")), &mut problems);
        if let (Some(plan), Some(index)) = (&plan, &index) {
            let context = CallContext {
                index,
                lock: lock.as_ref(),
                catalogue: None,
                evaluation_context: None,
            };
            problems.extend(CallAnswer::new(plan, context).diagnostics());
        }
        problems
    }

    fn grounded(&self) -> Vec<Diagnostic> {
        let (summary, payload) = (self.required("summary.json"), self.required("payload.json"));
        match lower::summarised(summary, payload) {
            Err(problems) => problems,
            Ok(read) => {
                let (summary, payload) = read.value;
                let answer = GroundingAnswer::new(&summary, &payload);
                [read.warnings, answer.diagnostics()].concat()
            }
        }
    }

    fn imported(&self) -> Vec<Diagnostic> {
        let overlay = self.optional("overlay.yaml").map(|bytes| Overlay {
            bytes,
            notation: Notation::ByContent,
        });
        found(import(vec![self.required("server.json")], overlay, None))
    }

    fn verified(&self) -> Vec<Diagnostic> {
        let mut problems = Vec::new();
        let lock = value(LockText::read(self.required("agents.lock")), &mut problems);
        let index = value(lower::index(self.required("mcp.index.json")), &mut problems);
        if let (Some(lock), Some(index)) = (lock, index) {
            let drifts = verify(&lock, &index, None);
            problems.extend(drifts.iter().map(explain::drift_diagnostic));
        }
        problems
    }

    /// As `resolve --locked` does.
    fn locked(&self) -> Vec<Diagnostic> {
        let inputs = Inputs {
            manifest: self.optional("agents.md"),
            index: self.required("mcp.index.json"),
            ..Inputs::default()
        };
        let read = match native::read(&inputs, None) {
            Ok(read) => read,
            Err(problems) => return problems,
        };
        let mut problems = Vec::new();
        let older = value(LockText::read(self.required("agents.lock")), &mut problems);
        let resolution = read.resolution();
        problems.extend(explain::resolution_diagnostics(&resolution));
        if let (Some(older), Some(newer)) = (older, resolution.lock()) {
            let policy = resolution.matching().policy();
            let drifts = compare(Some(&older), &newer, policy.map(|it| &**it));
            problems.extend(drifts.iter().map(explain::drift_diagnostic));
        }
        problems
    }
}

/// Returns the problems and warnings of a reading.
fn found<T>(lowered: Lowered<T>) -> Vec<Diagnostic> {
    match lowered {
        Ok(checked) => checked.warnings,
        Err(problems) => problems,
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
