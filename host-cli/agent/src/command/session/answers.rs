//! Printing an answer in the chosen format.

use super::CommandSession;
use crate::args::{DiffFormat, DiffOutput, Format};
use crate::command::CommandAnswer;
use agent_host::contract::diagnostic::{Diagnostic, Severity};
use agent_host::contract::fixes::Document;
use agent_host::contract::lockfile::Drift;
use agent_host::contract::view::{ReportFormat, StyledSpan};
use agent_host::{Failure, Instance, call, output};
use std::fmt::Display;

impl CommandSession {
    pub(crate) fn add(&mut self, problems: impl IntoIterator<Item = Diagnostic>) {
        self.findings.add(problems);
    }

    /// Prints a rendered view, then the findings.
    pub(crate) fn show(
        &mut self,
        text: impl FnOnce(&mut Instance) -> Result<Vec<StyledSpan>, Failure>,
        json: impl FnOnce(&mut Instance) -> Result<String, Failure>,
    ) -> Result<(), Failure> {
        if self.is_silent() {
            return Ok(());
        }
        match self.format {
            // The answer of `--diff` on standard output is the diff.
            Format::Text if !self.writes() => self.draw(|_| true),
            Format::Text => {
                let parts = text(&mut self.engine)?;
                output::print_parts(&parts)?;
                self.is_answered = !parts.is_empty();
                self.draw(|_| true)
            }
            Format::Json => {
                output::print_data(&json(&mut self.engine)?)?;
                self.draw(|severity| severity == Severity::Warning)
            }
            Format::Sarif | Format::Github => self.report(),
        }
    }

    /// Prints the findings as the whole answer.
    pub(crate) fn report(&mut self) -> Result<(), Failure> {
        if self.is_silent() {
            return Ok(());
        }
        let format = match self.format {
            Format::Text => return self.draw(|_| true),
            Format::Json => ReportFormat::Json,
            Format::Sarif => ReportFormat::Sarif,
            Format::Github => ReportFormat::Github,
        };
        let report = self.report_as(format)?;
        output::print_data(&report)
    }

    /// Returns the findings as JSON, for an answer with more members.
    pub(crate) fn json_report(&mut self) -> Result<String, Failure> {
        self.report_as(ReportFormat::Json)
    }

    fn report_as(&mut self, format: ReportFormat) -> Result<String, Failure> {
        let files = self.findings.files();
        call!(
            self.engine,
            view.report(format, self.findings.diagnostics(), &files)
        )
    }

    /// Prints a line on standard error, unless `--format` or `--quiet` exclude it.
    pub(crate) fn note(&mut self, line: impl Display) {
        if self.is_noting() {
            self.set_apart();
            output::note(line);
        }
    }

    /// Prints drifts on standard error, like [`Self::note`].
    pub(crate) fn note_drifts(&mut self, drifts: &[Drift]) -> Result<(), Failure> {
        if self.is_noting() {
            let parts = call!(self.engine, view.drifts(drifts))?;
            self.set_apart();
            output::note_parts(&parts);
        }
        Ok(())
    }

    /// Adds the problems that the inputs show only together.
    pub(crate) fn relate(&mut self) -> Result<(), Failure> {
        let mut documents: Vec<Document> = Vec::new();
        for (kind, _) in &self.sources {
            // A diagnostic names a kind, and can't tell two inputs of it apart.
            if documents.iter().any(|it| it.kind == *kind) {
                return Ok(());
            }
            let text = self.findings.text(*kind).map(<[u8]>::to_vec);
            documents.extend(text.map(|text| Document { kind: *kind, text }));
        }
        let diagnostics = self.findings.diagnostics();
        let found = call!(self.engine, fixes.together(&documents, diagnostics))?;
        self.findings.replace(found);
        Ok(())
    }

    /// Reports the findings and answers no.
    pub(crate) fn refuse(&mut self) -> Result<CommandAnswer, Failure> {
        self.relate()?;
        self.report()?;
        Ok(CommandAnswer::No)
    }

    /// Adds problems, reports the findings and answers no.
    pub(crate) fn refuse_for(
        &mut self,
        problems: Vec<Diagnostic>,
    ) -> Result<CommandAnswer, Failure> {
        self.findings.add(problems);
        self.refuse()
    }

    /// Prints drifts. The answer is yes if the list is empty.
    pub(crate) fn show_drifts(&mut self, drifts: &[Drift]) -> Result<CommandAnswer, Failure> {
        if matches!(self.format, Format::Sarif | Format::Github) {
            let diagnostics = call!(self.engine, view.drift_diagnostics(drifts))?;
            self.add(diagnostics);
        }
        self.show(
            |engine| call!(engine, view.drifts(drifts)),
            |engine| call!(engine, view.drifts_json(drifts)),
        )?;
        Ok(CommandAnswer::yes_if(drifts.is_empty()))
    }

    /// Prints differences as the options of a command say, and answers whether they are accepted.
    pub(crate) fn show_differences(
        &mut self,
        options: &DiffOutput,
        drifts: &[Drift],
    ) -> Result<CommandAnswer, Failure> {
        if drifts.is_empty() {
            self.note("no differences");
        }
        if options.format == DiffFormat::Markdown && self.writes() {
            let text = call!(self.engine, view.drifts_markdown(drifts))?;
            output::print_data(&text)?;
            self.report()?;
        } else {
            self.show_drifts(drifts)?;
        }
        let is_refused = |it: &Drift| it.widening || !options.deny_widening;
        Ok(CommandAnswer::yes_if(!drifts.iter().any(is_refused)))
    }

    /// Prints problems as warnings: the answer does not depend on them.
    pub(crate) fn warn(&mut self, mut problems: Vec<Diagnostic>) -> Result<(), Failure> {
        if !self.quiet && !self.is_silent() {
            problems
                .iter_mut()
                .for_each(|problem| problem.severity = Severity::Warning);
            let catalogue = self.engine.catalogue()?;
            output::note_drawn(&self.findings.draw(&problems, catalogue));
        }
        Ok(())
    }

    /// Draws the findings of the severities that are shown on standard error.
    fn draw(&mut self, is_shown: impl Fn(Severity) -> bool) -> Result<(), Failure> {
        let shown: Vec<_> = self
            .findings
            .diagnostics()
            .iter()
            .filter(|it| is_shown(it.severity))
            .filter(|it| match it.severity {
                Severity::Error => true,
                Severity::Warning => !self.quiet,
                Severity::Note => self.verbose,
            })
            .collect();
        if !shown.is_empty() {
            let catalogue = self.engine.catalogue()?;
            let drawn = self.findings.draw(shown, catalogue);
            self.set_apart();
            output::note_drawn(&drawn);
            self.hint_at_fixes()?;
        }
        Ok(())
    }

    /// Returns whether lines for people are printed.
    pub(super) fn is_noting(&self) -> bool {
        self.format == Format::Text && !self.quiet && !self.is_silent()
    }

    fn set_apart(&mut self) {
        if std::mem::take(&mut self.is_answered) {
            output::set_apart();
        }
    }
}
