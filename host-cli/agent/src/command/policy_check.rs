//! `agent policy check`: compile a policy, look for what it can never allow and for dead rules, run its tests
//! and name the rules that they do not reach.

use super::CommandAnswer;
use super::session::CommandSession;
use crate::args::{INDEX, PolicyCheck};
use agent_host::Failure;
use agent_host::contract::diagnostic::{Diagnostic, Severity};
use agent_host::contract::policy::TestVerdict;
use agent_host::input::Input;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub(super) fn run(
    args: &PolicyCheck,
    session: &mut CommandSession,
) -> Result<CommandAnswer, Failure> {
    let usual = Some(Input::from(INDEX)).filter(|index| !index.is_missing());
    let index = session.optional(
        args.index.as_ref().or(usual.as_ref()),
        CommandSession::index,
    )?;
    let tenant = session.optional(args.tenant.as_ref(), |session, input| {
        session.tenant(input, args.tenant_id.as_deref())
    })?;
    let policy = session.policy(&args.policy)?;
    let (Some(index), Some(tenant), Some((policy, text))) = (index, tenant, policy) else {
        return session.refuse();
    };
    let never_allows = session.never_allows(policy)?;
    let dead = session.dead_rules(policy, index, tenant)?;
    session.add(never_allows.into_iter().chain(dead));
    let tests = match &args.test {
        Some(tests) => Some(tests.clone()),
        None => match &args.policy {
            Input::File(path) => Some(Input::File(beside(path))).filter(|it| !it.is_missing()),
            Input::Stdin => None,
        },
    };
    let mut counts = [0; 3];
    let mut unreached = String::new();
    if let Some(tests) = &tests {
        let Some(tested) = session.policy_tests(&text, tests)? else {
            return session.refuse();
        };
        for outcome in tested.outcomes {
            counts[match outcome.verdict {
                TestVerdict::Passed => 0,
                TestVerdict::Failed => 1,
                TestVerdict::Skipped => 2,
            }] += 1;
            session.add(outcome.problem);
        }
        unreached = match lines(&tested.unreached) {
            0 => String::new(),
            1 => "; 1 line held in no test (`--verbose` names it)".to_owned(),
            more => format!("; {more} lines held in no test (`--verbose` names them)"),
        };
        session.add(tested.unreached);
    }
    session.report()?;
    let [passed, failed, skipped] = counts;
    let of_tests = match &tests {
        None => "no tests".to_owned(),
        Some(tests) => {
            format!("{tests}: {passed} passed, {failed} failed, {skipped} skipped{unreached}")
        }
    };
    session.note(format_args!("checked {}; {of_tests}", args.policy));
    let errors = session.findings.count(Severity::Error);
    Ok(CommandAnswer::yes_if(errors == 0))
}

/// Returns the number of lines at which notes are.
fn lines(notes: &[Diagnostic]) -> usize {
    let places = notes.iter().flat_map(|it| &it.labels).map(|it| &it.place);
    let lines = places.flat_map(|it| it.start.line..=it.end.line);
    lines.collect::<BTreeSet<_>>().len()
}

/// Returns the path of the tests of a policy: `policy_test.rego` beside `policy.rego`.
pub(super) fn beside(policy: &Path) -> PathBuf {
    let mut name = policy.file_stem().unwrap_or_default().to_owned();
    name.push("_test.rego");
    policy.with_file_name(name)
}
