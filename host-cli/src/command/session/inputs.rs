//! Reading the inputs of a command.

use super::Session;
use crate::diagnostics::Document;
use crate::engine::{Diagnostic, Index, Lock, Manifest, Resolution, Source};
use crate::failure::Failure;
use crate::input::{INDEX_MAX, Input, TEXT_MAX};
use crate::output::{self, Progress};

/// The manifest, where none is named. The first of them that is there.
const MANIFESTS: [&str; 2] = ["agents.md", "AGENTS.md"];

/// What was found where a lock is to be.
pub(crate) struct Existing {
    pub(crate) text: Vec<u8>,
    pub(crate) lock: Result<Lock, Vec<Diagnostic>>,
}

/// The lock that a resolution gives.
pub(crate) struct NewLock {
    pub(crate) lock: Lock,
    pub(crate) text: String,
}

/// Reading inputs. None stands for an input that the engine refuses; the findings say why.
impl Session {
    pub(crate) fn manifest(&mut self, input: Option<&Input>) -> Result<Option<Manifest>, Failure> {
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

    pub(crate) fn index(&mut self, input: &Input) -> Result<Option<Index>, Failure> {
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
    pub(crate) fn resolution(
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

    pub(crate) fn lock(&mut self, input: &Input) -> Result<Option<Lock>, Failure> {
        let text = self.read(input, TEXT_MAX)?;
        let parsed = self.engine.parse_lock(&text)?;
        self.remember(Source::Lock, input, text);
        Ok(self.accept(parsed))
    }

    /// The lock that may or may not be there. Its problems are not among the findings yet.
    pub(crate) fn existing_lock(&mut self, input: &Input) -> Result<Option<Existing>, Failure> {
        if input.is_missing() {
            return Ok(None);
        }
        let text = self.read(input, TEXT_MAX)?;
        let lock = self.engine.parse_lock(&text)?;
        self.remember(Source::Lock, input, text.clone());
        Ok(Some(Existing { text, lock }))
    }

    /// The lock that is to be. None if a requirement has no server; the findings say which.
    pub(crate) fn new_lock(&mut self, resolution: &Resolution) -> Result<Option<NewLock>, Failure> {
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
