//! Evaluation.

use super::budget;
use super::builtins;
use super::instrument::{Instrumented, RecordedBody, instrument};
use super::module::{SourceModule, with_line_feeds};
use agent_decide::{PolicyError, PolicyErrorKind};
use agent_diagnostic::{Code, Diagnostic, Problems};
use agent_text::{Place, Span};
use anyhow::Error;
use regorus::{Engine, PolicyLengthConfig, Value};
use std::num::{NonZeroU32, NonZeroUsize};

/// Modules that are ready to be evaluated together.
pub(super) struct Program {
    engine: Engine,
    modules: Vec<(SourceModule, Instrumented)>,
    /// The package of the rules whose values are the questions.
    questions: String,
}

/// The value of a question or query, and the bodies that held, each with the number of its module.
pub(super) type Evaluated = (Result<Value, PolicyError>, Vec<(usize, RecordedBody)>);

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program").finish_non_exhaustive()
    }
}

impl Program {
    /// Compiles modules, and questions about them: expressions, each of which is asked by its number. The evaluator
    /// compiles them once, and a query anew each time.
    pub(super) fn new(
        modules: Vec<SourceModule>,
        questions: &[&str],
    ) -> Result<Self, Vec<Diagnostic>> {
        let mut engine = Engine::new();
        engine.set_strict_builtin_errors(true);
        engine.set_execution_timer_config(budget::timer());
        engine.set_policy_length_config(PolicyLengthConfig {
            max_col: NonZeroU32::MAX,
            max_file_bytes: NonZeroUsize::MAX,
            max_lines: NonZeroUsize::MAX,
        });
        let mut package = "questions".to_owned();
        while modules.iter().any(|it| it.tree.package[0] == package) {
            package.push('_');
        }
        let mut program = Self {
            engine,
            modules: Vec::new(),
            questions: package,
        };
        let mut bodies = 0;
        for module in modules {
            let instrumented = instrument(module.text.as_str(), &module.tree, bodies);
            bodies += instrumented.bodies.len();
            program.modules.push((module, instrumented));
        }
        match program.compile(questions) {
            Ok(()) => Ok(program),
            Err(error) => Err(program.refuse(&error)),
        }
    }

    fn compile(&mut self, questions: &[&str]) -> Result<(), Error> {
        builtins::install(&mut self.engine)?;
        for (module, instrumented) in &self.modules {
            let name = module.text.source().usual_name().to_owned();
            // Lines and columns are those of the text with CRLF.
            let text = with_line_feeds(&instrumented.text).into_owned();
            self.engine.add_policy(name, text)?;
        }
        let mut text = format!("package {}\n", self.questions);
        for (number, question) in questions.iter().enumerate() {
            text.push_str(&format!("q{number} := {question}\n"));
        }
        self.engine.add_policy("questions.rego".to_owned(), text)?;
        // The first query finishes the compilation.
        budget::start(0);
        let result = self.engine.eval_query("true".to_owned(), false);
        budget::finish();
        result.map(|_| ())
    }

    /// Returns the module of a number, in the order in which they were given.
    pub(super) fn module(&self, number: usize) -> &SourceModule {
        &self.modules[number].0
    }

    fn refuse(&self, error: &Error) -> Vec<Diagnostic> {
        let (at, message) = parse_error(error);
        let found = at.and_then(|at| self.find(&at));
        let last = || Some((&self.modules.last()?.0, Span::default()));
        let Some((module, span)) = found.or_else(last) else {
            return Vec::new();
        };
        let mut problems = Problems::new(&module.text);
        problems.report(Code::PolicySyntax, span, "here", message);
        problems.finish()
    }

    /// Returns the module and the place in the original text that an error names.
    fn find(&self, at: &EvaluatorPlace) -> Option<(&SourceModule, Span)> {
        let mut modules = self.modules.iter();
        let (module, instrumented) =
            modules.find(|(module, _)| module.text.source().usual_name() == at.file)?;
        let line = instrumented.text.split('\n').nth(at.line.checked_sub(1)?)?;
        let start = line.as_ptr() as usize - instrumented.text.as_ptr() as usize;
        let offset = instrumented.original(start + byte_of_column(line, at.column));
        let offset = module.text.as_str().floor_char_boundary(offset);
        let known = instrumented.places.get(&(offset as u32)).copied();
        Some((module, known.unwrap_or(Span::new(offset, offset))))
    }

