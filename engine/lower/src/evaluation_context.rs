//! The evaluation context of requirements: the task, the tenant, health and a policy's context.
//! Each is YAML or JSON \[4\].

use super::capability::{self, EXAMPLE};
use super::fields::{
    Object, bad_name, did_you_mean, each, integer, keyword, list, name, one_of, placed, text,
    wrong_type,
};
use super::format;
use super::history;
use super::read::{CONTEXT_LIMIT, Lowered, read};
use agent_diagnostic::{Code, Problems};
use agent_model::{ByKey, Context, Health, Name, ServerId, Task, TaskId, Tenant, TenantId};
use agent_syntax::{Node, Value, json, yaml};
use agent_text::sort::sort_by;
use agent_text::{DocumentKind, Span, Text, nearest};

/// The notation of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Notation {
    /// Strict JSON if the first character is `{` or `[`, otherwise the subset of YAML.
    #[default]
    ByContent,
    /// Strict JSON.
    Json,
}

impl Notation {
    /// Returns the notation of a file by its name.
    pub fn of_file(name: &str) -> Self {
        if name.ends_with(".json") {
            Self::Json
        } else {
            Self::ByContent
        }
    }

    /// Returns whether a text is JSON in this notation. A byte order mark does not count.
    pub fn is_json(self, text: &str) -> bool {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        self == Self::Json || text.starts_with(['{', '['])
    }

    /// Parses a text in this notation. Reports a problem and returns `None` if that fails.
    pub fn parse<'t>(self, problems: &mut Problems<'t>) -> Option<Node<'t>> {
        let text = problems.text().as_str();
        if self.is_json(text) {
            json::parse(problems)
        } else {
            yaml::parse(yaml_part(text), problems)
        }
    }
}

/// Reads a task.
///
/// # Errors
/// Every problem of the text, ordered by place.
pub fn task(bytes: Vec<u8>, notation: Notation) -> Lowered<Task> {
    read_context(DocumentKind::Task, bytes, notation, |root, problems| {
        let root = root_object(root, "the task", problems)?;
        root.check_fields(&format::TASK.names, problems);
        let id = root.read(
            "task_id",
            "add:\ntask_id: <task id>",
            problems,
            name::<TaskId>,
        );
        let help = format!(
            "add:\nrequired_capabilities:\n  {}",
            EXAMPLE.replace('\n', "\n  ")
        );
        let required = root.read(
            "required_capabilities",
            &help,
            problems,
            capability::requirements,
        );
        let (id, required) = (id?.value, required?);
        Some(move |text| Task { text, id, required })
    })
}

/// Reads the configuration of the named tenant, or of the only one if none is named. Checks all
/// tenants.
///
/// # Errors
/// Every problem of the text, ordered by place.
pub fn tenant(bytes: Vec<u8>, notation: Notation, id: Option<&str>) -> Lowered<Tenant> {
    read_context(DocumentKind::Tenant, bytes, notation, |root, problems| {
        let root = root_object(root, "the tenant configuration", problems)?;
        root.check_fields(&format::TENANTS.names, problems);
        root.check_version(problems);
        let entry = root.required("tenants", "add:\ntenants:\n  - id: <tenant id>", problems)?;
        let items = list(&entry.value, "tenants", problems)?;
        let mut tenants: Vec<(Tenant, Span)> = Vec::new();
        // An invalid tenant has been reported, and does not hide problems of the others.
        each(items, "tenants", problems, |item, path, problems| {
            let (tenant, span) = one_tenant(item, path, problems)?;
            if let Some((_, first)) = tenants.iter().find(|(known, _)| known.id == tenant.id) {
                let message = format!("two tenants have the id `{}`", tenant.id);
                problems
                    .report(Code::DuplicateKey, span, "again here", message)
                    .also(*first, "first here")
                    .help("remove or rename one of the two");
            }
            tenants.push((tenant, span));
            Some(())
        });
        if problems.has_errors() {
            return None;
        }
        let picked = match id {
            Some(id) => tenants
                .iter()
                .position(|(tenant, _)| tenant.id.as_str() == id),
            None => (tenants.len() == 1).then_some(0),
        };
        let Some(picked) = picked else {
            refuse_choice(&tenants, id, entry.key_span, problems);
            return None;
        };
        let mut tiers: Vec<_> = tenants
            .iter()
            .filter_map(|(it, _)| it.tier.clone())
            .collect();
        sort_by(&mut tiers, Ord::cmp);
        tiers.dedup();
        let (tenant, _) = tenants.swap_remove(picked);
        Some(move |text| Tenant {
            text,
            tiers,
            ..tenant
        })
    })
}

