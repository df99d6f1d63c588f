//! Values of the engine to values of the contract, and back where they come back.

use crate::bindings::exports::agent::engine::{diagnostic, inputs, lockfile, resolver};
use agent_api::decide;
use agent_api::diagnostic as problems;
use agent_api::model::{self, Name};
use agent_api::text;

/// Enumerations that have the same cases here and there.
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

#[cfg(feature = "full")]
mod full;

same! {
    problems::Code = diagnostic::Code {
        InputTooLarge InvalidUtf8 JsonSyntax LoneSurrogate NumberOutOfRange YamlSyntax
        YamlUnsupported DuplicateKey NestingTooDeep FrontmatterMissing FrontmatterUnclosed
        MissingField WrongType UnknownValue UnknownKey EmptyValue InvalidName ForbiddenAction
        DuplicateServer LookalikeId LockVersion LockMissing LockInvalid
        Unsatisfied MissingCategory MissingScope ResidencyMismatch SensitivityExceeded
        UnsignedNotAllowed ExplanationTooLarge AgentChanged RequirementAdded RequirementRemoved
        SelectionChanged VersionChanged EndpointChanged ScopeWidened ScopeNarrowed
        IntegrityChanged HashChanged ServerRemoved ForbidAdded ForbidRemoved MissingCapability
        ConstraintUnmet PolicyDenied PolicyError HealthVeto TenantUnknown ExpansionDenied
        TokenBudgetExceeded StubCollision ToolChanged DefinitionChanged LoadChanged PolicySyntax
        PolicyDeadRule PolicyRuleUnused PolicyTestFailed ImportFormat ImportValue
        ImportNoCapability ImportToolRemoved ImportUnused EvidenceTooShort Ungrounded PlanNotJson
        PlanShape ToolUnknown ToolNotLocked NotReadonly ArgumentInvalid ArgumentUnknown SchemaBudget
        SchemaInvalid InputDenied MovaDestinationDenied MovaLimitExceeded MovaOutputInvalid
        MovaPolicyDenied MovaValidationFailed
    }
    problems::Severity = diagnostic::Severity { Error Warning Note }
    problems::Applicability = diagnostic::Applicability { Safe Unsafe Display }
    text::Source = diagnostic::Source {
        Manifest Index Lock Explanation Task Tenant Health Context Policy PolicyTest
        Import Overlay Plan Catalogue Summary Payload Request ToolPool Profile StepInput StepOutput
        Document
    }
    model::Sensitivity = inputs::Sensitivity {
        Public Internal Confidential PiiLow PiiModerate PiiHigh
    }
    model::Residency = inputs::Residency { Any EuOnly UsOnly }
    decide::TieBreak = resolver::TieBreak { Signed Id Version }
    decide::PolicyErrorKind = resolver::PolicyFailure { Budget Runtime Type Undefined }
    model::Load = resolver::Load { Essential OnDemand }
    model::HealthStatus = resolver::HealthStatus {
        Healthy Probation Quarantine Starting Unhealthy
    }
}

/// Convert each element.
pub(crate) fn all<A, B: From<A>>(items: impl IntoIterator<Item = A>) -> Vec<B> {
    items.into_iter().map(B::from).collect()
}

/// Own each name.
pub(crate) fn strings<'s>(names: impl IntoIterator<Item = &'s str>) -> Vec<String> {
    names.into_iter().map(str::to_owned).collect()
}

/// A page of a list.
pub(crate) fn page<T>(
    items: impl Iterator<Item = T>,
    offset: u32,
    limit: u32,
) -> impl Iterator<Item = T> {
    items.skip(offset as usize).take(limit as usize)
}

impl From<text::Place> for diagnostic::Place {
    fn from(place: text::Place) -> Self {
        Self {
            span: diagnostic::Span {
                source: place.source.into(),
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
            span: text::Span {
                start: place.span.start,
                end: place.span.end,
            },
            start: place.start.into(),
            end: place.end.into(),
        }
    }
}

/// Records that have the same members here and there: what is listed alone is of the same type.
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
            rule: problem.rule.clone(),
            severity: problem.severity().into(),
            step: problem.step.map(|step| step as u32),
            message: problem.message,
            labels: all(problem.labels),
            notes: problem.notes,
            fixes: all(problem.fixes),
        }
    }
}

impl From<diagnostic::Diagnostic> for problems::Diagnostic {
    fn from(problem: diagnostic::Diagnostic) -> Self {
        Self {
            code: problem.code.into(),
            reason: problem.reason.map(Into::into),
            rule: problem.rule,
            step: problem.step.map(|step| step as usize),
            message: problem.message,
            labels: all(problem.labels),
            notes: problem.notes,
            fixes: all(problem.fixes),
        }
    }
}

