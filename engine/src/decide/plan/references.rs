//! That a plan was made for the documents that it is decided by.

use super::{Decision, PlanReason};
use crate::model::{DocumentRef, Plan};
use crate::text::{Span, Spanned};

/// A member of a plan that names another document, and does not name the one that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stated<'a> {
    /// Which document.
    pub document: Referred,
    /// The member.
    pub member: &'static str,
    /// Where it stands in the plan.
    pub span: Span,
    /// What the plan says.
    pub said: &'a str,
    /// What it would have to say; none if there is nothing of the kind.
    pub is: Option<&'a str>,
    /// Whether it is the request that says so.
    pub by_request: bool,
}

/// What a plan names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Referred {
    /// The request.
    Request,
    /// The tool pool.
    ToolPool,
    /// The instruction profile.
    Profile,
}

impl Referred {
    /// The member of a plan that names it.
    pub fn member(self) -> &'static str {
        match self {
            Self::Request => "request_id",
            Self::ToolPool => "tool_pool_ref",
            Self::Profile => "instruction_profile_ref",
        }
    }

    /// The names of the members of that for its id and its version.
    fn members(self) -> (&'static str, &'static str) {
        match self {
            Self::ToolPool => ("pool_id", "pool_version"),
            Self::Request | Self::Profile => ("profile_id", "profile_version"),
        }
    }
}

impl<'a> Decision<'a> {
    pub(super) fn references(&mut self, plan: &'a Plan) {
        let rules = self.rules;
        if let Some(pool) = &rules.pool.value {
            let is = [Some(&*pool.id), Some(&*pool.version), Some(&*pool.digest)];
            self.reference(Referred::ToolPool, &plan.pool, is, false);
        }
        if let Some(profile) = &rules.profile.value {
            let version = profile.version.as_deref();
            let is = [Some(&*profile.id), version, Some(&*profile.digest)];
            self.reference(Referred::Profile, &plan.profile, is, false);
        }
        let Some(request) = self.context.request.and_then(|it| it.value.as_ref()) else {
            return;
        };
        let asked = Some(&*request.id.value);
        self.member(
            (Referred::Request, "request_id"),
            &plan.request,
            asked,
            true,
        );
        for (document, ours, asked) in [
            (Referred::ToolPool, &plan.pool, &request.pool),
            (Referred::Profile, &plan.profile, &request.profile),
        ] {
            // What only one of the two names is checked against the document itself.
            let both =
                |ours: &'a Option<Spanned<String>>, asked: &'a Option<Spanned<String>>| match (
                    ours, asked,
                ) {
                    (_, Some(asked)) => Some(&*asked.value),
                    (Some(ours), None) => Some(&*ours.value),
                    (None, None) => None,
                };
            let is = [
                Some(&*asked.id.value),
                both(&ours.version, &asked.version),
                both(&ours.digest, &asked.digest),
            ];
            self.reference(document, ours, is, true);
        }
    }

    fn reference(
        &mut self,
        document: Referred,
        said: &'a DocumentRef,
        [id, version, digest]: [Option<&'a str>; 3],
        by_request: bool,
    ) {
        let (id_member, version_member) = document.members();
        self.member((document, id_member), &said.id, id, by_request);
        for (member, said, is) in [
            (version_member, &said.version, version),
            ("digest", &said.digest, digest),
        ] {
            if let Some(said) = said {
                self.member((document, member), said, is, by_request);
            }
        }
    }

    fn member(
        &mut self,
        (document, member): (Referred, &'static str),
        said: &'a Spanned<String>,
        is: Option<&'a str>,
        by_request: bool,
    ) {
        if is == Some(&*said.value) {
            return;
        }
        let stated = Stated {
            document,
            member,
            span: said.span,
            said: &said.value,
            is,
            by_request,
        };
        self.deny(None, PlanReason::OtherDocument(stated));
    }
}
