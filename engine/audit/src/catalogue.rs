//! The global catalogues of MOVA \[3, 2\]: types of episodes and of security events, channels of texts,
//! layers and namespaces. `schemas/mova/README.md` has their rules in words.

use super::members::{at, boolean, items, string};
use agent_api::schema::Library;
use agent_syntax::json::parse_strict;
use agent_syntax::{Node, Value};

macro_rules! catalogue {
    ($name:literal) => {
        (
            $name,
            include_str!(concat!("../../../schemas/mova/", $name, ".json")),
        )
    };
}

/// The project's own catalogues, whose content is that of MOVA 4.1.1, by name.
const EPISODE_TYPES: (&str, &str) = catalogue!("global.episode_type_catalog_v1");
const SECURITY: (&str, &str) = catalogue!("global.security_catalog_v1");
const CHANNELS: (&str, &str) = catalogue!("global.text_channel_catalog_v1");
const LAYERS: (&str, &str) = catalogue!("global.layers_and_namespaces_v1");

/// The layer of names that no other layer reserves.
const OPEN_LAYER: &str = "skills";

/// The catalogues, as trees.
#[derive(Debug)]
pub struct Catalogues<'t> {
    episode_types: Node<'t>,
    security: Node<'t>,
    channels: Node<'t>,
    layers: Node<'t>,
}

impl<'t> Catalogues<'t> {
    /// Returns the catalogues of a library: those of its core, or the project's own.
    #[must_use]
    pub fn of(library: &'t Library) -> Self {
        let [episode_types, security, channels, layers] =
            [EPISODE_TYPES, SECURITY, CHANNELS, LAYERS].map(|(name, own)| {
                let text = library.catalogue(name).unwrap_or(own);
                // Invariant: a library accepts only catalogues that are JSON, as the own ones are.
                parse_strict(text).unwrap_or_else(|| unreachable!("a catalogue is JSON"))
            });
        Self {
            episode_types,
            security,
            channels,
            layers,
        }
    }

    /// Returns whether an episode may have a type: an id, or one with a subtype where it allows them.
    #[must_use]
    pub fn has_episode_type(&self, kind: &str) -> bool {
        let (id, subtype) = match kind.split_once('/') {
            Some((id, subtype)) => (id, Some(subtype)),
            None => (kind, None),
        };
        entry(&self.episode_types, "/episode_type", id).is_some_and(|entry| {
            let allows = boolean(entry, "/allows_subtypes") == Some(true);
            subtype.is_none_or(|it| allows && !it.is_empty())
        })
    }

    /// Returns whether a list of the security catalogue has an id, or the id has another namespace.
    #[must_use]
    pub fn has_security_name(&self, list: &str, id: &str) -> bool {
        let namespaced = |(space, rest): (&str, &str)| !space.is_empty() && !rest.is_empty();
        entry(&self.security, &format!("/{list}"), id).is_some()
            || id.split_once(':').is_some_and(namespaced)
    }

    /// Returns whether texts may be in a channel.
    #[must_use]
    pub fn has_channel(&self, id: &str) -> bool {
        let channel = entry(&self.channels, "/channels", id);
        channel.is_some_and(|it| string(it, "/status") == Some("active"))
    }

    /// Returns whether the layer of a record's name, such as `env.mova_agent_plan_v1`, allows its kind.
    #[must_use]
    pub fn has_name(&self, name: &str) -> bool {
        let Some((kind, rest)) = name.split_once('.') else {
            return false;
        };
        let layer = self.layer(name, rest);
        let kinds = layer
            .map(|it| items(it, "/allowed_kinds"))
            .unwrap_or_default();
        kinds.iter().any(|it| is_text(it, kind))
    }

    fn layer(&self, name: &str, rest: &str) -> Option<&Node<'t>> {
        let mut rules = items(&self.layers, "/namespace_rules").iter();
        let example =
            rules.find(|rule| items(rule, "/examples").iter().any(|it| is_text(it, name)));
        if let Some(rule) = example {
            return entry(&self.layers, "/layers", string(rule, "/layer_id")?);
        }
        let mut nearest: Option<(usize, &Node<'t>)> = None;
        for layer in items(&self.layers, "/layers") {
            if string(layer, "/id") == Some(OPEN_LAYER) {
                continue;
            }
            for prefix in items(layer, "/namespace_prefixes") {
                let Value::String(prefix) = &prefix.value else {
                    continue;
                };
                let after = rest.strip_prefix(&**prefix);
                let is_nearer = nearest.is_none_or(|(len, _)| prefix.len() > len);
                if is_nearer && after.is_some_and(|it| it.starts_with('_')) {
                    nearest = Some((prefix.len(), layer));
                }
            }
        }
        match nearest {
            Some((_, layer)) => Some(layer),
            None => entry(&self.layers, "/layers", OPEN_LAYER),
        }
    }
}

/// Returns the entry of an id in a list of a catalogue.
fn entry<'n, 't>(catalogue: &'n Node<'t>, list: &str, id: &str) -> Option<&'n Node<'t>> {
    let list = at(catalogue, list).map(|it| &it.value);
    let Some(Value::Sequence(entries)) = list else {
        return None;
    };
    entries.iter().find(|it| string(it, "/id") == Some(id))
}

fn is_text(node: &Node<'_>, text: &str) -> bool {
    matches!(&node.value, Value::String(it) if it == text)
}

#[cfg(test)]
mod tests {
    use super::Catalogues;
    use agent_api::schema::Library;

    #[test]
    fn the_own_catalogues_are_complete() {
        let own = Catalogues::of(Library::own());
        assert!(own.has_episode_type("execution/step"));
        assert!(!own.has_episode_type("execution/"));
        assert!(own.has_security_name("security_event_type", "forbidden_tool_requested"));
        assert!(own.has_channel("human_ui"));
        assert!(own.has_name("env.mova_agent_plan_v1"));
        assert!(!own.has_name("plan"));
    }
}
