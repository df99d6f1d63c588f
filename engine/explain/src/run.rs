//! Messages about a query and about a plan while it runs.

use super::input::{destination, input};
use agent_decide::{QueryDenial, RunCheck, RunDenial};
use agent_diagnostic::Code;
use core::net::IpAddr;

/// Returns the reason why a check is deferred.
pub fn deferred(check: RunCheck) -> &'static str {
    match check {
        RunCheck::InputFrom => {
            "whether the output has such a value is known once the earlier step has run"
        }
        RunCheck::Input => "the input is known once the earlier step has run",
        RunCheck::Destination => "the URL is known once the earlier step has run",
        RunCheck::Addresses => "the addresses of the host are known at the time of the connection",
        RunCheck::Output => "the output is known once the step has run",
    }
}

/// Returns the reason why a run ends at a step: the stable code, and a sentence.
pub fn run_denial(denial: &RunDenial<'_>) -> (Code, String) {
    match denial {
        RunDenial::NoStep => (
            Code::MovaValidationFailed,
            "the plan has no such step".to_owned(),
        ),
        RunDenial::NoOutput { step } => (
            Code::MovaValidationFailed,
            format!("the step `{step}` has no output yet"),
        ),
        RunDenial::NotJson => (
            Code::MovaValidationFailed,
            "it is not strict JSON".to_owned(),
        ),
        RunDenial::NoSuchPart { step, pointer } => (
            Code::MovaValidationFailed,
            format!("the output of the step `{step}` has no value at `{pointer}`"),
        ),
        RunDenial::OverBudget(over) => (
            Code::MovaValidationFailed,
            format!("it can't be checked: {}", over.reason()),
        ),
        RunDenial::Input(denial) => {
            let message = input(denial);
            (message.code, message.text)
        }
        RunDenial::Destination(denial) => (
            Code::MovaDestinationDenied,
            format!("the URL {}", destination(denial)),
        ),
        RunDenial::OutputTooLarge { bytes, most } => (
            Code::MovaLimitExceeded,
            format!("the output has {bytes} bytes, and at most {most} are accepted"),
        ),
        RunDenial::OutputInvalid {
            pointer,
            message,
            rule,
        } => (
            Code::MovaOutputInvalid,
            format!("`output{pointer}` {message}; see {rule}"),
        ),
        RunDenial::NoStructuredContent => (
            Code::MovaOutputInvalid,
            "the tool has an output schema, and returned no `structuredContent`".to_owned(),
        ),
        RunDenial::ToolFailed => (
            Code::MovaOutputInvalid,
            "the tool reports an error (`isError`)".to_owned(),
        ),
    }
}

/// Parses the addresses that a host was resolved to.
///
/// # Errors
/// The stable code and a sentence, if a text is not an address.
pub fn addresses(texts: &[String]) -> Result<Vec<IpAddr>, (Code, String)> {
    let parse = |text: &String| {
        text.parse().map_err(|_| {
            let message = format!("{text:?} is not an IP address");
            (Code::MovaDestinationDenied, message)
        })
    };
    texts.iter().map(parse).collect()
}

/// Returns the reason why no plan is made for a query.
pub fn query_denial(denial: &QueryDenial<'_>) -> String {
    match denial {
        QueryDenial::NoProfile => "no active instruction profile is given".to_owned(),
        QueryDenial::NoPolicy => {
            "the profile has no `input_policy`, which limits queries".to_owned()
        }
        QueryDenial::TooLarge { bytes, most } => {
            format!("the query has {bytes} bytes, and at most {most} are accepted")
        }
        QueryDenial::Pattern { number, pattern } => format!(
            "the query matches the pattern {pattern:?}, which \
             `/input_policy/deny_patterns/{number}` of the profile forbids"
        ),
        QueryDenial::OverBudget(over) => format!("the query can't be checked: {}", over.reason()),
    }
}
