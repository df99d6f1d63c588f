//! The policy evaluator and the report of all problems, or stubs in modules without them.

#[cfg(feature = "policy")]
pub(crate) use crate::policy_view::policy_view;
#[cfg(not(feature = "policy"))]
pub(crate) use absent::{Policy, policy_view, read, remarks, report};
#[cfg(feature = "policy")]
pub(crate) use agent_api::policy::{Policy, read};
#[cfg(feature = "policy")]
pub(crate) use present::{remarks, report};

/// Whether policies are evaluated.
pub(crate) const PRESENT: bool = cfg!(feature = "policy");

#[cfg(feature = "policy")]
mod present {
    use agent_api::decide::Resolution;
    use agent_api::diagnostic::Diagnostic;
    use agent_api::policy::{Policy, policy_remarks, unused_rules, vocabulary};
    use agent_api::render;

    /// Returns problems as SARIF.
    #[expect(clippy::unnecessary_wraps, reason = "another module has no report")]
    pub(crate) fn report(problems: &[Diagnostic]) -> Option<String> {
        Some(render::report(render::Format::Sarif, problems, &[]))
    }

    /// Returns warnings about rules without effect.
    pub(crate) fn remarks(policy: &Policy, resolution: &Resolution) -> Vec<Diagnostic> {
        let matching = resolution.matching();
        // Without the tenant, because a policy also serves tenants of other tiers.
        let known = vocabulary(Some(resolution.index()), None);
        let policy_decisions: Vec<_> = (0..matching.len())
            .filter_map(|number| matching.policy_decision(number))
            .collect();
        let mut remarks = policy_remarks(policy, &known);
        // In a policy that was not asked, every rule would count as unused.
        if !policy_decisions.is_empty() {
            remarks.extend(unused_rules(policy, policy_decisions));
        }
        remarks
    }
}

#[cfg(not(feature = "policy"))]
mod absent {
    use agent_api::decide::{
        PolicyDecision, PolicyEngine, PolicyError, PolicyErrorKind, Resolution,
    };
    use agent_api::diagnostic::Diagnostic;
    use agent_api::lower::{Checked, Lowered};

    /// The stub of a policy. It allows nothing.
    #[derive(Debug)]
    pub(crate) struct Policy;

    impl PolicyEngine for Policy {
        fn ask(&self, _: &str) -> PolicyDecision {
            PolicyDecision {
                answer: Err(PolicyError {
                    kind: PolicyErrorKind::Runtime,
                    detail: "this module has no policy evaluator".to_owned(),
                    place: None,
                }),
                lines: Vec::new(),
            }
        }

        /// Returns no digest: the stub never decides on what was locked.
        fn digest(&self) -> String {
            String::new()
        }
    }

    #[expect(
        clippy::unnecessary_wraps,
        reason = "the evaluator refuses invalid policies"
    )]
    pub(crate) fn read(_: Vec<u8>) -> Lowered<Policy> {
        Ok(Checked {
            value: Policy,
            warnings: Vec::new(),
        })
    }

    pub(crate) fn remarks(_: &Policy, _: &Resolution) -> Vec<Diagnostic> {
        Vec::new()
    }

    pub(crate) fn report(_: &[Diagnostic]) -> Option<String> {
        None
    }

    pub(crate) fn policy_view(_: &Policy, _: &Resolution, _: u32, _: &str) -> Option<Vec<u8>> {
        None
    }
}