    /// Returns the query for a rule. In an array, so that an undefined rule is not an error.
    pub(super) fn query(package: &[String], name: &str) -> String {
        let mut path = "data".to_owned();
        for part in package.iter().map(|part| &**part).chain([name]) {
            // A string always is JSON.
            let part = Value::from(part).to_json_str().unwrap_or_default();
            path.push_str(&format!("[{part}]"));
        }
        format!("[x | x := {path}]")
    }

    /// Evaluates the question of a number with an input of a number of bytes, as [`Self::evaluate`] does.
    pub(super) fn ask(&self, question: usize, input: Value, bytes: usize) -> Evaluated {
        let rule = format!("data.{}.q{question}", self.questions);
        self.run(input, bytes, |engine| engine.eval_rule(rule))
    }

    /// Evaluates a query with an input of a number of bytes. Returns its value, and the bodies that held, each with the
    /// number of its module.
    pub(super) fn evaluate(&self, query: &str, input: Value, bytes: usize) -> Evaluated {
        self.run(input, bytes, |engine| {
            let results = engine.eval_query(query.to_owned(), false)?;
            let mut results = results.result.into_iter();
            let first = results.next().and_then(|mut first| first.expressions.pop());
            Ok(first.map_or(Value::Undefined, |first| first.value))
        })
    }

    fn run(
        &self,
        input: Value,
        bytes: usize,
        evaluate: impl FnOnce(&mut Engine) -> Result<Value, Error>,
    ) -> Evaluated {
        let mut engine = self.engine.clone();
        engine.set_input(input);
        budget::start(bytes);
        let result = evaluate(&mut engine);
        let meter = budget::finish();
        let failed = |kind, detail, place: Option<Place>| PolicyError {
            kind,
            detail,
            place,
        };
        let result = match (meter.spent(), result) {
            (Some(why), _) => Err(failed(PolicyErrorKind::Budget, why.to_owned(), None)),
            (None, Ok(value)) => Ok(value),
            (None, Err(error)) => {
                let (at, detail) = parse_error(&error);
                let found = at.and_then(|at| self.find(&at));
                let place = found.map(|(module, span)| module.text.place(span));
                Err(failed(PolicyErrorKind::Runtime, detail, place))
            }
        };
        let modules = self.modules.iter().enumerate();
        let bodies = modules.flat_map(|(module, (_, instrumented))| {
            instrumented.bodies.iter().map(move |body| (module, *body))
        });
        let held = bodies.zip(0..).filter(|(_, at)| meter.held.contains(at));
        (result, held.map(|(body, _)| body).collect())
    }
}

/// A place in an error of the evaluator.
struct EvaluatorPlace {
    file: String,
    line: usize,
    column: usize,
}

/// Maximum characters of an evaluator's message that are passed on.
const DETAIL_LIMIT: usize = 200;

/// Returns the place and the message of an error of the evaluator.
fn parse_error(error: &Error) -> (Option<EvaluatorPlace>, String) {
    let text = error.to_string();
    let at = text.rfind("--> ").and_then(|start| {
        let line = text[start + 4..].lines().next()?;
        let mut parts = line.trim().rsplitn(3, ':');
        let column = parts.next()?.parse().ok()?;
        let line = parts.next()?.parse().ok()?;
        let file = parts.next()?.to_owned();
        Some(EvaluatorPlace { file, line, column })
    });
    let message = text.rsplit("error: ").next().unwrap_or(&text);
    let message = message.lines().next().unwrap_or_default();
    // The rest is values, which may be all of the input.
    let message = [". Got `", " (path ["]
        .iter()
        .filter_map(|end| message.find(end))
        .min()
        .map_or(message, |end| &message[..end]);
    let short: String = message.trim().chars().take(DETAIL_LIMIT).collect();
    let short = short.trim_end_matches('.');
    // Some errors are a place without a message.
    let message = match short {
        "" => "the evaluator refuses it",
        _ => short,
    };
    (at, message.to_owned())
}

/// Returns the byte of a column. The evaluator counts four columns for a tab.
fn byte_of_column(line: &str, column: usize) -> usize {
    let mut at = 1;
    for (byte, c) in line.char_indices() {
        if at >= column {
            return byte;
        }
        at += if c == '\t' { 4 } else { c.len_utf8() };
    }
    line.len()
}

#[cfg(test)]
mod tests {
    use super::{PolicyError, Program};
    use crate::builtins::{BUILTINS, Cost};
    use crate::module::SourceModule;
    use agent_text::DocumentKind;
    use regorus::{Engine, Value};