/// Reads a snapshot of health.
///
/// # Errors
/// Every problem of the text, ordered by place.
pub fn health(bytes: Vec<u8>, notation: Notation) -> Lowered<Health> {
    read_context(DocumentKind::Health, bytes, notation, |root, problems| {
        let mut servers = Vec::new();
        // An empty snapshot is valid: every server then counts as unhealthy.
        if root.value != Value::Null {
            for entry in Object::of(root, "the snapshot", root.span, problems)?.entries() {
                if let Err(error) = ServerId::RULE.check(&entry.key) {
                    bad_name(problems, entry.key_span, ServerId::RULE, &entry.key, error);
                }
                if let Some(status) = keyword(&entry.value, &entry.key, problems) {
                    let id = entry.key.clone().into_owned();
                    servers.push((id, (status.value, status.span)));
                }
            }
        }
        Some(move |text| Health {
            text,
            servers: ByKey::new(servers),
        })
    })
}

/// Reads the context of a policy: any value.
///
/// # Errors
/// Every problem of the text, ordered by place.
pub fn context(bytes: Vec<u8>, notation: Notation) -> Lowered<Context> {
    read_context(DocumentKind::Context, bytes, notation, |root, problems| {
        let json = json_of(root, &[], problems);
        Some(|_| Context { json })
    })
}

/// Reads a text in its notation. `lower` returns a function that takes the text.
fn read_context<T, F: FnOnce(Text) -> T>(
    source: DocumentKind,
    bytes: Vec<u8>,
    notation: Notation,
    lower: impl Fn(&Node<'_>, &mut Problems<'_>) -> Option<F>,
) -> Lowered<T> {
    read((source, bytes, CONTEXT_LIMIT), |problems| {
        lower(&notation.parse(problems)?, problems)
    })
}

/// Returns the text without a byte order mark and the `---` line that may begin a YAML document.
pub(crate) fn yaml_part(text: &str) -> Span {
    let rest = text.trim_start_matches('\u{feff}');
    let behind_mark = rest
        .split_once('\n')
        .filter(|(first, _)| first.trim_end() == "---")
        .map_or(rest, |(_, behind)| behind);
    Span::new(text.len() - behind_mark.len(), text.len())
}

/// Takes the root of a file as a mapping.
fn root_object<'n, 't>(
    root: &'n Node<'t>,
    what: &str,
    problems: &mut Problems<'_>,
) -> Option<Object<'n, 't>> {
    let start = root.span.start as usize;
    Some(Object::of(root, what, Span::new(start, start), problems)?.rename(""))
}

/// The fields of a tenant that are always strings.
const STRINGS: [&str; 3] = ["id", "tier", "policy"];

/// Reads a tenant and the place of its id. The caller sets the text and the tiers.
fn one_tenant(node: &Node<'_>, path: &str, problems: &mut Problems<'_>) -> Option<(Tenant, Span)> {
    let object = Object::of(node, path, node.span, problems)?;
    // Further fields are data for the policy.
    object.check_spelling(&format::TENANT.names, problems);
    let id = object.read("id", "add:\nid: <tenant id>", problems, name::<TenantId>);
    let tier = object
        .read_optional("tier", problems, text)
        .map(str::to_owned);
    let policy = object.read_optional("policy", problems, |node, path, problems| {
        Some(placed(text(node, path, problems)?.to_owned(), node))
    });
    let token_budget = object.read_optional("token_budget", problems, |node, path, problems| {
        let budget = integer(node, path, problems)?;
        if budget.value < 0 {
            let found = budget.value.to_string();
            wrong_type(problems, budget.span, path, "at least 0", &found);
        }
        u64::try_from(budget.value).ok()
    });
    let (mut classes, mut servers) = (Vec::new(), Vec::new());
    if let Some(priorities) = object.object("priorities", problems) {
        priorities.check_fields(&format::PRIORITIES.names, problems);
        for (key, kept) in [("classes", &mut classes), ("servers", &mut servers)] {
            let Some(object) = priorities.object(key, problems) else {
                continue;
            };
            for entry in object.entries() {
                let path = object.path(&entry.key);
                if let Some(priority) = integer(&entry.value, &path, problems) {
                    kept.push((entry.key.clone().into_owned(), priority.value));
                }
            }
        }
    }
    let history = object.read_optional("history", problems, history::terms);
    let id = id?;
    let tenant = Tenant {
        text: Text::new(DocumentKind::Tenant, String::new()),
        id: id.value,
        tier,
        tiers: Vec::new(),
        policy,
        token_budget,
        classes: ByKey::new(classes),
        servers: ByKey::new(servers),
        history,
        json: json_of(node, &STRINGS, problems),
    };
    Some((tenant, id.span))
}

