//! Arguments that a policy may tell apart, made from the schema of a tool and the values that policies name.

use super::policy::Policy;
use super::tree::ExprKind;
use agent_model::ToolView;
use agent_syntax::Node;
use agent_syntax::json::{Writer, json_string, parse_strict};
use agent_syntax::members::{entries, items, member, string};
use std::collections::BTreeSet;

/// Maximum number of arguments of one tool.
const ARGUMENTS: usize = 64;

/// Maximum number of properties that get a value.
const PROPERTIES: usize = 16;

/// Maximum length of a value, in bytes of its JSON.
const VALUE_MAX_BYTES: usize = 1024;

/// Strings and numbers that policies name, as JSON.
#[derive(Debug, Default)]
pub(super) struct Named {
    strings: BTreeSet<String>,
    /// With each whole number, the two beside it: a comparison changes there.
    numbers: BTreeSet<String>,
}

impl Named {
    /// Returns the values in the rules of policies.
    pub(super) fn of(policies: [&Policy; 2]) -> Self {
        let mut named = Self::default();
        for policy in policies {
            let module = policy.module();
            let mut keys = BTreeSet::new();
            let mut found = Vec::new();
            for rule in &module.tree.rules {
                rule.visit(&mut |expr| match &expr.kind {
                    // The `b` of `a.b` names a member.
                    ExprKind::Index(_, key) => {
                        keys.insert(key.span.start);
                    }
                    ExprKind::Text(_) | ExprKind::Scalar => found.push(expr),
                    ExprKind::Minus(of) if of.is_scalar() => found.push(expr),
                    _ => {}
                });
            }
            for expr in found
                .into_iter()
                .filter(|it| !keys.contains(&it.span.start))
            {
                match &expr.kind {
                    ExprKind::Text(text) => {
                        named.strings.insert(json_string(text));
                    }
                    _ => named.add_number(expr.span.of(module.text.as_str())),
                }
            }
        }
        named
    }

    fn add_number(&mut self, text: &str) {
        if let Ok(whole) = text.parse::<i64>() {
            let beside = [whole.saturating_sub(1), whole, whole.saturating_add(1)];
            self.numbers.extend(beside.map(|it| it.to_string()));
        } else if text.parse::<f64>().is_ok() {
            self.numbers.insert(text.to_owned());
        }
    }

    /// Returns arguments for a tool, as JSON: none, each property with its first value, and then each other value of
    /// one property. They need not fit the schema.
    pub(super) fn arguments(&self, tool: ToolView<'_>) -> Vec<String> {
        let mut arguments = vec!["{}".to_owned()];
        let entry = tool.entry();
        let root = parse_strict(entry);
        let schema = root.as_ref().and_then(|root| member(root, "inputSchema"));
        let Some(properties) = schema.and_then(|schema| member(schema, "properties")) else {
            return arguments;
        };
        let properties = entries(properties).iter().filter_map(|property| {
            let mut values = self.values(&property.value, entry);
            values.retain(|it| it.len() <= VALUE_MAX_BYTES);
            values.truncate(ARGUMENTS);
            (!values.is_empty()).then_some((&*property.key, values))
        });
        let properties: Vec<_> = properties.take(PROPERTIES).collect();
        if properties.is_empty() {
            return arguments;
        }
        let changes = properties.iter().enumerate();
        let changes =
            changes.flat_map(|(at, (_, values))| (1..values.len()).map(move |it| (at, it)));
        let objects = core::iter::once(None).chain(changes.map(Some));
        let objects = objects.map(|change| object(&properties, change));
        arguments.extend(objects.take(ARGUMENTS - 1));
        arguments
    }

    /// Returns values for a property: those of its schema, and those of policies that have its type.
    fn values(&self, schema: &Node<'_>, entry: &str) -> Vec<String> {
        let text = |node: &Node<'_>| node.span.of(entry).to_owned();
        if let Some(options) = member(schema, "enum").and_then(items) {
            return options.iter().map(text).collect();
        }
        if let Some(only) = member(schema, "const") {
            return vec![text(only)];
        }
        let mut values = BTreeSet::new();
        values.extend(member(schema, "default").map(text));
        let is = |name: &str| match member(schema, "type") {
            None => true,
            Some(node) => {
                let own = items(node).unwrap_or(core::slice::from_ref(node)).iter();
                own.filter_map(string).any(|it| it == name)
            }
        };
        if is("string") {
            values.extend(self.strings.iter().cloned());
            values.insert("\"\"".to_owned());
        }
        if is("number") || is("integer") {
            values.extend(self.numbers.iter().cloned());
            let bounds = ["minimum", "maximum"].into_iter();
            values.extend(bounds.filter_map(|it| member(schema, it)).map(text));
            values.insert("0".to_owned());
        }
        if is("boolean") {
            values.extend(["false", "true"].map(str::to_owned));
        }
        values.into_iter().collect()
    }
}

/// Writes an object of the first value of each property, but for one that has another.
fn object(properties: &[(&str, Vec<String>)], other: Option<(usize, usize)>) -> String {
    let mut w = Writer::dense();
    w.object(|w| {
        for (at, (name, values)) in properties.iter().enumerate() {
            let value = match other {
                Some((property, value)) if property == at => value,
                _ => 0,
            };
            w.key(name).json(&values[value]);
        }
    });
    w.finish().trim_end().to_owned()
}
