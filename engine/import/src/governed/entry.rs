//! The entry of a gateway, in the form and the notation of each client.

use super::Gateway;
use super::parsed::{Parsed, member_ranges};
use crate::client::{ClientForm, EntryShape, Installation, ServersPlace};
use agent_syntax::{Value, json_string};

/// Returns the members of a gateway's entry, with values that JSON, YAML and TOML read.
fn fields(shape: EntryShape, gateway: &Gateway) -> Vec<(&'static str, String)> {
    let command = || json_string(&gateway.program);
    let words = |words: &mut dyn Iterator<Item = &String>| {
        let words: Vec<_> = words.map(|it| json_string(it)).collect();
        format!("[{}]", words.join(", "))
    };
    let args = || words(&mut gateway.arguments.iter());
    let kind = |kind| json_string(kind);
    match shape {
        EntryShape::Command => vec![("command", command()), ("args", args())],
        EntryShape::Typed => vec![
            ("type", kind("stdio")),
            ("command", command()),
            ("args", args()),
        ],
        EntryShape::Custom => vec![
            ("source", kind("custom")),
            ("command", command()),
            ("args", args()),
        ],
        EntryShape::Words => {
            let all = &mut [&gateway.program].into_iter().chain(&gateway.arguments);
            vec![("type", kind("local")), ("command", words(all))]
        }
        EntryShape::Nested => {
            let (command, args) = (command(), args());
            let inner =
                format!("{{ \"type\": \"stdio\", \"command\": {command}, \"args\": {args} }}");
            vec![("transport", inner)]
        }
        EntryShape::Extension => vec![
            ("type", kind("stdio")),
            ("enabled", "true".to_owned()),
            ("cmd", command()),
            ("args", args()),
        ],
    }
}

/// Returns the entry of a gateway as it stands at a place, instead of a server or behind it.
pub(super) fn gateway_entry(
    parsed: &Parsed<'_>,
    at: &ServersPlace<'_>,
    beside: Option<&Installation<'_>>,
    gateway: &Gateway,
) -> String {
    let is_list = matches!(at.servers.value, Value::Sequence(_));
    let start = beside.map(|it| match (it.name, is_list) {
        (Some((_, key)), false) => key.start as usize,
        _ => it.node.span.start as usize,
    });
    if !parsed.is_flow(at.servers) {
        if parsed.is_toml {
            // Servers may be lines of one table.
            let is_line =
                |it: &Installation<'_>| parsed.text[it.node.span.start as usize..].starts_with('{');
            return match beside.filter(|it| is_line(it)) {
                Some(_) => {
                    let name = key(&gateway.name);
                    format!("{name} = {}\n", flow_value(at.form, gateway, " = ", false))
                }
                None => toml_table(at.form, gateway),
            };
        }
        let indentation = start.map_or("  ", |start| parsed.line_indentation(start));
        return yaml_entry(at.form, gateway, indentation, is_list);
    }
    let name = json_string(&gateway.name);
    let indentation = start.and_then(|start| parsed.indentation(start));
    let value = match (parsed.is_toml, indentation) {
        (true, _) => flow_value(at.form, gateway, " = ", is_list),
        (false, None) if start.is_some() => flow_value(at.form, gateway, ": ", is_list),
        (false, found) => {
            let members: Vec<_> = member_ranges(at.servers).collect();
            let own = parsed.member_indentation(at.servers, &members);
            json_value(at.form, gateway, found.unwrap_or(&own), is_list)
        }
    };
    match (is_list, parsed.is_toml) {
        (true, _) => value,
        (false, true) => format!("{name} = {value}"),
        (false, false) => format!("{name}: {value}"),
    }
}

/// Returns a key of YAML or TOML, in quotes if it needs them.
fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    match name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_bare) {
        true => name.to_owned(),
        false => json_string(name),
    }
}

/// Returns the members of an entry; in a list it has its name.
fn all_fields(form: &ClientForm, gateway: &Gateway, is_list: bool) -> Vec<(&'static str, String)> {
    let needs_name = is_list || form.shape == EntryShape::Extension;
    let name = needs_name.then(|| ("name", json_string(&gateway.name)));
    name.into_iter()
        .chain(fields(form.shape, gateway))
        .collect()
}

/// Returns the value of a gateway's entry in one line.
fn flow_value(form: &ClientForm, gateway: &Gateway, assigns: &str, is_list: bool) -> String {
    let fields = all_fields(form, gateway, is_list).into_iter();
    let is_json = assigns.starts_with(':');
    let fields = fields.map(|(key, value)| match is_json {
        true => format!("\"{key}\"{assigns}{value}"),
        false => format!("{key}{assigns}{value}"),
    });
    format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
}

/// Returns one step of an indentation.
fn unit(indentation: &str) -> &'static str {
    match indentation.starts_with('\t') {
        true => "\t",
        false => "  ",
    }
}

/// Returns the value of a gateway's entry in several lines.
fn json_value(form: &ClientForm, gateway: &Gateway, indentation: &str, is_list: bool) -> String {
    let unit = unit(indentation);
    let fields = all_fields(form, gateway, is_list).into_iter();
    let fields = fields.map(|(key, value)| format!("\n{indentation}{unit}\"{key}\": {value}"));
    let fields: Vec<_> = fields.collect();
    format!("{{{}\n{indentation}}}", fields.join(","))
}

/// Returns an object in objects that are missing, with a gateway in the innermost one.
pub(super) fn json_members(
    keys: &[String],
    form: &ClientForm,
    gateway: &Gateway,
    indentation: &str,
) -> String {
    let unit = unit(indentation);
    let Some((key, rest)) = keys.split_first() else {
        let value = json_value(form, gateway, indentation, false);
        return format!("{}: {value}", json_string(&gateway.name));
    };
    let inner = json_members(rest, form, gateway, &format!("{indentation}{unit}"));
    let key = json_string(key);
    format!("{key}: {{\n{indentation}{unit}{inner}\n{indentation}}}")
}

/// Returns the lines of a gateway's entry in YAML.
pub(super) fn yaml_entry(
    form: &ClientForm,
    gateway: &Gateway,
    indentation: &str,
    is_list: bool,
) -> String {
    let fields = all_fields(form, gateway, is_list).into_iter();
    if !is_list {
        let lines = fields.map(|(key, value)| format!("{indentation}  {key}: {value}\n"));
        let name = key(&gateway.name);
        return format!("{indentation}{name}:\n{}", lines.collect::<String>());
    }
    let lines = fields.enumerate().map(|(number, (key, value))| {
        let mark = if number == 0 { "- " } else { "  " };
        format!("{indentation}{mark}{key}: {value}\n")
    });
    lines.collect()
}

/// Returns the table of a gateway in TOML.
pub(super) fn toml_table(form: &ClientForm, gateway: &Gateway) -> String {
    let fields = all_fields(form, gateway, false).into_iter();
    let lines = fields.map(|(key, value)| format!("{key} = {value}\n"));
    let (path, name) = (form.path.join("."), key(&gateway.name));
    format!("[{path}.{name}]\n{}", lines.collect::<String>())
}
