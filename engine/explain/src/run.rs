//! Messages about a query and about a plan while it runs.

use super::input::{destination, input};
use super::locked_policy::run_policy;
use agent_decide::{ListingDenial, QueryDenial, RunCheck, RunDenial};
use agent_diagnostic::Code;
use core::net::IpAddr;

/// Returns the reason why a check is deferred.
pub fn deferred(check: RunCheck) -> &'static str {
    match check {
        RunCheck::InputFrom => "the value is known once the earlier step has run",
        RunCheck::Input => "the input is known once the earlier step has run",
        RunCheck::Destination => "the URL is known once the earlier step has run",
        RunCheck::Addresses => "the addresses of the host are known at the time of the connection",
        RunCheck::Policy => "the arguments are known once the earlier step has run",
        RunCheck::Output => "the output is known once the step has run",
    }
}

/// Returns the reason why a run ends at a step: the stable code, and a sentence.
pub fn run_denial(denial: &RunDenial<'_>) -> (Code, String) {
    use Code::{MovaDestinationDenied, MovaLimitExceeded, MovaOutputInvalid, MovaValidationFailed};
    let (code, message) = match denial {
        RunDenial::NoStep => (MovaValidationFailed, "the plan has no such step"),
        RunDenial::InputNotJson => (MovaValidationFailed, "the input is not strict JSON"),
        RunDenial::OutputNotJson => (MovaOutputInvalid, "the output is not strict JSON"),
        RunDenial::NoOutput { step } => {
            let message = format!("the step `{step}` has no output yet");
            return (MovaValidationFailed, message);
        }
        RunDenial::NoSuchPart { step, pointer } => {
            let message = format!("the output of the step `{step}` has no value at `{pointer}`");
            return (MovaValidationFailed, message);
        }
        RunDenial::OverBudget(over) => {
            let message = format!("it can't be checked: {}", over.reason());
            return (MovaValidationFailed, message);
        }
        RunDenial::Input(denial) => {
            let message = input(denial);
            return (message.code, message.text);
        }
        RunDenial::Policy(denial) => return (Code::MovaPolicyDenied, run_policy(denial)),
        RunDenial::Destination(denial) => {
            let message = format!("the URL {}", destination(denial));
            return (MovaDestinationDenied, message);
        }
        RunDenial::Listing(denial) => return (Code::MovaPolicyDenied, listing(denial)),
        RunDenial::OutputTooLarge { bytes, most } => {
            let message = format!("the output has {bytes} bytes, and at most {most} are accepted");
            return (MovaLimitExceeded, message);
        }
        RunDenial::OutputInvalid {
            pointer,
            message,
            rule,
        } => {
            let message = format!("`output{pointer}` {message}; see {rule}");
            return (MovaOutputInvalid, message);
        }
    };
    (code, message.to_owned())
}

/// Returns the reason why the tool of a live list can't be called.
fn listing(denial: &ListingDenial) -> String {
    match denial {
        ListingDenial::Unreadable => {
            "the server answered with something else than a `tools/list` result".to_owned()
        }
        ListingDenial::Missing => "the server no longer lists the locked tool".to_owned(),
        ListingDenial::Ambiguous => "the server lists the locked tool twice".to_owned(),
        ListingDenial::Changed { locked, present } => format!(
            "the definition of the tool differs from the locked one: it is {present}, and {locked} is locked"
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
