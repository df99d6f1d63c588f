//! What the commands that decide something share: an engine, its inputs, and how to answer.

use super::Answer;
use crate::args::{Format, Global, Output};
use crate::diagnostics::{Document, Findings};
use crate::engine::{
    Diagnostic, Drift, EMBEDDED_SHA256, Engine, Index, Instance, Label, Lock, Manifest, Part,
    Place, Position, ReportFormat, Resolution, Severity, Source, Span, Style,
};
use crate::failure::Failure;
use crate::input::{INDEX_MAX, Input, TEXT_MAX};
use crate::output::{self, Progress};
use std::fmt::Display;

/// The manifest, where none is named. The first of them that is there.
const MANIFESTS: [&str; 2] = ["agents.md", "AGENTS.md"];

/// One run of a command.
pub(super) struct Session {
    pub(super) engine: Instance,
    pub(super) quiet: bool,
    verbose: bool,
    format: Format,
    findings: Findings,
    /// Standard input has been read. There is no second one.
    stdin_is_read: bool,
}

impl Session {
    pub(super) fn open(global: &Global, output: &Output) -> Result<Self, Failure> {
        Ok(Self {
            engine: engine(global)?,
            quiet: global.quiet,
            verbose: global.verbose,
            format: output.format,
            findings: Findings::default(),
            stdin_is_read: false,
        })
    }
}

/// An instance of the engine that the options ask for.
pub(super) fn engine(global: &Global) -> Result<Instance, Failure> {
    if global.verbose {
        match &global.engine {
            None => output::note(format_args!("engine sha256:{EMBEDDED_SHA256}")),
            Some(path) => output::note(format_args!("engine {}", path.display())),
        }
    }
    match &global.engine {
        None => Engine::embedded(),
        Some(path) => {
            let _progress = Progress::of(format!("compiling {}", path.display()));
            Engine::from_file(path)
        }
    }?
    .instantiate()
}

/// A lock that a command found, or did not find.
pub(super) enum Existing {
    Missing,
    Lock { lock: Lock, text: Vec<u8> },
    Refused(Vec<Diagnostic>),
}

/// The lock that a resolution gives.
pub(super) struct NewLock {
    pub(super) lock: Lock,
    pub(super) text: String,
}

