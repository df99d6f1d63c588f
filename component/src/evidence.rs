//! `agent:engine/evidence`

use crate::Component;
use crate::bindings::exports::agent::engine::evidence::{
    self, CoreBorrow, Diagnostic, Documents, EvidenceFile, Guest, GuestRunFolder, Replayed,
    RunExplanation, Statement,
};
use crate::convert::all;
use crate::schemas::Core;
use agent_api::schema::Library;
use agent_audit::{Folder, envelope, explain, replay, state, verify};
use std::sync::Arc;

/// The folder of a run.
pub(crate) struct RunFolder(Folder);

impl Guest for Component {
    type RunFolder = RunFolder;

    fn envelope(statement: String, key_id: String, signature: Vec<u8>) -> String {
        envelope(&statement, &key_id, &signature)
    }
}

fn folder(files: Vec<EvidenceFile>) -> Folder {
    let files = files.into_iter().map(|file| agent_audit::EvidenceFile {
        path: file.path,
        content: file.content,
    });
    Folder::new(files.collect())
}

impl GuestRunFolder for RunFolder {
    fn read(files: Vec<EvidenceFile>) -> evidence::RunFolder {
        evidence::RunFolder::new(Self(folder(files)))
    }

    fn read_at(path: String, files: Vec<EvidenceFile>) -> evidence::RunFolder {
        evidence::RunFolder::new(Self(folder(files).at(&path)))
    }

    fn verify(&self, core: Option<CoreBorrow<'_>>) -> Vec<Diagnostic> {
        all(verify(&self.0, shared(core.as_ref())))
    }

    fn explain(&self, core: Option<CoreBorrow<'_>>) -> RunExplanation {
        let explanation = explain(&self.0, shared(core.as_ref()));
        RunExplanation {
            markdown: explanation.markdown,
            bundle: explanation.bundle,
            problems: all(explanation.problems),
        }
    }

    fn state(&self, core: Option<CoreBorrow<'_>>) -> Result<Statement, Vec<Diagnostic>> {
        match state(&self.0, shared(core.as_ref())) {
            Ok(statement) => Ok(Statement {
                json: statement.json,
                to_sign: statement.to_sign,
            }),
            Err(problems) => Err(all(problems)),
        }
    }

    fn replay(
        &self,
        rules: Documents,
        core: Option<CoreBorrow<'_>>,
    ) -> Result<Replayed, Vec<Diagnostic>> {
        match replay(&self.0, shared(core.as_ref()), rules.into()) {
            Ok(replay) => Ok(replay.into()),
            Err(problems) => Err(all(problems)),
        }
    }
}

impl From<agent_audit::Replay> for Replayed {
    fn from(replay: agent_audit::Replay) -> Self {
        Self {
            difference: replay.difference.map(Into::into),
            undecidable: u32::try_from(replay.undecidable).unwrap_or(u32::MAX),
            json: replay.json,
            text: all(replay.text),
        }
    }
}

fn shared<'c>(core: Option<&'c CoreBorrow<'_>>) -> Option<&'c Arc<Library>> {
    core.map(|core| &core.get::<Core>().0)
}
