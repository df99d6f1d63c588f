//! Reading the inputs of a command.

use super::Session;
use crate::diagnostics::Document;
use crate::engine::{Diagnostic, Index, Lock, Manifest, Resolution, Source};
use crate::failure::Failure;
use crate::input::{INDEX_MAX, Input, TEXT_MAX};
use crate::output::{self, Progress};

/// The manifest, where none is named. The first of them that is there.
const MANIFESTS: [&str; 2] = ["agents.md", "AGENTS.md"];

/// A lock that a command found, or did not find.
pub(in crate::command) enum Existing {
    Missing,
    Lock { lock: Lock, text: Vec<u8> },
    Refused(Vec<Diagnostic>),
}

/// The lock that a resolution gives.
pub(in crate::command) struct NewLock {
    pub(in crate::command) lock: Lock,
    pub(in crate::command) text: String,
}

/// Reading inputs. None stands for an input that the engine refuses; the findings say why.
impl Session {
    pub(in crate::command) fn manifest(
        &mut self,
        input: Option<&Input>,
    ) -> Result<Option<Manifest>, Failure> {
        let input = match input {
            Some(input) => input.clone(),
            None => usual_manifest()?,
        };
        let text = self.read(&input, TEXT_MAX)?;
        let parsed = self.engine.parse_manifest(&text)?;
        self.remember(Source::Manifest, &input, text);
        let Some(manifest) = self.accept(parsed) else {
            return Ok(None);
        };
        let warnings = self.engine.manifest_warnings(&manifest)?;
        self.findings.add(warnings);
        Ok(Some(manifest))
    }

    pub(in crate::command) fn index(&mut self, input: &Input) -> Result<Option<Index>, Failure> {
        let _progress = Progress::of(format!("loading {input}"));
        let text = self.read(input, INDEX_MAX)?;
        let loaded = self.engine.load_index(&text)?;
        self.remember(Source::Index, input, text);
        let Some(index) = self.accept(loaded) else {
            return Ok(None);
        };
        let warnings = self.engine.index_warnings(&index)?;
        self.findings.add(warnings);
        Ok(Some(index))
    }

    /// The manifest resolved against the index.
    pub(in crate::command) fn resolution(
        &mut self,
        manifest: Option<&Input>,
        index: &Input,
    ) -> Result<Option<Resolution>, Failure> {
        let manifest = self.manifest(manifest)?;
        let index = self.index(index)?;
        let (Some(manifest), Some(index)) = (manifest, index) else {
            return Ok(None);
        };
        let _progress = Progress::of("resolving".to_owned());
        self.engine.resolve(&manifest, &index).map(Some)
    }

    pub(in crate::command) fn lock(&mut self, input: &Input) -> Result<Option<Lock>, Failure> {
        let text = self.read(input, TEXT_MAX)?;
        let parsed = self.engine.parse_lock(&text)?;
        self.remember(Source::Lock, input, text);
        Ok(self.accept(parsed))
    }

    /// The lock that may or may not be there. Nothing is found about it yet.
    pub(in crate::command) fn existing_lock(&mut self, input: &Input) -> Result<Existing, Failure> {
        if input.is_missing() {
            return Ok(Existing::Missing);
        }
        let text = self.read(input, TEXT_MAX)?;
        let existing = match self.engine.parse_lock(&text)? {
            Ok(lock) => Existing::Lock {
                lock,
                text: text.clone(),
            },
            Err(problems) => Existing::Refused(problems),
        };
        self.remember(Source::Lock, input, text);
        Ok(existing)
    }

    /// The lock that is to be. None if a requirement has no server; the findings say which.
    pub(in crate::command) fn new_lock(
        &mut self,
        resolution: &Resolution,
    ) -> Result<Option<NewLock>, Failure> {
        let unsatisfied = self.engine.unsatisfied(resolution)?;
        self.findings.add(unsatisfied);
        let Some(text) = self.engine.lock_text(resolution)? else {
            return Ok(None);
        };
        match self.engine.parse_lock(text.as_bytes())? {
            Ok(lock) => Ok(Some(NewLock { lock, text })),
            Err(_) => Err(Failure::internal(
                "the engine refuses a lock that it has written",
            )),
        }
    }

    fn read(&mut self, input: &Input, limit: u64) -> Result<Vec<u8>, Failure> {
        if *input == Input::Stdin && std::mem::replace(&mut self.stdin_is_read, true) {
            return Err(Failure::new("standard input can be read only once")
                .help("give `-` for one input, and the path of a file for every other"));
        }
        let text = input.read(limit)?;
        if self.verbose {
            output::note(format_args!("read {} bytes of {input}", text.len()));
        }
        Ok(text)
    }

    fn remember(&mut self, source: Source, input: &Input, text: Vec<u8>) {
        self.findings.add_document(Document {
            source,
            name: input.to_string(),
            text,
        });
    }

    fn accept<T>(&mut self, checked: Result<T, Vec<Diagnostic>>) -> Option<T> {
        checked.map_err(|problems| self.findings.add(problems)).ok()
    }
}

/// The manifest in the working folder.
fn usual_manifest() -> Result<Input, Failure> {
    MANIFESTS
        .iter()
        .map(|&name| Input::from(name))
        .find(|input| !input.is_missing())
        .ok_or_else(|| {
            Failure::new("there is no `agents.md` in this folder")
                .help("name the manifest: `agent validate path/to/agents.md`")
        })
}