/// Reading inputs. None stands for an input that the engine refuses; the findings say why.
impl Session {
    pub(super) fn manifest(&mut self, input: Option<&Input>) -> Result<Option<Manifest>, Failure> {
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

    pub(super) fn index(&mut self, input: &Input) -> Result<Option<Index>, Failure> {
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
    pub(super) fn resolution(
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

    pub(super) fn lock(&mut self, input: &Input) -> Result<Option<Lock>, Failure> {
        let text = self.read(input, TEXT_MAX)?;
        let parsed = self.engine.parse_lock(&text)?;
        self.remember(Source::Lock, input, text);
        Ok(self.accept(parsed))
    }

    /// The lock that may or may not be there. Nothing is found about it yet.
    pub(super) fn existing_lock(&mut self, input: &Input) -> Result<Existing, Failure> {
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
    pub(super) fn new_lock(&mut self, resolution: &Resolution) -> Result<Option<NewLock>, Failure> {
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

/// Answering.
impl Session {
    pub(super) fn add(&mut self, problems: impl IntoIterator<Item = Diagnostic>) {
        self.findings.add(problems);
    }

    /// Yes, unless there is an error among the findings.
    pub(super) fn verdict(&self) -> Answer {
        Answer::yes_if(self.findings.count(Severity::Error) == 0)
    }

    /// Prints a view in the words of the engine, and then the findings, where they are seen best.
    pub(super) fn show(
        &mut self,
        text: impl FnOnce(&mut Instance) -> Result<Vec<Part>, Failure>,
        json: impl FnOnce(&mut Instance) -> Result<String, Failure>,
    ) -> Result<(), Failure> {
        match self.format {
            Format::Text => {
                output::print_parts(&text(&mut self.engine)?)?;
                self.draw(|_| true)
            }
            Format::Json => {
                output::print_data(&json(&mut self.engine)?)?;
                self.draw(|severity| severity == Severity::Warning)
            }
            Format::Sarif | Format::Github => self.report(),
        }
    }

    /// Prints the findings. There is nothing else to say.
    pub(super) fn report(&mut self) -> Result<(), Failure> {
        let format = match self.format {
            Format::Text => return self.draw(|_| true),
            Format::Json => ReportFormat::Json,
            Format::Sarif => ReportFormat::Sarif,
            Format::Github => ReportFormat::Github,
        };
        let files = self.findings.files();
        let report = self
            .engine
            .report(format, self.findings.diagnostics(), &files)?;
        output::print_data(&report)
    }

    /// Says in a line, if that is wanted, what no answer on standard output says.
    pub(super) fn note(&self, line: impl Display) {
        if self.format == Format::Text && !self.quiet {
            output::note(line);
        }
    }

    /// Says which inputs were checked and how many problems they have.
    pub(super) fn note_verdict(&self) {
        let names: Vec<_> = self
            .findings
            .files()
            .into_iter()
            .map(|file| file.path)
            .collect();
        let problems = match (
            self.findings.count(Severity::Error),
            self.findings.count(Severity::Warning),
        ) {
            (0, 0) => "no problems".to_owned(),
            (0, warnings) => counted(warnings, "warning"),
            (errors, 0) => counted(errors, "error"),
            (errors, warnings) => {
                format!(
                    "{}, {}",
                    counted(errors, "error"),
                    counted(warnings, "warning")
                )
            }
        };
        self.note(format_args!("checked {}: {problems}", names.join(" and ")));
    }

    /// As [`Self::note`], in the words of the engine.
    pub(super) fn note_drifts(&mut self, drifts: &[Drift]) -> Result<(), Failure> {
        if self.format == Format::Text && !self.quiet {
            output::note_parts(&self.engine.drifts(drifts)?);
        }
        Ok(())
    }

    /// Says no to invalid input.
    pub(super) fn refuse(&mut self) -> Result<Answer, Failure> {
        self.report()?;
        Ok(Answer::No)
    }

    /// Prints named differences. The answer is yes if there are none.
    pub(super) fn show_drifts(&mut self, drifts: &[Drift]) -> Result<Answer, Failure> {
        if matches!(self.format, Format::Sarif | Format::Github) {
            for drift in drifts {
                let diagnostic = self.drift_diagnostic(drift)?;
                self.findings.add([diagnostic]);
            }
        }
        self.show(
            |engine| engine.drifts(drifts),
            |engine| engine.drifts_json(drifts),
        )?;
        Ok(Answer::yes_if(drifts.is_empty()))
    }

    /// A drift as the formats want it that know problems only.
    fn drift_diagnostic(&mut self, drift: &Drift) -> Result<Diagnostic, Failure> {
        let words = self.engine.drifts(std::slice::from_ref(drift))?;
        let words = words.iter().filter(|part| part.style != Style::Code);
        let message: String = words.map(|part| part.text.as_str()).collect();
        let message = message.trim_start_matches([' ', ':']).trim_end().to_owned();
        Ok(Diagnostic {
            code: drift.code,
            severity: Severity::Error,
            message,
            labels: vec![whole_lock()],
            help: Vec::new(),
        })
    }

    /// Warns of problems that refuse nothing, because the input they are in does not count.
    pub(super) fn warn(&mut self, mut problems: Vec<Diagnostic>) -> Result<(), Failure> {
        if !self.quiet {
            problems
                .iter_mut()
                .for_each(|problem| problem.severity = Severity::Warning);
            let catalogue = self.engine.catalogue()?;
            output::note_drawn(&self.findings.draw(&problems, &catalogue));
        }
        Ok(())
    }

    /// Draws on standard error those findings whose severity is to be shown.
    fn draw(&mut self, is_shown: impl Fn(Severity) -> bool) -> Result<(), Failure> {
        let shown: Vec<_> = self
            .findings
            .diagnostics()
            .iter()
            .filter(|it| is_shown(it.severity))
            .filter(|it| !self.quiet || it.severity == Severity::Error)
            .collect();
        if !shown.is_empty() {
            let catalogue = self.engine.catalogue()?;
            output::note_drawn(&self.findings.draw(shown, &catalogue));
        }
        Ok(())
    }
}

/// The beginning of the lock, which stands for the whole: a code review shows only what has a place.
fn whole_lock() -> Label {
    let span = Span {
        source: Source::Lock,
        start: 0,
        end: 0,
    };
    let start = Position {
        line: 1,
        column: 1,
        utf16_column: 1,
    };
    Label {
        place: Place {
            span,
            start,
            end: start,
        },
        text: String::new(),
    }
}

fn counted(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}
