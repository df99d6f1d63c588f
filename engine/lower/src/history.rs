//! The `history` of a tenant \[4\]: the window, what tools are taken for, and the built-in rules in force.

use super::fields::{
    Object, bad_choice, boolean, each, integer, keyword, keyword_or, list, text, wrong_type,
};
use super::format;
use agent_diagnostic::{Code, Problems};
use agent_model::{
    HISTORY_WINDOW_MAX_MS, HISTORY_WINDOW_MS, HistoryRule, HistoryRuleTerms, HistoryTerms,
    RuleMode, Tenant, ToolSelector, ToolTraits, window_ms,
};
use agent_syntax::Node;
use agent_syntax::json::Writer;
use agent_text::sort::sort_by;

/// Maximum number of rules, and of items of `labels`.
const ITEMS_MAX: usize = 64;

/// Maximum number of pointers that `fields` and rules name.
const FIELDS_MAX: usize = 8;

/// Maximum size of a label and of a pointer, in bytes.
const NAME_MAX_BYTES: usize = 64;

/// Returns whether a tenant has a history that this build does not check.
pub fn misses_history(_: &Tenant) -> bool {
    false
}

/// Reads `history`.
pub(super) fn terms(
    node: &Node<'_>,
    path: &str,
    problems: &mut Problems<'_>,
) -> Option<HistoryTerms> {
    let object = Object::of(node, path, node.span, problems)?;
    object.check_fields(&format::HISTORY.names, problems);
    let window_ms = object.read_or("window", HISTORY_WINDOW_MS, problems, duration)?;
    let labels = object.read_or("labels", Vec::new(), problems, |node, path, problems| {
        few(node, path, ITEMS_MAX, problems, traits)
    });
    let fields = object.read_or("fields", Vec::new(), problems, |node, path, problems| {
        few(node, path, FIELDS_MAX, problems, pointer)
    });
    let rules = object.read_or("rules", Vec::new(), problems, |node, path, problems| {
        few(node, path, ITEMS_MAX, problems, |node, path, problems| {
            rule(node, path, window_ms, problems)
        })
    });
    let (labels, fields, rules) = (labels?, fields?, rules?);
    let of_rules = |which: fn(&Rule) -> &[String]| rules.iter().flat_map(which).cloned();
    let fields = sorted(fields.into_iter().chain(of_rules(|it| &it.fields)));
    let numbers = sorted(of_rules(|it| &it.numbers));
    if fields.len() + numbers.len() > FIELDS_MAX {
        let count = fields.len() + numbers.len();
        let message = format!("the history keeps {count} arguments; the limit is {FIELDS_MAX}");
        let code = Code::NumberOutOfRange;
        problems.report(code, node.span, "too many pointers", message);
        return None;
    }
    Some(HistoryTerms {
        window_ms,
        labels,
        fields,
        numbers,
        rules: rules.into_iter().map(|it| it.terms).collect(),
    })
}

/// A rule, and the arguments that it compares.
struct Rule {
    terms: HistoryRuleTerms,
    fields: Vec<String>,
    numbers: Vec<String>,
}

