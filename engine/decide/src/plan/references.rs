//! That a plan was made for the documents that it is decided by.

use super::{Decision, PlanReason};
use agent_model::{DocumentRef, Plan};
use agent_text::{Span, Spanned};

/// A member of a plan or a request that names another document, and does not name the one that is
/// there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stated<'a> {
    /// Which document.
    pub document: Referred,
    /// The member.
    pub member: &'static str,
    /// Where it stands.
    pub span: Span,
    /// What it says.
    pub said: &'a str,
    /// What it would have to say; none if there is nothing of the kind.
    pub is: Option<&'a str>,
    /// What disagrees.
    pub between: Between,
}

/// Two that name different documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Between {
    /// The plan, and the document itself.
    PlanAndDocument,
    /// The plan, and the request that it answers.
    PlanAndRequest,
    /// The request, and the document itself. What a plan leaves out counts all the same: it is the
    /// planner's, and nobody trusts that.
    RequestAndDocument,
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
        self.documents(&plan.pool, &plan.profile, Between::PlanAndDocument);
        let Some(request) = self.context.request.and_then(|it| it.value.as_ref()) else {
            return;
        };
        self.documents(&request.pool, &request.profile, Between::RequestAndDocument);
        let between = Between::PlanAndRequest;
        let asked = Some(&*request.id.value);
        self.member(
            (Referred::Request, "request_id"),
            &plan.request,
            asked,
            between,
        );
        for (document, ours, asked) in [
            (Referred::ToolPool, &plan.pool, &request.pool),
            (Referred::Profile, &plan.profile, &request.profile),
        ] {
            // What only the plan names is checked against the document itself.
            let asked_or_ours =
                |ours: &'a Option<Spanned<String>>, asked: &'a Option<Spanned<String>>| {
                    asked.as_ref().or(ours.as_ref()).map(|it| &*it.value)
                };
            let is = [
                Some(&*asked.id.value),
                asked_or_ours(&ours.version, &asked.version),
                asked_or_ours(&ours.digest, &asked.digest),
            ];
            self.reference(document, ours, is, between);
        }
    }

    /// What is said of the pool and of the profile, against both of them.
    fn documents(&mut self, pool: &'a DocumentRef, profile: &'a DocumentRef, between: Between) {
        let rules = self.rules;
        if let Some(is) = &rules.pool.value {
            let is = [Some(&*is.id), Some(&*is.version), Some(&*is.digest)];
            self.reference(Referred::ToolPool, pool, is, between);
        }
        if let Some(is) = &rules.profile.value {
            let is = [Some(&*is.id), is.version.as_deref(), Some(&*is.digest)];
            self.reference(Referred::Profile, profile, is, between);
        }
    }

    fn reference(
        &mut self,
        document: Referred,
        said: &'a DocumentRef,
        [id, version, digest]: [Option<&'a str>; 3],
        between: Between,
    ) {
        let (id_member, version_member) = document.members();
        self.member((document, id_member), &said.id, id, between);
        for (member, said, is) in [
            (version_member, &said.version, version),
            ("digest", &said.digest, digest),
        ] {
            if let Some(said) = said {
                self.member((document, member), said, is, between);
            }
        }
    }

    fn member(
        &mut self,
        (document, member): (Referred, &'static str),
        said: &'a Spanned<String>,
        is: Option<&'a str>,
        between: Between,
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
            between,
        };
        self.deny(None, PlanReason::OtherDocument(stated));
    }
}
