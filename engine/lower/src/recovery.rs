//! Every further problem of a refused text.
//!
//! A text that is not JSON or YAML is refused at its first error. Only then is it looked at again:
//! either the situation explains the refusal alone, or the text is repaired and read once more, so
//! that one run reports every cause. What is read in this way is never used.

use super::evaluation_context::yaml_part;
use super::situation::{self, Surrounded};
pub(super) use super::situation::{of_bytes, of_kind};
use agent_diagnostic::{Applicability, Code, Diagnostic, Edit, Fix, Problems, Severity};
use agent_syntax::{
    Repair, Repaired, Repairs, frontmatter, repair_characters, repair_json, repair_marks,
    repair_yaml, yaml,
};
use agent_text::sort::sort_by_key;
use agent_text::{DocumentKind, Span, Text};

/// Maximum size of a text to repair, in bytes.
const RECOVERY_LIMIT: usize = 16 << 20;

/// Returns every problem of a refused text. `again` reads a repaired text and reports its problems.
pub fn explain(
    text: &Text,
    found: Vec<Diagnostic>,
    again: &mut dyn FnMut(&Text) -> Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    let is_refused = found.iter().any(|it| it.severity == Severity::Error);
    if !is_refused || text.as_str().len() > RECOVERY_LIMIT {
        return found;
    }
    let situation = situation::of_text(text);
    if !situation.is_empty() {
        return situation;
    }
    if let Some(problem) = of_kind(text) {
        return vec![problem];
    }
    // YAML reads the variable of a template as a mapping in a mapping.
    let has_template = text.as_str().contains("{{");
    let is_template = |code: Code| has_template && code == Code::YamlUnsupported;
    let codes = found.iter().map(|it| it.code);
    let Some(syntax) = codes
        .into_iter()
        .find(|it| is_syntax(*it) || is_template(*it))
    else {
        return found;
    };
    if let DocumentKind::Policy | DocumentKind::PolicyTest = text.source() {
        return found;
    }
    let surrounded = situation::surrounded(text);
    let whole = Span::new(0, text.as_str().len());
    let within = surrounded.as_ref().map_or(whole, |it| it.within);
    let repairs = repairs(text, within, syntax);
    // Where the recovery ends at once, the reader says more.
    let is_stuck = !repairs.complete && repairs.list.len() < 2;
    let is_lock = text.source() == DocumentKind::Lock;
    if surrounded.is_none() && (repairs.list.is_empty() || is_stuck) {
        return if is_lock { rewritten(found) } else { found };
    }
    let mut problems: Vec<_> = repairs
        .list
        .iter()
        .map(|it| problem(text, it, syntax))
        .collect();
    let mut edits: Vec<(Span, &str)> = Vec::new();
    if let Some(around) = &surrounded {
        edits.extend(around.edits.iter().map(|(span, new)| (*span, &**new)));
    }
    edits.extend(repairs.list.iter().map(|it| (it.edit, &*it.replacement)));
    sort_by_key(&mut edits, |(span, _)| *span);
    let mut is_read = false;
    if repairs.complete {
        let repaired = Repaired::new(text.as_str(), edits);
        let other = Text::new(text.source(), repaired.text.clone());
        if let Some(mut problem) = of_kind(&other) {
            map(&mut problem, &repaired, text);
            return vec![problem];
        }
        let further = again(&other);
        is_read = !further.iter().any(|it| is_syntax(it.code));
        let stand_ins = repairs.list.iter().filter(|it| !it.safe);
        let stand_ins: Vec<_> = stand_ins.map(|it| it.span).collect();
        for mut problem in further {
            map(&mut problem, &repaired, text);
            let span = problem.place().map(|place| place.span).unwrap_or_default();
            // A stand-in for what a person has to write has no problems.
            let stands_in = stand_ins
                .iter()
                .any(|it| it.start <= span.end && span.start <= it.end);
            let is_cut_off = span.end <= span.start + 1 && repairs.cut_off.contains(&span.start);
            // A character that was repaired may be forbidden in a name as well.
            let is_told = problem.code == Code::InvalidName
                && (repairs.list.iter())
                    .any(|it| span.start < it.span.start && it.span.end < span.end);
            if !stands_in && !is_cut_off && !is_told {
                problems.push(problem);
            }
        }
    }
    if let Some(around) = &surrounded {
        problems.push(around_document(text, around, is_read));
    }
    sort_by_key(&mut problems, |problem| problem.place().copied());
    problems.truncate(Problems::LIMIT);
    // A lock is read further so that every cause is named, and never mended.
    if is_lock {
        rewritten(problems)
    } else {
        problems
    }
}

/// Replaces every fix of a lock by the instruction to write it again.
fn rewritten(mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    for problem in &mut found {
        problem.fixes = vec![Fix::display("run `agent resolve` to write the lock again")];
    }
    found
}

/// Returns whether a code ends the reading of a text.
fn is_syntax(code: Code) -> bool {
    matches!(
        code,
        Code::JsonSyntax | Code::YamlSyntax | Code::FrontmatterMissing | Code::FrontmatterUnclosed
    )
}

