//! What only the commands that act on this machine ask of a session.

use super::CommandSession;
use super::inputs::mova_folder;
use crate::args::{Format, MovaOption};
use agent_host::contract::clients::InstalledServer;
use agent_host::contract::diagnostic::{Code, DocumentKind};
use agent_host::contract::evidence::RunFolder;
use agent_host::contract::schemas::NamedText;
use agent_host::diagnostics::Document;
use agent_host::input::{Input, TEXT_MAX, read_mova};
use agent_host::{Engine, Failure, call, output};
use std::path::Path;

impl CommandSession {
    /// Returns the format of the answer.
    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// Returns the engine, for further instances.
    pub(crate) fn component(&self) -> Engine {
        self.component.clone()
    }

    /// Reads the servers in the configuration of a client, the `number`th. Settings `may_lack` servers.
    pub(crate) fn installed_servers(
        &mut self,
        input: &Input,
        number: u32,
        may_lack: bool,
    ) -> Result<Option<Vec<InstalledServer>>, Failure> {
        let text = self.read(input, TEXT_MAX)?;
        self.installed_in(&text, input, number, may_lack)
    }

    /// Does the same with the text of a configuration that was read already.
    pub(crate) fn installed_in(
        &mut self,
        text: &[u8],
        input: &Input,
        number: u32,
        may_lack: bool,
    ) -> Result<Option<Vec<InstalledServer>>, Failure> {
        self.remember_one_of(DocumentKind::Import, number, input, text.to_vec());
        let installed = call!(self.engine, clients.installed(text))?;
        let mut problems = match installed {
            Ok(servers) => return Ok(Some(servers)),
            Err(problems) => problems,
        };
        if may_lack && problems.iter().all(|it| it.code == Code::ImportFormat) {
            return Ok(Some(Vec::new()));
        }
        for label in problems.iter_mut().flat_map(|it| &mut it.labels) {
            label.place.span.number = number;
        }
        self.add(problems);
        Ok(None)
    }

    /// Reads the folder of a run, so that diagnostics may point into its files.
    pub(crate) fn run_folder(&mut self, folder: &Path) -> Result<RunFolder, Failure> {
        let files = agent_evidence::read(folder)?;
        if self.verbose && !self.is_silent() {
            output::note(format_args!(
                "read {} files of {}",
                files.len(),
                folder.display()
            ));
        }
        for (file, number) in files.iter().zip(0..) {
            self.findings.add_document(Document {
                source: DocumentKind::Evidence,
                number,
                name: folder.join(&file.path).display().to_string(),
                text: file.content.clone(),
            });
        }
        // As it is named, and not as `.` or a link names it.
        let path = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let path = path.to_string_lossy();
        call!(self.engine, evidence.run_folder.read_at(&path, &files))
    }

    /// Reads MOVA's core as it is, if it is named or has its usual folder.
    pub(crate) fn mova(&mut self, option: &MovaOption) -> Result<Vec<NamedText>, Failure> {
        match mova_folder(option) {
            Some(folder) => read_mova(&folder),
            None => Ok(Vec::new()),
        }
    }

    /// Keeps a text that no file holds, so that diagnostics may point into it.
    pub(crate) fn remember_made(&mut self, source: DocumentKind, name: &str, text: Vec<u8>) {
        self.findings.add_document(Document {
            source,
            number: 0,
            name: name.to_owned(),
            text,
        });
    }

    /// Returns the text of the index that was read.
    pub(crate) fn index_text(&self) -> Vec<u8> {
        let text = self.findings.text(DocumentKind::Index);
        text.map(<[u8]>::to_vec).unwrap_or_default()
    }
}
