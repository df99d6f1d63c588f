//! Programs that are measured in turn, several times, so that what else the machine does meets all
//! of them.

use crate::table::Table;
use serde_json::Value;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// How often each program is started.
const ROUNDS: usize = 5;

/// How often a program checks all plans before it measures, and how often it does then.
const PASSES: [usize; 2] = [3, 3];

/// A program that checks plans, as `contender` says.
pub(crate) struct Contender {
    name: &'static str,
    program: PathBuf,
    arguments: Vec<PathBuf>,
    /// How often it is started, and how often it checks all plans then.
    effort: (usize, [usize; 2]),
    /// What the ratio to the unit should not pass.
    target: Option<f64>,
    /// How many errors each plan has.
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

    /// With one more argument, before the folder and the numbers of passes.
    pub(crate) fn of(mut self, argument: impl Into<PathBuf>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// It is so slow that once has to do, and that warming up makes no difference.
    pub(crate) fn once(mut self) -> Self {
        self.effort = (1, [0, 1]);
        self
    }

    /// With a ratio to the unit that it should not pass.
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

    /// How many plans are invalid.
    pub(crate) fn invalid(&self) -> usize {
        self.verdicts().filter(|valid| !valid).count()
    }

    /// Which plans are valid.
    fn verdicts(&self) -> impl Iterator<Item = bool> {
        self.errors.iter().map(|errors| *errors == 0)
    }

    /// The middle one of all times that were measured.
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

/// How often each of them was measured.
pub(crate) fn counts(contenders: &[Contender]) -> String {
    let counts = contenders.iter().map(|it| it.nanoseconds.len().to_string());
    counts.collect::<Vec<_>>().join(", ")
}

/// Measure all of them.
///
/// # Errors
/// One can't be started, or fails.
///
/// # Panics
/// They find other plans valid than the first does.
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