fn repairs(text: &Text, within: Span, syntax: Code) -> Repairs {
    let part = within.of(text.as_str());
    let mut within = within;
    if text.source() == DocumentKind::Manifest {
        let scratch = Text::new(DocumentKind::Manifest, part.to_owned());
        let Some(parts) = frontmatter(&mut Problems::new(&scratch)) else {
            let Some((mut marks, content)) = repair_marks(text.as_str(), within) else {
                return complete();
            };
            let inner = of_yaml(text, content);
            marks.complete = inner.complete;
            marks.list.extend(inner.list);
            sort_by_key(&mut marks.list, |it| it.edit);
            return marks;
        };
        within.end = within.start + parts.content.end;
        within.start += parts.content.start;
    } else {
        let start = part.trim_start_matches('\u{feff}').trim_start();
        // A fence or prose may have hidden that the document is JSON.
        if syntax == Code::JsonSyntax || start.starts_with(['{', '[']) {
            return repair_json(text.as_str(), within);
        }
        within.start += yaml_part(part).start;
    }
    of_yaml(text, within)
}

/// Returns the repairs of a part in YAML: first of characters at the beginning of lines, then of what the
/// lines mean.
fn of_yaml(text: &Text, within: Span) -> Repairs {
    let mut found = repair_characters(text.as_str(), within);
    let edits = found.list.iter().map(|it| (it.edit, &*it.replacement));
    let repaired = Repaired::new(text.as_str(), edits);
    let end = within.end as usize + repaired.text.len() - text.as_str().len();
    let within = Span::new(within.start as usize, end);
    let scratch = Text::new(text.source(), within.of(&repaired.text).to_owned());
    let mut problems = Problems::new(&scratch);
    yaml::parse(Span::new(0, scratch.as_str().len()), &mut problems);
    let mut problems = problems.finish().into_iter();
    if !problems.any(|it| matches!(it.code, Code::YamlSyntax | Code::YamlUnsupported)) {
        return found;
    }
    let further = repair_yaml(&repaired.text, within);
    found.complete = further.complete;
    for mut repair in further.list {
        let (edit, touches) = repaired.original(repair.edit);
        (repair.span, repair.edit) = (repaired.original(repair.span).0, edit);
        match touches {
            true => found.complete = false,
            false => found.list.push(repair),
        }
    }
    sort_by_key(&mut found.list, |it| it.edit);
    found
}

fn complete() -> Repairs {
    Repairs {
        complete: true,
        ..Default::default()
    }
}

/// Returns the problem of a repair.
fn problem(text: &Text, repair: &Repair, syntax: Code) -> Diagnostic {
    let place = text.place(repair.span);
    let is_mark = repair.replacement.trim() == "---";
    let code = match syntax {
        Code::FrontmatterMissing | Code::FrontmatterUnclosed if is_mark => syntax,
        Code::JsonSyntax => syntax,
        _ if repair.label == "a placeholder" => Code::EmptyValue,
        _ => Code::YamlSyntax,
    };
    let problem = Diagnostic::new(code, repair.message.clone()).label(place, repair.label.clone());
    if !repair.safe {
        return problem.help(repair.title.clone());
    }
    let edits = vec![Edit {
        place: text.place(repair.edit),
        replacement: repair.replacement.clone(),
    }];
    with_fix(problem, repair.title.clone(), edits)
}

fn with_fix(mut problem: Diagnostic, title: String, edits: Vec<Edit>) -> Diagnostic {
    problem.fixes.push(Fix {
        title,
        applicability: Applicability::Safe,
        edits,
    });
    problem
}

fn around_document(text: &Text, around: &Surrounded, is_read: bool) -> Diagnostic {
    let message = match text.source() {
        DocumentKind::Manifest if around.what == "other text" => format!(
            "{} precedes the frontmatter, which must begin on the first line",
            around.what
        ),
        _ => format!("{} surrounds the document", around.what),
    };
    let mut problem = Diagnostic::new(Code::TextAroundDocument, message);
    for (span, _) in around
        .edits
        .iter()
        .filter(|(span, _)| span.start < span.end)
    {
        let written = span.of(text.as_str());
        let start = span.start as usize + written.len() - written.trim_start().len();
        let end = span.start as usize + written.trim_end().len();
        let shown = if start < end {
            Span::new(start, end)
        } else {
            *span
        };
        problem = problem.label(text.place(shown), "not part of the document");
    }
    if !is_read {
        return problem.help(around.title);
    }
    let edits = around.edits.iter().map(|(span, new)| Edit {
        place: text.place(*span),
        replacement: new.clone(),
    });
    let edits = edits.collect();
    with_fix(problem, around.title.to_owned(), edits)
}

/// Maps the places of a problem of the repaired text back. A fix that touches a repair is no longer
/// an edit of the text as it is.
fn map(problem: &mut Diagnostic, repaired: &Repaired, text: &Text) {
    for label in &mut problem.labels {
        label.place = text.place(repaired.original(label.place.span).0);
    }
    for fix in &mut problem.fixes {
        let mut touches = false;
        for edit in &mut fix.edits {
            let (span, touched) = repaired.original(edit.place.span);
            touches |= touched;
            edit.place = text.place(span);
        }
        if touches {
            fix.edits.clear();
            fix.applicability = Applicability::Display;
        }
    }
}
