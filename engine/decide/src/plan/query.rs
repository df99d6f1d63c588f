//! What a user asks, before anybody plans for it \[1\].

use agent_json_schema::{Budget, OverBudget};
use agent_lower::Validated;
use agent_model::Profile;

/// Why nothing is planned for a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueryDenial<'a> {
    /// The profile can't be read, or is not in force.
    NoProfile,
    /// The profile doesn't say what queries may be.
    NoPolicy,
    /// It has more bytes than it may have.
    TooLarge {
        /// How many it has.
        bytes: u64,
        /// How many it may have.
        most: u64,
    },
    /// A pattern is found in it.
    Pattern {
        /// Which of `deny_patterns`.
        number: usize,
        /// The pattern.
        pattern: &'a str,
    },
    /// It takes too much to tell.
    OverBudget(OverBudget),
}

/// Decide whether anything is planned for a query, by the `input_policy` of a profile.
///
/// # Errors
/// Every reason why nothing is.
pub fn decide_query<'a>(
    query: &str,
    profile: &'a Validated<Profile>,
) -> Result<(), Vec<QueryDenial<'a>>> {
    let active = profile.sound().filter(|it| it.status.value == "active");
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
