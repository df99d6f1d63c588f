//! The evidence of a run: files that the host stores as they are \[3, 6\].
//!
//! Everything passes the redaction here, so nothing can be stored without it. Each line of
//! `episodes/index.jsonl` holds the digest of its episode and of the line before. An episode holds the
//! digests of the files that were stored since the episode before, so the chain covers every file. The
//! episode of the run holds that of the summary, which in turn holds the head of the chain.

use super::action::{Action, Outcome, Store, StoreMode};
use super::episode::{Episode, EpisodeType, StoredFile, Subject};
use super::stop::Stop;
use super::turns::Turns;
use agent_api::lower::{bytes_digest, digest};
use agent_api::text::{Span, hexadecimal};
use agent_record::Redactor;
use agent_syntax::json::Writer;
use core::cell::{Ref, RefCell};
use sha2::{Digest, Sha256};

/// The folder of the evidence of all runs, below the root that the host chooses.
const ROOT: &str = "mova_agent";

/// The evidence of one run.
#[derive(Debug)]
pub(crate) struct Evidence {
    turns: Turns,
    redactor: Redactor,
    subject: RefCell<Subject>,
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
    /// The files that were stored since the last episode.
    files: Vec<StoredFile>,
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
            subject: RefCell::new(subject),
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

    pub(crate) fn subject(&self) -> Ref<'_, Subject> {
        self.subject.borrow()
    }

    /// Sets the name of the plan, once there is one.
    pub(crate) fn set_plan_id(&self, id: Option<String>) {
        self.subject.borrow_mut().plan_id = id;
    }

    /// Returns the folder of the run.
    pub(crate) fn directory(&self) -> String {
        let Subject {
            run_id, request_id, ..
        } = &*self.subject.borrow();
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

    /// Returns the id of the next episode.
    pub(crate) fn next_episode(&self) -> String {
        self.episode_id(self.episodes() + 1)
    }

    /// Returns a JSON document as it is stored.
    pub(crate) fn redacted(&self, json: &str) -> String {
        self.redactor.json(json).unwrap_or_default()
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
            Some(json) => self.file(name, json).await,
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
        self.file(&name, self.redactor.text(log)).await
    }

    /// Stores a file other than an episode. The next episode covers it.
    async fn file(&self, name: &str, content: String) -> Result<(), Stop> {
        let file = StoredFile {
            path: name.to_owned(),
            bytes: content.len() as u64,
            digest: bytes_digest(content.as_bytes()),
        };
        self.store(name, content.into_bytes(), StoreMode::Replace)
            .await?;
        self.state.borrow_mut().files.push(file);
        Ok(())
    }

    /// Stores an episode and its line of the index. Returns the episode's id.
    ///
    /// # Errors
    /// As [`Evidence::document`].
    pub(crate) async fn episode(&self, episode: Episode<'_>) -> Result<String, Stop> {
        let number = self.state.borrow().episodes + 1;
        let id = self.episode_id(number);
        let kind = episode.kind;
        let files = core::mem::take(&mut self.state.borrow_mut().files);
        let json = episode.json(&id, &self.subject(), &files, self.turns.now());
        let Some(json) = self.redactor.json(&json) else {
            return Err(self.fail(Stop::internal(format!("the episode {id} is not JSON"))));
        };
        let line = index_line(&digest(&json), &id, &kind.name(), self.head().as_deref());
        {
            let mut state = self.state.borrow_mut();
            state.episodes = number;
            state.head = Some(digest(&line));
            if matches!(kind, EpisodeType::Security(_)) {
                state.security.push(id.clone());
            }
            self.turns.record(|progress| {
                progress.episodes = number;
                progress.head.clone_from(&state.head);
            });
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

    /// Returns the id of an episode: its number, so that names sort in order, and digits that differ
    /// between runs.
    fn episode_id(&self, number: u32) -> String {
        let mut hash = Sha256::new_with_prefix(self.random);
        hash.update(number.to_be_bytes());
        let digits = hexadecimal(&hash.finalize()[..6]);
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

/// Returns a line of the index, without its end, by the digest, the id and the type of its episode and
/// the digest of the line before.
pub fn index_line(digest: &str, id: &str, kind: &str, previous: Option<&str>) -> String {
    let mut w = Writer::dense();
    w.object(|w| {
        w.key("digest").string(digest);
        w.key("episode_id").string(id);
        w.key("episode_type").string(kind);
        w.key("previous").optional(previous);
    });
    let mut line = w.finish();
    line.pop();
    line
}
