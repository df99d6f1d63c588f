//! Programs measured in turn, several times, so that other load on the machine affects all of them.

use crate::table::Table;
use serde_json::Value;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The number of starts of each program.
const ROUNDS: usize = 5;

/// The numbers of warm-up passes and of measured passes over all plans.
const PASSES: [usize; 2] = [3, 3];

/// A program that checks plans, as described in `contender`.
pub(crate) struct Contender {
    name: &'static str,
    program: PathBuf,
    arguments: Vec<PathBuf>,
    /// The number of starts, and the numbers of passes of each.
    effort: (usize, [usize; 2]),
    /// Maximum desired ratio to the unit.
    target: Option<f64>,
    /// The number of errors of each plan.
    errors: Vec<u64>,
    nanoseconds: Vec<u64>,
}

impl Contender {
    pub(crate) fn new(name: &'static str, program: impl Into<PathBuf>) -> Self {
        Self {
            name,
            program: program.into(),
            arguments: Vec::new(),
            effort: (ROUNDS, PASSES),
            target: None,
            errors: Vec::new(),
            nanoseconds: Vec::new(),
        }
    }

    /// Adds an argument before the folder and the numbers of passes.
    pub(crate) fn of(mut self, argument: impl Into<PathBuf>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Measures one pass only, for a program that is too slow for more.
    pub(crate) fn once(mut self) -> Self {
        self.effort = (1, [0, 1]);
        self
    }

    /// Sets the maximum desired ratio to the unit.
    pub(crate) fn target(mut self, target: f64) -> Self {
        self.target = Some(target);
        self
    }

    pub(crate) fn name(&self) -> &str {
        self.name
    }

    pub(crate) fn add_to(&self, table: &mut Table) {
        match self.target {
            Some(target) => table.add_target(self.name, self.median(), target),
            None => table.add(self.name, self.median()),
        }
    }

    /// Returns the number of invalid plans.
    pub(crate) fn invalid(&self) -> usize {
        self.verdicts().filter(|valid| !valid).count()
    }

    /// Returns the verdict on each plan.
    fn verdicts(&self) -> impl Iterator<Item = bool> {
        self.errors.iter().map(|errors| *errors == 0)
    }

    /// Returns the median of all measured times.
    pub(crate) fn median(&self) -> Duration {
        let mut sorted = self.nanoseconds.clone();
        sorted.sort_unstable();
        Duration::from_nanos(sorted[sorted.len() / 2])
    }

    fn start(&mut self, folder: &Path) -> Result<(), Box<dyn Error>> {
        let (_, passes) = self.effort;
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg(folder);
        command.args(passes.map(|passes| passes.to_string()));
        let output = command.stderr(Stdio::inherit()).output()?;
        if !output.status.success() {
            return Err(format!("{}: {}", self.name, output.status).into());
        }
        let said: Value = serde_json::from_slice(&output.stdout)?;
        let numbers = |name: &str| {
            let numbers = said[name].as_array().into_iter().flatten();
            numbers.filter_map(Value::as_u64).collect::<Vec<_>>()
        };
        self.errors = numbers("errors");
        self.nanoseconds.extend(numbers("nanoseconds"));
        Ok(())
    }
}

/// Returns the number of measurements of each program.
pub(crate) fn counts(contenders: &[Contender]) -> String {
    let counts = contenders.iter().map(|it| it.nanoseconds.len().to_string());
    counts.collect::<Vec<_>>().join(", ")
}

/// Measures all programs.
///
/// # Errors
/// If a program can't be started or fails.
///
/// # Panics
/// If a program's verdicts differ from those of the first.
pub(crate) fn run(contenders: &mut [Contender], folder: &Path) -> Result<(), Box<dyn Error>> {
    for round in 0..ROUNDS {
        for contender in contenders.iter_mut() {
            if round < contender.effort.0 {
                contender.start(folder)?;
            }
        }
    }
    if let [first, others @ ..] = contenders {
        for other in others {
            let same = first.verdicts().eq(other.verdicts());
            assert!(same, "{} finds what {} finds", other.name, first.name);
        }
    }
    Ok(())
}