impl From<model::ServerView<'_>> for inputs::Server {
    fn from(server: model::ServerView<'_>) -> Self {
        let gate = server.gate();
        Self {
            id: server.id().to_owned(),
            version: server.version().to_owned(),
            endpoint: server.endpoint().to_owned(),
            categories: strings(server.categories()),
            scopes: strings(server.scopes()),
            residency: all(gate.residency().iter()),
            max_sensitivity: gate.max_sensitivity().into(),
            signed: gate.signed(),
            publisher: server.publisher().to_owned(),
            place: server.place().into(),
        }
    }
}

impl From<&model::Constraints> for inputs::Constraints {
    fn from(constraints: &model::Constraints) -> Self {
        Self {
            forbid: strings(constraints.forbid.iter().map(|label| label.value.as_str())),
            require_signed: constraints.require_signed(),
            residency: constraints.residency().map(Into::into),
            sensitivity: constraints.sensitivity().map(Into::into),
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
            model::Grant::Category(category) => Self::Category(category.to_string()),
            model::Grant::Capability {
                capability,
                definition,
                load,
                tool,
            } => Self::Capability(resolver::ToolGrant {
                pair: capability.pair(),
                constraints: strings(capability.constraints.iter().map(Name::as_str)),
                definition: definition.clone(),
                load: (*load).into(),
                tool: tool.to_string(),
            }),
        }
    }
}

impl From<&decide::Rejection<'_>> for resolver::Rejection {
    fn from(reason: &decide::Rejection<'_>) -> Self {
        match reason {
            decide::Rejection::MissingCategory { offered } => {
                Self::MissingCategory(strings(offered.iter().copied()))
            }
            decide::Rejection::MissingScope { missing } => {
                Self::MissingScope(strings(missing.iter().copied()))
            }
            decide::Rejection::ResidencyMismatch { required, offered } => {
                Self::ResidencyMismatch(resolver::ResidencyMismatch {
                    required: (*required).into(),
                    offered: all(offered.iter()),
                })
            }
            decide::Rejection::SensitivityExceeded { required, offered } => {
                Self::SensitivityExceeded(resolver::SensitivityExceeded {
                    required: (*required).into(),
                    offered: (*offered).into(),
                })
            }
            decide::Rejection::UnsignedNotAllowed { publisher } => {
                Self::UnsignedNotAllowed((*publisher).to_owned())
            }
            decide::Rejection::MissingCapability { offered } => {
                Self::MissingCapability(strings(offered.iter().copied()))
            }
            decide::Rejection::ConstraintUnmet { missing } => {
                Self::ConstraintUnmet(strings(missing.iter().copied()))
            }
            decide::Rejection::ForbiddenAction { label } => {
                Self::ForbiddenAction((*label).to_owned())
            }
            decide::Rejection::PolicyDenied { reason } => {
                Self::PolicyDenied(reason.map(str::to_owned))
            }
            decide::Rejection::PolicyError { reason } => Self::PolicyError((*reason).into()),
            decide::Rejection::HealthVeto { status } => Self::HealthVeto(status.map(Into::into)),
        }
    }
}

impl From<decide::Change<'_>> for resolver::Change {
    fn from(change: decide::Change<'_>) -> Self {
        match change {
            decide::Change::AddCategory(category) => Self::AddCategory(category.to_owned()),
            decide::Change::AddScope(scope) => Self::AddScope(scope.to_owned()),
            decide::Change::AddResidency(residency) => Self::AddResidency(residency.into()),
            decide::Change::RaiseSensitivity(level) => Self::RaiseSensitivity(level.into()),
            decide::Change::Sign => Self::Sign,
            decide::Change::DropResidency => Self::DropResidency,
            decide::Change::LowerSensitivity(level) => Self::LowerSensitivity(level.into()),
            decide::Change::AllowUnsigned => Self::AllowUnsigned,
            decide::Change::Advertise(capability) => Self::Advertise(capability.to_string()),
            decide::Change::AddConstraint(tag) => Self::AddConstraint(tag.to_owned()),
            decide::Change::Recover => Self::Recover,
            decide::Change::DropConstraint(tag) => Self::DropConstraint(tag.to_owned()),
            decide::Change::AllowAction(label) => Self::AllowAction(label.to_owned()),
        }
    }
}

impl From<decide::Counterfactual<'_>> for resolver::Counterfactual {
    fn from(counterfactual: decide::Counterfactual<'_>) -> Self {
        Self {
            changes: all(counterfactual.changes),
            widening: counterfactual.widening,
        }
    }
}

impl From<decide::Near<'_>> for resolver::Near {
    fn from(near: decide::Near<'_>) -> Self {
        Self {
            id: near.server.id().to_owned(),
            version: near.server.version().to_owned(),
            reasons: all(near.reasons.as_slice()),
            fixes: all(near.fixes),
        }
    }
}

impl From<decide::Funnel> for resolver::Funnel {
    fn from(funnel: decide::Funnel) -> Self {
        Self {
            all: funnel.all,
            category: funnel.category,
            scopes: funnel.scopes,
            residency: funnel.residency,
            sensitivity: funnel.sensitivity,
            signature: funnel.signature,
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
            before: drift.before.clone(),
            after: drift.after.clone(),
            details: drift.details.clone(),
        }
    }
}