/// Reports that the configuration does not determine the tenant.
fn refuse_choice(
    tenants: &[(Tenant, Span)],
    id: Option<&str>,
    span: Span,
    problems: &mut Problems<'_>,
) {
    let ids: Vec<_> = tenants.iter().map(|(it, _)| it.id.as_str()).collect();
    let message = match (id, &ids[..]) {
        (_, []) => "the configuration lists no tenant".to_owned(),
        (Some(id), _) => format!("the configuration lists no tenant {id:?}"),
        (None, _) => format!(
            "the configuration lists {} tenants, and none is selected",
            ids.len()
        ),
    };
    // The tenant that was meant is in the configuration, the name that was given is not.
    let near = id.and_then(|id| nearest(id, ids.iter().copied(), 1).pop());
    let meant = tenants.iter().find(|(it, _)| Some(it.id.as_str()) == near);
    let (span, label) = match meant {
        Some((_, span)) => (*span, "almost this one"),
        None => (span, "the tenants"),
    };
    let report = problems.report(Code::TenantUnknown, span, label, message);
    let report = did_you_mean(report, id.unwrap_or_default(), &ids);
    if !ids.is_empty() {
        let some = &ids[..ids.len().min(10)];
        report.help(format!("select {}", one_of(some)));
    }
}

/// Returns a value as JSON, with keys in file order. A plain YAML scalar is null, a boolean or a
/// number if it is one in JSON, and otherwise a string. So are the members of the root in `strings`.
/// Reports each number that no double can hold.
fn json_of(root: &Node<'_>, strings: &[&str], problems: &mut Problems<'_>) -> String {
    let (mut out, mut large) = (String::new(), Vec::new());
    write_json(root, strings, &mut out, &mut large);
    for span in large {
        let message = "a number exceeds the range of a double, ±1.8e308";
        let report = problems.report(
            Code::NumberOutOfRange,
            span,
            "too large for a double",
            message,
        );
        report.help("write a number below 1.8e308, or quote it");
    }
    out
}

/// Writes a value as JSON. `large` gets the place of each number that no double can hold.
pub(crate) fn write_json(
    node: &Node<'_>,
    strings: &[&str],
    out: &mut String,
    large: &mut Vec<Span>,
) {
    let separate = |out: &mut String, i| out.push_str(if i == 0 { "" } else { "," });
    match &node.value {
        Value::Null | Value::Refused => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => out.push_str(number),
        Value::Plain(text) if is_literal(text, || large.push(node.span)) => out.push_str(text),
        Value::String(text) | Value::Plain(text) => json::write_string(text, out),
        Value::Sequence(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                separate(out, i);
                write_json(item, &[], out, large);
            }
            out.push(']');
        }
        Value::Mapping(entries) => {
            out.push('{');
            for (i, entry) in entries.iter().enumerate() {
                separate(out, i);
                json::write_string(&entry.key, out);
                out.push(':');
                match &entry.value.value {
                    Value::Plain(text) if strings.contains(&&*entry.key) => {
                        json::write_string(text, out);
                    }
                    _ => write_json(&entry.value, &[], out, large),
                }
            }
            out.push('}');
        }
    }
}

/// Returns whether a text is null, a boolean or a number in JSON. Calls `is_large` for a number that no double can hold.
fn is_literal(text: &str, is_large: impl FnOnce()) -> bool {
    let mut reader = json::Reader::new(text);
    let Ok(node) = json::parse_value(&mut reader) else {
        return false;
    };
    let is_whole = node.span == Span::new(0, text.len());
    let is_literal = matches!(node.value, Value::Null | Value::Bool(_) | Value::Number(_));
    if is_whole && is_literal && !reader.ends_strictly() {
        is_large();
    }
    is_whole && is_literal
}
