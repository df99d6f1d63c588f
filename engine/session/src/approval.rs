//! Approvals by a human: bound to a client, a tool and its arguments, and used once \[4\].

use super::client::Key;
use super::limits::{APPROVAL_LIFETIME_MS, APPROVALS_MAX};
use agent_api::text::hexadecimal;
use sha2::{Digest, Sha256};
use std::collections::VecDeque;

/// An approval that is asked for, or was given and is not used yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Approval {
    /// Its id, which only those who see it can name.
    pub(crate) id: String,
    pub(crate) client: Key,
    /// The number of the tool.
    pub(crate) tool: usize,
    /// The digest of the arguments.
    pub(crate) arguments: String,
    pub(crate) answer: Option<bool>,
    /// The time at which it expires, in milliseconds since 1970.
    pub(crate) expires_ms: u64,
}

/// The approvals of a session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Approvals {
    /// In the order in which they were asked for.
    pub(crate) pending: Vec<Approval>,
    /// How many ids were made.
    pub(crate) minted: u64,
    /// The calls of which a policy asks a human about the result: the oldest first.
    pub(crate) results: VecDeque<AskedResult>,
}

/// A call whose result no client gets without a human: by the client, the tool and the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AskedResult {
    pub(crate) client: Key,
    pub(crate) tool: Key,
    pub(crate) arguments: Key,
}

/// What a call gets that needs an approval.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Consent {
    /// It was approved, and may be made once.
    Given(String),
    /// It was denied.
    Denied(String),
    /// It is asked for.
    Asked(String),
    /// Too many are asked for.
    TooMany,
}

impl Approvals {
    /// Removes the expired ones.
    pub(crate) fn expire(&mut self, now_ms: u64) {
        self.pending.retain(|it| {
            // A clock that was set back does not prolong one for long.
            now_ms < it.expires_ms && it.expires_ms - now_ms <= 2 * APPROVAL_LIFETIME_MS
        });
    }

    /// Returns what is known of a call. An answer is used up.
    pub(crate) fn consent(
        &mut self,
        client: &Key,
        tool: usize,
        arguments: &str,
        (seed, now_ms): (&[u8; 32], u64),
    ) -> Consent {
        self.expire(now_ms);
        let is_same =
            |it: &Approval| it.client == *client && it.tool == tool && it.arguments == arguments;
        if let Some(place) = self.pending.iter().position(is_same) {
            return match self.pending[place].answer {
                None => Consent::Asked(self.pending[place].id.clone()),
                Some(true) => Consent::Given(self.pending.remove(place).id),
                Some(false) => Consent::Denied(self.pending.remove(place).id),
            };
        }
        if self.pending.len() >= APPROVALS_MAX {
            return Consent::TooMany;
        }
        self.minted += 1;
        let id = id_of(seed, self.minted);
        self.pending.push(Approval {
            id: id.clone(),
            client: client.clone(),
            tool,
            arguments: arguments.to_owned(),
            answer: None,
            expires_ms: now_ms.saturating_add(APPROVAL_LIFETIME_MS),
        });
        Consent::Asked(id)
    }

    /// Returns the id of the approval that is asked for a call and has no answer.
    pub(crate) fn open_id(&self, client: &Key, tool: usize, arguments: &str) -> Option<String> {
        let open = |it: &&Approval| {
            it.client == *client
                && it.tool == tool
                && it.arguments == arguments
                && it.answer.is_none()
        };
        self.pending.iter().find(open).map(|it| it.id.clone())
    }

    /// Takes the answer to an approval. Returns it, unless no approval has this id or it has an answer.
    pub(crate) fn answer(&mut self, id: &str, answer: bool, now_ms: u64) -> Option<&Approval> {
        self.expire(now_ms);
        let open = |it: &&mut Approval| it.id == id && it.answer.is_none();
        let approval = self.pending.iter_mut().find(open)?;
        approval.answer = Some(answer);
        approval.expires_ms = now_ms.saturating_add(APPROVAL_LIFETIME_MS);
        Some(approval)
    }

    /// Notes that a human is asked before a call is made again, because a policy asks about its result.
    pub(crate) fn ask_result(&mut self, of: AskedResult) {
        self.results.retain(|it| *it != of);
        if self.results.len() >= APPROVALS_MAX {
            self.results.pop_front();
        }
        self.results.push_back(of);
    }

    /// Withdraws an unanswered approval.
    pub(crate) fn withdraw(&mut self, id: &str) {
        self.pending.retain(|it| it.id != id || it.answer.is_some());
    }
}

fn id_of(seed: &[u8; 32], number: u64) -> String {
    let mut hash = Sha256::new_with_prefix(seed);
    hash.update(b"approval");
    hash.update(number.to_be_bytes());
    hexadecimal(&hash.finalize()[..16])
}