    /// Evaluates rules as they are, and with calls added.
    fn both(rules: &str, input: &str) -> (Result<Value, String>, Result<Value, String>) {
        let text = format!("package p\n{rules}\n");
        let mut plain = Engine::new();
        plain
            .add_policy("policy.rego".to_owned(), text.clone())
            .expect(rules);
        plain.set_input(Value::from_json_str(input).expect("JSON"));
        let query = "[x | x := data.p.out]";
        let plain = plain.eval_query(query.to_owned(), false);
        let plain = plain.map(|mut results| results.result.remove(0).expressions.remove(0).value);
        let module = SourceModule::read(DocumentKind::Policy, text.into_bytes(), &[]);
        let program = module
            .and_then(|module| Program::new(vec![module], &[query]))
            .unwrap_or_else(|problems| panic!("{rules}: {problems:#?}"));
        let input = Value::from_json_str(input).expect("JSON");
        let (instrumented, held) = program.evaluate(query, input.clone(), 0);
        // A question has the value of the query, and records the same bodies.
        let asked = program.ask(0, input, 0);
        let detail = |result: &Result<Value, PolicyError>| match result {
            Ok(value) => Ok(value.clone()),
            Err(error) => Err((error.kind, error.place)),
        };
        assert_eq!(
            (detail(&asked.0), asked.1),
            (detail(&instrumented), held),
            "{rules}"
        );
        (
            plain.map_err(|error| error.to_string()),
            instrumented.map_err(|error| error.detail),
        )
    }

