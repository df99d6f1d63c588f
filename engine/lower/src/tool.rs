//! The definition of a tool, as an agent sees it, and its digest.

use super::document::member;
use super::format;
use super::integrity::digest;
use agent_json_schema::without_unusable_patterns;
use agent_model::{Keyword as _, Patterns, ServerView, ToolView};
use agent_syntax::json::{Reader, parse_value, write_string};
use agent_syntax::{Entry, Node, Value, canonical_node};
use std::borrow::Cow;

/// The fields of a definition, sorted.
const MEMBERS: [&str; 8] = [
    "annotations",
    "description",
    "execution",
    ICONS,
    "inputSchema",
    "name",
    "outputSchema",
    "title",
];

const ICONS: &str = "icons";

/// Those that definitions of earlier versions lack.
const LATER: [&str; 3] = ["execution", ICONS, "title"];

/// Maximum bytes of the URL of an icon that holds its image.
const ICON_MAX_BYTES: usize = 16 << 10;

/// Returns the RFC 8785 form of a tool's `{name, title, description, inputSchema, outputSchema,
/// annotations, icons, execution}`. Absent fields are left out, as are those that MCP gives another
/// type; and the name is the tool's key \[4\].
pub fn definition(tool: ToolView<'_>) -> String {
    ToolEntry::read(tool.entry()).definition(tool.name())
}

/// Returns a definition without its icons, which cost no tokens.
pub fn without_icons(definition: &str) -> Cow<'_, str> {
    let entry = ToolEntry::read(definition);
    match (entry.member(ICONS), entry.member("name")) {
        (
            Some(_),
            Some(Node {
                value: Value::String(name),
                ..
            }),
        ) => Cow::Owned(entry.written(name, |key| key != ICONS)),
        _ => Cow::Borrowed(definition),
    }
}

/// Returns whether an icon is kept: it comes from an `https` URL, or is a small image itself.
pub fn is_kept_icon(icon: &Node<'_>) -> bool {
    const IMAGES: [&str; 3] = ["image/png", "image/jpeg", "image/webp"];
    let Some(Node {
        value: Value::String(src),
        ..
    }) = member(icon, "src")
    else {
        return false;
    };
    let data = src.strip_prefix("data:");
    let is_image = |data: &str| {
        let rest = IMAGES.iter().find_map(|image| data.strip_prefix(image));
        rest.is_some_and(|rest| rest.starts_with([';', ',']))
    };
    src.starts_with("https://") || src.len() <= ICON_MAX_BYTES && data.is_some_and(is_image)
}

/// The JSON object of a tool, parsed with its document before.
#[derive(Debug)]
pub struct ToolEntry<'e> {
    text: &'e str,
    members: Vec<Entry<'e>>,
    patterns: Option<Patterns>,
}

impl<'e> ToolEntry<'e> {
    /// Reads the text of the object.
    pub fn read(text: &'e str) -> Self {
        let members = match parse_value(&mut Reader::new(text)).map(|node| node.value) {
            Ok(Value::Mapping(entries)) => entries,
            _ => Vec::new(),
        };
        let patterns = members.iter().find(|it| it.key == format::TOOL.names[5]);
        let patterns = patterns.and_then(|it| match &it.value.value {
            Value::String(word) => Patterns::parse(word),
            _ => None,
        });
        Self {
            text,
            members,
            patterns,
        }
    }

