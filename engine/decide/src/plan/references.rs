//! The check that a plan was made for the given documents.

use super::decision::Decision;
use super::denial::{Between, PlanDenial, PlanReason, ReferenceMismatch, Referred};
use agent_model::{DocumentRef, Plan};
use agent_text::Spanned;

impl<'a> Decision<'a> {
    /// Checks the references of the plan and of its request.
    pub(super) fn references(&mut self, plan: &'a Plan) {
        let (pool, profile) = (plan.pool.as_ref(), plan.profile.as_ref());
        self.documents(pool, profile, Between::PlanAndDocument);
        let Some(request) = self.context.request.and_then(|it| it.value.as_ref()) else {
            return;
        };
        let theirs = (Some(&request.pool), Some(&request.profile));
        self.documents(theirs.0, theirs.1, Between::RequestAndDocument);
        let between = Between::PlanAndRequest;
        let document = (Referred::Request, "request_id");
        if let Some(id) = &plan.request {
            self.member(document, id, Some(&request.id.value), between);
        }
        for (document, ours, theirs) in [
            (Referred::ToolPool, pool, &request.pool),
            (Referred::Profile, profile, &request.profile),
        ] {
            let Some(ours) = ours else {
                continue;
            };
            // A member that only the plan has is checked against the document itself.
            let theirs_or_ours =
                |theirs: &'a Option<Spanned<String>>, ours: &'a Option<Spanned<String>>| {
                    theirs.as_ref().or(ours.as_ref()).map(|it| &*it.value)
                };
            let is = [
                Some(&*theirs.id.value),
                theirs_or_ours(&theirs.version, &ours.version),
                theirs_or_ours(&theirs.digest, &ours.digest),
            ];
            self.reference(document, ours, is, between);
        }
    }

    /// Checks the references to the pool and to the profile.
    fn documents(
        &mut self,
        pool: Option<&'a DocumentRef>,
        profile: Option<&'a DocumentRef>,
        between: Between,
    ) {
        let rules = self.rules;
        if let Some((pool, is)) = pool.zip(rules.pool.value.as_ref()) {
            let is = [Some(&*is.id), Some(&*is.version), Some(&*is.digest)];
            self.reference(Referred::ToolPool, pool, is, between);
        }
        if let Some((profile, is)) = profile.zip(rules.profile.value.as_ref()) {
            let is = [Some(&*is.id), is.version.as_deref(), Some(&*is.digest)];
            self.reference(Referred::Profile, profile, is, between);
        }
    }

    fn reference(
        &mut self,
        document: Referred,
        found: &'a DocumentRef,
        [id, version, digest]: [Option<&'a str>; 3],
        between: Between,
    ) {
        let (id_member, version_member) = document.members();
        self.member((document, id_member), &found.id, id, between);
        for (member, found, is) in [
            (version_member, &found.version, version),
            ("digest", &found.digest, digest),
        ] {
            if let Some(found) = found {
                self.member((document, member), found, is, between);
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
        // What the request asks for and the given document is are reported once.
        let is_told = |it: &PlanDenial<'_>| match &it.reason {
            PlanReason::OtherDocument(other) => {
                let same = (other.document, other.member) == (document, member);
                between == Between::PlanAndRequest
                    && match other.between {
                        Between::PlanAndDocument => (other.span, other.is) == (said.span, is),
                        Between::RequestAndDocument => same && other.is == Some(&said.value),
                        Between::PlanAndRequest => false,
                    }
            }
            _ => false,
        };
        if self.denials.iter().any(is_told) {
            return;
        }
        let mismatch = ReferenceMismatch {
            document,
            member,
            span: said.span,
            said: &said.value,
            is,
            between,
        };
        self.deny(None, PlanReason::OtherDocument(mismatch));
    }
}