fn rule(node: &Node<'_>, path: &str, window_ms: u64, problems: &mut Problems<'_>) -> Option<Rule> {
    let object = Object::of(node, path, node.span, problems)?;
    object.check_fields(&format::HISTORY_RULE.names, problems);
    let name = object.read("rule", "add:\nrule: no-send-after", problems, keyword)?;
    let mode = keyword_or(&object, "mode", RuleMode::Enforce, problems)?;
    let (required, optional) = format::fields_of_rule(name.value);
    let mut is_whole = true;
    for field in required {
        is_whole &= object
            .required(field, &format!("add `{field}`"), problems)
            .is_some();
    }
    let known = |key: &str| {
        let mut known = ["rule", "mode"].iter().chain(required).chain(optional);
        known.any(|it| *it == key)
    };
    let foreign = |key: &str| format::HISTORY_RULE.names.contains(&key) && !known(key);
    for entry in object.entries().iter().filter(|it| foreign(&it.key)) {
        let message = format!("the rule `{}` has no `{}`", name.value.as_str(), entry.key);
        let code = Code::UnknownKey;
        let report = problems.report(code, entry.key_span, "of another rule", message);
        report.help("remove the field");
        is_whole = false;
    }
    let tools = object.read_or("tools", Vec::new(), problems, selectors);
    let needs = object.read_or("needs", Vec::new(), problems, selectors);
    let earlier = object.read_or("earlier", Vec::new(), problems, selectors);
    let within = object.read_or("within", window_ms, problems, duration);
    let label_of_rule = object.read_or("label", String::new(), problems, label);
    let argument = object.read_or("argument", String::new(), problems, pointer);
    let calls = object.read_or("calls", 0, problems, count);
    let limit = object.read_or("limit", 0, problems, count);
    let argument = argument?;
    let earlier_argument =
        object.read_or("earlier_argument", argument.clone(), problems, pointer)?;
    let (tools, needs, earlier, within) = (tools?, needs?, earlier?, within?);
    let (label, calls, limit) = (label_of_rule?, calls?, limit?);
    if within > window_ms {
        let span = object
            .optional("within")
            .map_or(node.span, |it| it.value.span);
        let message = "a rule looks back further than the window of the history";
        let report = problems.report(
            Code::NumberOutOfRange,
            span,
            "longer than `window`",
            message,
        );
        report.help("shorten it, or lengthen `window`");
        return None;
    }
    if !is_whole {
        return None;
    }
    let mut w = Writer::dense();
    w.object(|w| {
        w.key("argument").string(&argument);
        w.key("calls").json(&calls.to_string());
        write_selectors(w.key("earlier"), &earlier);
        w.key("earlier_argument").string(&earlier_argument);
        w.key("label").string(&label);
        w.key("limit").json(&limit.to_string());
        w.key("mode").string(mode.as_str());
        write_selectors(w.key("needs"), &needs);
        w.key("rule").string(name.value.as_str());
        write_selectors(w.key("tools"), &tools);
        w.key("within_ms").json(&within.to_string());
    });
    let json = w.finish().trim_end().to_owned();
    let (mut fields, mut numbers) = (Vec::new(), Vec::new());
    let reads = match name.value {
        HistoryRule::AtMost => Some(tools.clone()),
        HistoryRule::Before => Some(needs),
        HistoryRule::NoSendAfter | HistoryRule::NoWriteAfter => None,
        HistoryRule::SameField => {
            fields.extend([argument.clone(), earlier_argument.clone()]);
            Some(earlier)
        }
        HistoryRule::SumAtMost => {
            numbers.push(argument.clone());
            Some(tools.clone())
        }
    };
    let terms = HistoryRuleTerms {
        rule: name.value,
        is_log_only: mode == RuleMode::LogOnly,
        tools,
        reads,
        label,
        calls,
        within_ms: within,
        arguments: [argument, earlier_argument],
        json,
    };
    Some(Rule {
        terms,
        fields,
        numbers,
    })
}

fn write_selectors(w: &mut Writer, selectors: &[ToolSelector]) {
    w.array(|w| {
        for it in selectors {
            w.object(|w| {
                w.key("server").string(&it.server);
                w.key("tool").string(&it.tool);
            });
        }
    });
}

fn traits(node: &Node<'_>, path: &str, problems: &mut Problems<'_>) -> Option<ToolTraits> {
    let object = Object::of(node, path, node.span, problems)?;
    object.check_fields(&format::TOOL_TRAITS.names, problems);
    let tools = object.read("tools", "add:\ntools: [SERVER/TOOL]", problems, selectors);
    let labels = |key, problems: &mut Problems<'_>| {
        object.read_or(key, Vec::new(), problems, |node, path, problems| {
            few(node, path, ITEMS_MAX, problems, label)
        })
    };
    let (add, remove) = (labels("add", problems), labels("remove", problems));
    let flag = |key, problems: &mut Problems<'_>| match object.optional(key) {
        None => Some(None),
        Some(_) => object
            .read_optional(key, problems, boolean)
            .map(|it| Some(it.value)),
    };
    let (sends, writes) = (flag("sends", problems), flag("writes", problems));
    Some(ToolTraits {
        tools: tools?,
        add: sorted(add?.into_iter()),
        remove: sorted(remove?.into_iter()),
        sends: sends?,
        writes: writes?,
    })
}