    /// Returns the text of the object.
    pub fn text(&self) -> &'e str {
        self.text
    }

    fn member(&self, name: &str) -> Option<&Node<'e>> {
        let mut members = self.members.iter();
        Some(&members.find(|member| member.key == name)?.value)
    }

    /// Returns the definition of the tool of this name.
    pub fn definition(&self, tool: &str) -> String {
        self.written(tool, |_| true)
    }

    /// Returns the definition of the tool of this name in the form that is locked, with its digest: that
    /// of today, or that of earlier versions, which lacks three members. It is that of today if neither
    /// is locked.
    pub fn locked_form(&self, tool: &str, is_locked: impl Fn(&str) -> bool) -> (String, String) {
        let form = |is_part: &dyn Fn(&str) -> bool| {
            let definition = self.written(tool, is_part);
            (digest(&definition), definition)
        };
        let today = form(&|_| true);
        if is_locked(&today.0) || LATER.iter().all(|key| self.member(key).is_none()) {
            return today;
        }
        let former = form(&|key| !LATER.contains(&key));
        if is_locked(&former.0) { former } else { today }
    }

    /// Returns the definition of the tool of this name in the form of another definition: without the
    /// members that earlier versions left out, if the other one has none of them.
    pub fn formed_as(&self, tool: &str, other: &str) -> String {
        let other = ToolEntry::read(other);
        let is_former = LATER.iter().all(|key| other.member(key).is_none());
        self.written(tool, |key| !is_former || !LATER.contains(&key))
    }

    fn written(&self, tool: &str, is_part: impl Fn(&str) -> bool) -> String {
        let mut out = String::from("{");
        for key in MEMBERS.into_iter().filter(|key| is_part(key)) {
            let value = match (key, self.member(key)) {
                ("name", _) => None,
                (_, None) => continue,
                (_, Some(value)) if !is_of_its_type(key, value) => continue,
                (_, value) => value,
            };
            if out.len() > 1 {
                out.push(',');
            }
            write_string(key, &mut out);
            out.push(':');
            match value {
                Some(value) if key == ICONS => write_icons(value, &mut out),
                Some(value) => canonical_node(value, &mut out),
                None => write_string(tool, &mut out),
            }
        }
        out.push('}');
        out
    }

    /// Returns the members that an agent sees, but for the name.
    pub(super) fn shown(&self) -> impl Iterator<Item = (&'static str, &Node<'e>)> {
        let members = MEMBERS.into_iter().filter(|key| *key != "name");
        members.filter_map(|key| Some((key, self.member(key)?)))
    }

    /// Returns the JSON text of `inputSchema`, if the tool has one, without the patterns that are ignored.
    pub fn input_schema(&self) -> Option<Cow<'e, str>> {
        self.schema("inputSchema")
    }

    /// Returns the JSON text of `outputSchema`, if the tool has one, without the patterns that are ignored.
    pub fn output_schema(&self) -> Option<Cow<'e, str>> {
        self.schema("outputSchema")
    }

    fn schema(&self, member: &str) -> Option<Cow<'e, str>> {
        let text = self.member(member)?.span.of(self.text);
        let ignoring = self.patterns.and_then(|_| without_unusable_patterns(text));
        Some(ignoring.map_or(Cow::Borrowed(text), Cow::Owned))
    }

    /// Returns whether patterns of its schemas that can't be used are ignored.
    pub fn patterns(&self) -> Option<Patterns> {
        self.patterns
    }

    /// Returns whether one of its schemas has a pattern that is ignored.
    pub fn ignores_patterns(&self) -> bool {
        let schemas = [self.input_schema(), self.output_schema()];
        schemas
            .iter()
            .flatten()
            .any(|it| matches!(it, Cow::Owned(_)))
    }

    /// Returns a boolean of `annotations`, if it is present.
    pub fn hint(&self, name: &str) -> Option<bool> {
        match member(self.member("annotations")?, name)?.value {
            Value::Bool(hint) => Some(hint),
            _ => None,
        }
    }
}

/// Returns whether a member that the index does not check has the type that MCP gives it.
fn is_of_its_type(key: &str, value: &Node<'_>) -> bool {
    match (key, &value.value) {
        ("title", value) => matches!(value, Value::String(_)),
        ("execution", value) => matches!(value, Value::Mapping(_)),
        (ICONS, Value::Sequence(icons)) => icons.iter().any(is_kept_icon),
        (ICONS, _) => false,
        _ => true,
    }
}

fn write_icons(icons: &Node<'_>, out: &mut String) {
    let Value::Sequence(icons) = &icons.value else {
        return;
    };
    for (number, icon) in icons.iter().filter(|it| is_kept_icon(it)).enumerate() {
        out.push(if number == 0 { '[' } else { ',' });
        canonical_node(icon, out);
    }
    out.push(']');
}

/// Returns the tools of a server whose unusable patterns are ignored, of those that are covered, by name.
pub fn ignoring<'i>(
    server: ServerView<'i>,
    covers: impl Fn(&str) -> bool,
) -> impl Iterator<Item = &'i str> {
    let covered = server.tools().filter(move |tool| covers(tool.name()));
    let ignoring = covered.filter(|tool| {
        // A key may be written with escapes.
        let entry = tool.entry();
        let may_say = entry.contains(format::TOOL.names[5]) || entry.contains('\\');
        may_say && ToolEntry::read(tool.entry()).patterns().is_some()
    });
    ignoring.map(ToolView::name)
}

/// Returns the digest of a tool's definition, in the form of an integrity.
pub fn definition_digest(tool: ToolView<'_>) -> String {
    digest(&definition(tool))
}

/// Returns the digest of a tool's definition in the form that is locked, as [`ToolEntry::locked_form`].
pub fn locked_digest(tool: ToolView<'_>, is_locked: impl Fn(&str) -> bool) -> String {
    ToolEntry::read(tool.entry())
        .locked_form(tool.name(), is_locked)
        .0
}
