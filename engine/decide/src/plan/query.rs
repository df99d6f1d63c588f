//! The user's query, before there is a plan \[1\].

use super::profile::ACTIVE;
use agent_json_schema::{Budget, OverBudget};
use agent_lower::Validated;
use agent_model::Profile;

/// A reason to refuse a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueryDenial<'a> {
    /// The profile can't be read, or is not in force.
    NoProfile,
    /// The profile has no `input_policy`.
    NoPolicy,
    /// The query is above its limit.
    TooLarge {
        /// The bytes of the query.
        bytes: u64,
        /// The limit.
        most: u64,
    },
    /// A denied pattern matches the query.
    Pattern {
        /// The number of the pattern in `deny_patterns`.
        number: usize,
        /// The pattern.
        pattern: &'a str,
    },
    /// The check exceeds the budget.
    OverBudget(OverBudget),
}

/// Decides on a query by the `input_policy` of a profile.
///
/// # Errors
/// Every reason to refuse the query.
pub fn decide_query<'a>(
    query: &str,
    profile: &'a Validated<Profile>,
) -> Result<(), Vec<QueryDenial<'a>>> {
    let active = profile.sound().filter(|it| it.status.value == ACTIVE);
    let Some(profile) = active else {
        return Err(vec![QueryDenial::NoProfile]);
    };
    let Some(policy) = &profile.input_policy else {
        return Err(vec![QueryDenial::NoPolicy]);
    };
    let mut denials = Vec::new();
    let bytes = query.len() as u64;
    if bytes > policy.max_bytes {
        let most = policy.max_bytes;
        denials.push(QueryDenial::TooLarge { bytes, most });
    }
    let mut budget = Budget::new();
    for (number, deny) in policy.deny.iter().enumerate() {
        match deny.pattern.is_match(query, &mut budget) {
            Ok(false) => {}
            Ok(true) => denials.push(QueryDenial::Pattern {
                number,
                pattern: &deny.text,
            }),
            Err(over) => {
                denials.push(QueryDenial::OverBudget(over));
                break;
            }
        }
    }
    if denials.is_empty() {
        Ok(())
    } else {
        Err(denials)
    }
}