fn sorted(values: impl Iterator<Item = String>) -> Vec<String> {
    let mut values: Vec<_> = values.collect();
    sort_by(&mut values, Ord::cmp);
    values.dedup();
    values
}

/// Reads a list of at most so many items.
fn few<T>(
    node: &Node<'_>,
    path: &str,
    most: usize,
    problems: &mut Problems<'_>,
    read: impl FnMut(&Node<'_>, &str, &mut Problems<'_>) -> Option<T>,
) -> Option<Vec<T>> {
    let items = list(node, path, problems)?;
    if items.len() > most {
        let message = format!("`{path}` has {} items; the limit is {most}", items.len());
        problems.report(Code::NumberOutOfRange, node.span, "too many items", message);
        return None;
    }
    let mut read = read;
    each(items, path, problems, |item, path, problems| {
        read(item, path, problems)
    })
}

fn selectors(
    node: &Node<'_>,
    path: &str,
    problems: &mut Problems<'_>,
) -> Option<Vec<ToolSelector>> {
    few(node, path, ITEMS_MAX, problems, |node, path, problems| {
        let written = text(node, path, problems)?;
        match written.split_once('/') {
            Some((server, tool)) if !server.is_empty() && !tool.is_empty() => Some(ToolSelector {
                server: server.to_owned(),
                tool: tool.to_owned(),
            }),
            _ => {
                wrong_type(problems, node.span, path, "SERVER/TOOL", "another text");
                None
            }
        }
    })
}

fn label(node: &Node<'_>, path: &str, problems: &mut Problems<'_>) -> Option<String> {
    let written = text(node, path, problems)?;
    if is_label(written) {
        return Some(written.to_owned());
    }
    wrong_type(
        problems,
        node.span,
        path,
        "a name of lower-case letters, digits and `-`",
        "another text",
    );
    None
}

/// Returns whether a text may name a label.
pub fn is_label(text: &str) -> bool {
    let is_sign = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    !text.is_empty() && text.len() <= NAME_MAX_BYTES && text.bytes().all(is_sign)
}

fn pointer(node: &Node<'_>, path: &str, problems: &mut Problems<'_>) -> Option<String> {
    let written = text(node, path, problems)?;
    if written.starts_with('/') && written.len() <= NAME_MAX_BYTES {
        return Some(written.to_owned());
    }
    wrong_type(
        problems,
        node.span,
        path,
        "a JSON pointer such as `/id`",
        "another text",
    );
    None
}

fn count(node: &Node<'_>, path: &str, problems: &mut Problems<'_>) -> Option<u64> {
    let found = integer(node, path, problems)?;
    let count = u64::try_from(found.value).ok();
    if count.is_none() {
        let digits = found.value.to_string();
        wrong_type(problems, found.span, path, "at least 0", &digits);
    }
    count
}

/// Reads a time such as `24h`, in milliseconds.
fn duration(node: &Node<'_>, path: &str, problems: &mut Problems<'_>) -> Option<u64> {
    let written = text(node, path, problems)?;
    match window_ms(written) {
        Some(ms) if (1..=HISTORY_WINDOW_MAX_MS).contains(&ms) => Some(ms),
        Some(_) => {
            let message = format!("`{path}` is not between 1s and 31d");
            let code = Code::NumberOutOfRange;
            problems.report(code, node.span, "out of range", message);
            None
        }
        None => {
            bad_choice(problems, node.span, path, written, &["30m", "24h", "7d"]);
            None
        }
    }
}
