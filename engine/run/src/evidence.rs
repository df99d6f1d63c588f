//! The evidence of a run: files that the host stores as they are \[3, 6\].
//!
//! Everything passes the redaction here, so nothing can be stored without it. Each line of
//! `episodes/index.jsonl` holds the digest of its episode and of the line before.

use super::action::{Action, Outcome, Store, StoreMode};
use super::episode::{Episode, EpisodeType, Subject};
use super::redact::Redactor;
use super::stop::Stop;
use super::turns::Turns;
use agent_api::lower::digest;
use agent_api::text::Span;
use agent_syntax::json::Writer;
use core::cell::RefCell;
use sha2::{Digest, Sha256};

/// The folder of the evidence of all runs, below the root that the host chooses.
const ROOT: &str = "mova_agent";

/// The evidence of one run.
#[derive(Debug)]
pub(crate) struct Evidence {
    turns: Turns,
    redactor: Redactor,
    subject: Subject,
    /// The seed of the episodes' ids.
    random: [u8; 32],
    state: RefCell<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Episodes so far.
    episodes: u32,
    /// The digest of the last line of the index.
    head: Option<String>,
    /// The ids of the episodes about security.
    security: Vec<String>,
    /// Why evidence is incomplete: the first failure to store some.
    failed: Option<Stop>,
}

impl Evidence {
    pub(crate) fn new(
        turns: Turns,
        redactor: Redactor,
        subject: Subject,
        random: [u8; 32],
    ) -> Self {
        Self {
            turns,
            redactor,
            subject,
            random,
            state: RefCell::default(),
        }
    }

    pub(crate) fn turns(&self) -> &Turns {
        &self.turns
    }

    pub(crate) fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    pub(crate) fn subject(&self) -> &Subject {
        &self.subject
    }

    /// Returns the folder of the run.
    pub(crate) fn directory(&self) -> String {
        let Subject {
            run_id, request_id, ..
        } = &self.subject;
        format!("{ROOT}/{request_id}/runs/{run_id}")
    }

    /// Returns the digest of the last line of the index.
    pub(crate) fn head(&self) -> Option<String> {
        self.state.borrow().head.clone()
    }

    /// Returns the number of episodes.
    pub(crate) fn episodes(&self) -> u32 {
        self.state.borrow().episodes
    }

    /// Returns the ids of the episodes about security, in order.
    pub(crate) fn security_events(&self) -> Vec<String> {
        self.state.borrow().security.clone()
    }

    /// Returns whether everything was stored.
    pub(crate) fn is_complete(&self) -> bool {
        self.state.borrow().failed.is_none()
    }

    /// Stores a JSON document, redacted.
    ///
    /// # Errors
    /// The host can't store it.
    pub(crate) async fn document(&self, name: &str, json: &str) -> Result<(), Stop> {
        self.json(name, self.redactor.json(json)).await
    }

    /// Stores a JSON document with marked parts, redacted.
    ///
    /// # Errors
    /// As [`Evidence::document`].
    pub(crate) async fn marked(&self, name: &str, json: &str, marked: &[Span]) -> Result<(), Stop> {
        self.json(name, self.redactor.marked(json, marked)).await
    }

    /// Stores a tool pool, whose bindings name secrets.
    ///
    /// # Errors
    /// As [`Evidence::document`].
    pub(crate) async fn pool(&self, name: &str, json: &str) -> Result<(), Stop> {
        self.json(name, self.redactor.document(json)).await
    }

    /// Stores redacted JSON. A text that is not JSON can't be redacted, and is not stored.
    async fn json(&self, name: &str, redacted: Option<String>) -> Result<(), Stop> {
        match redacted {
            Some(json) => {
                self.store(name, json.into_bytes(), StoreMode::Replace)
                    .await
            }
            None => Err(self.fail(Stop::internal(format!("`{name}` is not JSON")))),
        }
    }

    /// Ends the evidence: nothing is stored any more.
    fn fail(&self, stop: Stop) -> Stop {
        let mut state = self.state.borrow_mut();
        state.failed.get_or_insert(stop).clone()
    }

    /// Stores the log of a step, redacted.
    ///
    /// # Errors
    /// As [`Evidence::document`].
    pub(crate) async fn log(&self, step_id: &str, log: &str) -> Result<(), Stop> {
        let name = format!("logs/{step_id}.log");
        let redacted = self.redactor.text(log);
        self.store(&name, redacted.into_bytes(), StoreMode::Replace)
            .await
    }

    /// Stores an episode and its line of the index. Returns the episode's id.
    ///
    /// # Errors
    /// As [`Evidence::document`].
    pub(crate) async fn episode(&self, episode: Episode<'_>) -> Result<String, Stop> {
        let number = self.state.borrow().episodes + 1;
        let id = self.episode_id(number);
        let kind = episode.kind;
        let json = episode.json(&id, &self.subject, self.turns.now());
        let Some(json) = self.redactor.json(&json) else {
            return Err(self.fail(Stop::internal(format!("the episode {id} is not JSON"))));
        };
        let line = self.line(&id, kind, &json);
        {
            let mut state = self.state.borrow_mut();
            state.episodes = number;
            state.head = Some(digest(&line));
            if matches!(kind, EpisodeType::Security(_)) {
                state.security.push(id.clone());
            }
        }
        let name = format!("episodes/{id}.json");
        self.store(&name, json.into_bytes(), StoreMode::Replace)
            .await?;
        self.store(
            "episodes/index.jsonl",
            (line + "\n").into_bytes(),
            StoreMode::Append,
        )
        .await?;
        Ok(id)
    }

    /// Returns the line of an episode in the index, without its end.
    fn line(&self, id: &str, kind: EpisodeType, json: &str) -> String {
        let mut w = Writer::dense();
        w.object(|w| {
            w.key("digest").string(&digest(json));
            w.key("episode_id").string(id);
            w.key("episode_type").string(&kind.name());
            w.key("previous").optional(self.head().as_deref());
        });
        let mut line = w.finish();
        line.pop();
        line
    }

    /// Returns the id of an episode: its number, so that names sort in order, and digits that differ
    /// between runs.
    fn episode_id(&self, number: u32) -> String {
        let mut hash = Sha256::new_with_prefix(self.random);
        hash.update(number.to_be_bytes());
        let digits: String = hash.finalize()[..6]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        format!("{number:06}-{digits}")
    }

    async fn store(&self, name: &str, content: Vec<u8>, mode: StoreMode) -> Result<(), Stop> {
        // Later evidence would lie about what is missing.
        if let Some(stop) = self.state.borrow().failed.clone() {
            return Err(stop);
        }
        let action = Action::Store(Store {
            path: format!("{}/{name}", self.directory()),
            content,
            mode,
        });
        let stop = match self.turns.perform(action).await {
            Ok(Outcome::Stored) => return Ok(()),
            Ok(Outcome::Failed(failure)) => Stop::internal(format!(
                "evidence can't be stored: {}",
                self.redactor.text(&failure.message)
            )),
            Ok(_) => Stop::internal("evidence was answered out of turn"),
            Err(stop) => stop,
        };
        Err(self.fail(stop))
    }
}