    #[test]
    fn added_calls_change_no_value() {
        let input = r#"{"a": [{"n": 1, "s": ["x", "y"]}, {"n": 2, "s": []}], "o": {"k": 1, "l": [2]}, "f": false, "t": "x-y-z"}"#;
        let mut defined = 0;
        let rules = [
            "out := 1",
            "out = 1",
            "default out := 2\nout := 1 if input.nothing",
            "out if input.f == false",
            "out if not input.f",
            "out if { x := input.f; x == false }",
            "out contains x.n if some x in input.a",
            "out contains n if { some i; n := input.a[i].n; i >= 0 }",
            "out contains [i, n] if n := input.a[i].n",
            "out[k] := v if some k, v in input.o",
            "out[x.n] := [x.s, x] if some x in input.a",
            "out[[k, v]] := 1 if some k, v in input.o",
            "out[k][v] := 1 if some k, v in input.o",
            "out.a[k].b[v] := 1 if some k, v in input.o",
            "out[k] if some k, _ in input.o",
            "out[i] contains s if some s in input.a[i].s",
            "out.a.b := 1\nout.a.c := {\"d\": input.o}",
            "out := x if { [x, _] := [input.o, 1] }",
            "out := x if { [x, 1] = [input.o, 1] }",
            "out := y if { y = [input.o, input.f] }",
            "out := [x, y] if { [x, y] = input.a }",
            "out := z if { x = input.f; z = [x, {\"a\": x}] }",
            "out := x if { {\"k\": x, \"l\": _} = input.o }",
            "out := x if x = input.o.k",
            "out := i if input.a[i].n == 2",
            "out := i if 2 == input.a[i].n",
            "out := [i, j] if input.a[i].s[j] == \"y\"",
            "out := [x | x := input.a[_].n]",
            "out := [x | some x in input.a; x.n > 1]",
            "out := {x | x := input.a[_].s}",
            "out := {x.n: x | some x in input.a}",
            "out := [[y | y := x.s[_]] | x := input.a[_]]",
            "out := {1, 2} | {input.o.k, 3}",
            "out := ({1, 2} & {2, 3}) - {input.o.k}",
            "out := (1 + input.o.k) * 3 - 2 / 4 % 3",
            "out := 1 + 2 * input.a[1].n",
            "out := -input.o.k",
            "out if \"x\" in input.a[_].s",
            "out if 0, {\"n\": 1, \"s\": [\"x\", \"y\"]} in input.a",
            "out if input.o in {input.o}",
            "out := (2 in [1, input.a[1].n])",
            "out if every x in input.a { x.n > 0 }",
            "out if every i, x in input.a { x.n > i }",
            "out if every x in input.a { every y in x.s { y != \"z\" } }",
            "out := f(input.a[_].n)\nf(1) := \"one\"\nf(2) := \"one\"",
            "out := f([1, 2], {\"a\": 3})\nf([x, y], {\"a\": z}) := x + y + z",
            "out := f(3)\ndefault f(x) := 7\nf(x) := 8 if x == 2",
            "out := 1 if { false } else := 2 if { input.f == true } else := [3, input.o]",
            "out := 1 if false\nelse := 2",
            "out if input.o == {\"k\": 1, \"l\": [2]}",
            "out if { input.o.k == 1; input.o.l[0] == 2; not input.o.m }",
            "out if {\n\tinput.o.k == 1 # comment\n\tinput.o.l[0] == 2 # another\n}",
            "out if {\n\tsome x in input.a\n\tx.n ==\n\t\t2\n}",
            "out := x if {\n\tx := [\n\t\tinput.o.k,\n\t\t2, # two\n\t]\n}",
            "out := x if x := count(input.a) with input as {\"a\": [1, 2, 3]}",
            "out := x if x := g with input.o.k as 5\ng := input.o.k",
            "out := x if { x := f(1) with f as 7 }\nf(x) := x",
            "out := {\"a\": {\"b\": input.o}, \"c\": [input.f, null, true, `raw \\n`]}",
            "out := set()",
            "out := {}",
            "out := []",
            "out := {1, \"a\", [1], {1}, {\"a\": 1}}",
            "out := data.p.x[\"y\"]\nx := {\"y\": 1}",
            "out := x[y]\nx := {\"k\": 1}\ny := \"k\"",
            "import input.o as oo\nout := oo.k",
            "import data.p.x as xx\nout := xx\nx := 4",
            "import rego.v1\nout := 4",
            "import future.keywords.in\nout if 1 in [1]",
            "out := split(input.t, \"-\")",
            "out := split(\"ab\", \"\")",
            "out := concat(\",\", [\"a\", \"b\"])",
            "out := concat(\",\", {\"b\", \"a\"})",
            "out := concat(\",\", [])",
            "out := replace(input.t, \"-\", \"--\")",
            "out := replace(\"ab\", \"\", \"-\")",
            "out := numbers.range(3, 1)",
            "out := numbers.range(1, 3)",
            "out := json.unmarshal(json.marshal(input))",
            "out := [to_number(x) | some x in [\"1.5\", \"7\", null, true, 3]]",
            "out := strings.any_prefix_match(input.t, [\"y\", \"x-\"])",
            "out := strings.any_suffix_match([\"a\", \"b\"], \"b\")",
            "out := sprintf(\"%s %d %v %5d|%-5s|\", [\"a\", 1, input.o, 2, \"b\"])",
            "out := substring(input.t, 1, 3)",
            "out := object.get(input.o, \"z\", [input.f])",
            "out := object.get(input, [\"o\", \"l\", 0], 9)",
            "out := sum([x.n | some x in input.a]) + max({1, 2}) + count(\"abc\")",
            "out := union({{1}, {input.o.k, 5}})",
            "out := sort([3, 1, input.o.k])",
            "out := contains(input.t, \"y\")",
            "out := type_name(input.f)",
            "out := is_null(input.nothing)",
            "out if is_string(input.t)\n",
            "out := to_number(\"x\")",
            "out := 1 / 0",
            "out := f(1)\nf(x) := x\nf(x) := x + 1",
            "out[\"a\"] := 1\nout[\"a\"] := 2",
            "out := x if { some x in [1, 2] }",
            "out := upper(1)",
            "out := 12345678901234567890 * 98765432109876543210",
            "out := 0.1 + 0.2",
            "out := 1e3",
            "out if 1 < 2\nout if \"a\" > 3",
        ];
        for rule in rules {
            let (plain, instrumented) = both(rule, input);
            match (&plain, &instrumented) {
                (Ok(plain), Ok(instrumented)) => {
                    assert_eq!(plain, instrumented, "{rule}");
                    defined += usize::from(*plain != Value::new_array());
                }
                (Err(_), Err(_)) => {}
                _ => panic!("{rule}: {plain:?}, {instrumented:?}"),
            }
        }
        assert!(defined > 80, "{defined} of {} are defined", rules.len());
    }

    #[test]
    fn every_built_in_exists_once() {
        assert!(BUILTINS.is_sorted_by(|a, b| a.name < b.name));
        for builtin in BUILTINS {
            let arguments = vec!["1"; usize::from(builtin.arguments)].join(", ");
            let arguments = if builtin.name == "sprintf" {
                "\"%d\", [1]".to_owned()
            } else {
                arguments
            };
            let (plain, instrumented) =
                both(&format!("out := {}({arguments})", builtin.name), "{}");
            let absent = |result: &Result<Value, String>| {
                result
                    .as_ref()
                    .is_err_and(|error| error.contains("could not find function"))
            };
            let own = matches!(builtin.cost, Cost::Own(_)) && builtin.name.starts_with("regex");
            assert_eq!(absent(&plain), own, "{}", builtin.name);
            assert!(!absent(&instrumented), "{}", builtin.name);
        }
    }
}
