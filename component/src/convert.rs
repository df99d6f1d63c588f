//! Conversions between values of the engine and values of the contract.

use crate::bindings::exports::agent::engine::{diagnostic, lockfile, resolver};
use agent_api::decide;
use agent_api::diagnostic as problems;
use agent_api::model::{self, Name};
use agent_api::text;

/// Converts both ways between enumerations with the same cases.
macro_rules! same {
    ($($ours:path = $theirs:path { $($case:ident)* })*) => {$(
        impl From<$ours> for $theirs {
            fn from(value: $ours) -> Self {
                match value { $(<$ours>::$case => Self::$case,)* }
            }
        }

        impl From<$theirs> for $ours {
            fn from(value: $theirs) -> Self {
                match value { $(<$theirs>::$case => Self::$case,)* }
            }
        }
    )*};
}

/// Converts both ways between records with the same members: first the members of equal types, then
/// those to convert, then the lists.
macro_rules! alike {
    ($($ours:path = $theirs:path {
        $($same:ident),*; $($member:ident),*; $($list:ident),*
    })*) => {$(
        impl From<$ours> for $theirs {
            fn from(value: $ours) -> Self {
                Self {
                    $($same: value.$same,)*
                    $($member: value.$member.into(),)*
                    $($list: all(value.$list),)*
                }
            }
        }

        impl From<$theirs> for $ours {
            fn from(value: $theirs) -> Self {
                Self {
                    $($same: value.$same,)*
                    $($member: value.$member.into(),)*
                    $($list: all(value.$list),)*
                }
            }
        }
    )*};
}

#[cfg(feature = "full")]
mod daemon;
#[cfg(feature = "full")]
mod full;
#[cfg(feature = "full")]
mod run;
#[cfg(feature = "full")]
mod session;

agent_api::diagnostic::every_code! { same problems::Code = diagnostic::Code }

same! {
    problems::Severity = diagnostic::Severity { Error Warning Note }
    problems::Applicability = diagnostic::Applicability { Safe Unsafe Display }
    text::DocumentKind = diagnostic::DocumentKind {
        Manifest Index Lock Task Tenant Health Context Policy PolicyTest Import Overlay Call Plan
        Catalogue Summary Payload Request ToolPool Profile StepInput StepOutput Document Evidence
    }
    model::Load = resolver::Load { Essential OnDemand }
    model::Serve = resolver::Serve { Prompts Resources }
    agent_api::UnreadableLock = lockfile::UnreadableLock { Foreign Later Damaged }
}

/// Converts each element.
pub(crate) fn all<A, B: From<A>>(items: impl IntoIterator<Item = A>) -> Vec<B> {
    items.into_iter().map(B::from).collect()
}

/// Returns owned copies of names.
pub(crate) fn strings<'s>(names: impl IntoIterator<Item = &'s str>) -> Vec<String> {
    names.into_iter().map(str::to_owned).collect()
}

impl From<text::Place> for diagnostic::Place {
    fn from(place: text::Place) -> Self {
        Self {
            span: diagnostic::Span {
                source: place.source.into(),
                number: place.number,
                start: place.span.start,
                end: place.span.end,
            },
            start: place.start.into(),
            end: place.end.into(),
        }
    }
}

impl From<diagnostic::Place> for text::Place {
    fn from(place: diagnostic::Place) -> Self {
        Self {
            source: place.span.source.into(),
            number: place.span.number,
            span: text::Span {
                start: place.span.start,
                end: place.span.end,
            },
            start: place.start.into(),
            end: place.end.into(),
        }
    }
}

alike! {
    text::Position = diagnostic::Position { line, column, utf16_column; ; }
    problems::Label = diagnostic::Label { pointer, text; place; }
    problems::Edit = diagnostic::Edit { replacement; place; }
    problems::Fix = diagnostic::Fix { title; applicability; edits }
}

impl From<problems::Diagnostic> for diagnostic::Diagnostic {
    fn from(problem: problems::Diagnostic) -> Self {
        Self {
            code: problem.code.into(),
            reason: problem.reason.map(Into::into),
            rule: problem.rule,
            severity: problem.severity.into(),
            step: problem.step.map(|step| step as u32),
            message: problem.message,
            labels: all(problem.labels),
            notes: problem.notes,
            fixes: all(problem.fixes),
            belongs_in: problem.belongs_in.map(Into::into),
        }
    }
}

impl From<diagnostic::Diagnostic> for problems::Diagnostic {
    fn from(problem: diagnostic::Diagnostic) -> Self {
        Self {
            code: problem.code.into(),
            severity: problem.severity.into(),
            reason: problem.reason.map(Into::into),
            rule: problem.rule,
            step: problem.step.map(|step| step as usize),
            message: problem.message,
            labels: all(problem.labels),
            notes: problem.notes,
            fixes: all(problem.fixes),
            belongs_in: problem.belongs_in.map(Into::into),
        }
    }
}

impl From<&model::Selection> for resolver::Selection {
    fn from(selection: &model::Selection) -> Self {
        Self {
            grant: (&selection.grant).into(),
            endpoint: selection.endpoint.to_string(),
            hash: selection.hash.clone(),
            id: selection.id.to_string(),
            integrity: selection.integrity.clone(),
            scopes: strings(selection.scopes.iter().map(Name::as_str)),
            version: selection.version.to_string(),
        }
    }
}

impl From<&model::Grant> for resolver::Grant {
    fn from(grant: &model::Grant) -> Self {
        match grant {
            model::Grant::Category {
                category,
                load,
                only,
                serve,
            } => Self::Category(resolver::ServerGrant {
                category: category.to_string(),
                load: (*load).into(),
                only: strings(only.iter().map(Name::as_str)),
                serve: all(serve.iter().copied()),
            }),
            model::Grant::Capability {
                capability,
                definition,
                load,
                tool,
                fallback,
            } => Self::Capability(resolver::ToolGrant {
                pair: capability.pair(),
                constraints: strings(capability.constraints.iter().map(Name::as_str)),
                definition: definition.clone(),
                load: (*load).into(),
                tool: tool.to_string(),
                fallback: *fallback,
            }),
        }
    }
}

impl From<&decide::Drift> for lockfile::Drift {
    fn from(drift: &decide::Drift) -> Self {
        Self {
            code: drift.code.into(),
            widening: drift.widening(),
            category: drift.category.clone(),
            capability: drift.capability.clone(),
            tool: drift.tool.clone(),
            before: drift.before.clone(),
            after: drift.after.clone(),
            details: drift.details.clone(),
            places: drift.places.iter().map(|place| (*place).into()).collect(),
        }
    }
}
