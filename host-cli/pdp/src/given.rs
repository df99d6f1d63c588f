//! Members of JSON requests.

use super::answer::Refusal;
use agent_host::contract::diagnostic::Code;
use agent_host::output::visible;
use agent_syntax::json::parse_strict;
use agent_syntax::members::{boolean, entries, items, member, string};
use agent_syntax::{Node, Value};

/// An object of a request, with the path to it.
#[derive(Debug, Clone)]
pub(crate) struct Given<'r> {
    source: &'r str,
    node: &'r Node<'r>,
    /// Empty, or the names of the members up to it.
    path: String,
}

/// Reads the JSON text of a request.
///
/// # Errors
///
/// It is not UTF-8, or is not one strict JSON value.
pub(crate) fn parsed(body: &[u8]) -> Result<(&str, Node<'_>), Refusal> {
    let text = str::from_utf8(body)
        .map_err(|_| Refusal::new(Code::WrongEncoding, "the body is not UTF-8"))?;
    let root = parse_strict(text)
        .ok_or_else(|| Refusal::new(Code::JsonSyntax, "the body is not strict JSON"))?;
    Ok((text, root))
}

impl<'r> Given<'r> {
    /// Takes the whole of a request.
    ///
    /// # Errors
    ///
    /// It is not an object.
    pub(crate) fn whole(source: &'r str, root: &'r Node<'r>) -> Result<Self, Refusal> {
        Self::object_at(source, root, String::new())
    }

    fn object_at(source: &'r str, node: &'r Node<'r>, path: String) -> Result<Self, Refusal> {
        match &node.value {
            Value::Mapping(_) => Ok(Self { source, node, path }),
            _ => {
                let what = match &*path {
                    "" => "the body".to_owned(),
                    path => format!("`{path}`"),
                };
                Err(Refusal::new(
                    Code::WrongType,
                    format!("{what} is not an object"),
                ))
            }
        }
    }

    /// Returns the names of the members up to one of this object, and its own.
    pub(crate) fn path_to(&self, name: &str) -> String {
        match &*self.path {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        }
    }

    /// Returns the JSON text.
    pub(crate) fn text(&self) -> &'r str {
        self.node.span.of(self.source)
    }

    /// Returns a member that is an object, if there is one.
    ///
    /// # Errors
    ///
    /// It is not an object.
    pub(crate) fn object(&self, name: &str) -> Result<Option<Self>, Refusal> {
        let found = member(self.node, name);
        let found = found.map(|it| Self::object_at(self.source, it, self.path_to(name)));
        found.transpose()
    }

    /// Returns a member that is a string, if there is one.
    ///
    /// # Errors
    ///
    /// It is not a string.
    pub(crate) fn string(&self, name: &str) -> Result<Option<String>, Refusal> {
        self.scalar(name, "string", |it| string(it).map(str::to_owned))
    }

    /// Returns a member that is a boolean, if there is one.
    ///
    /// # Errors
    ///
    /// It is not a boolean.
    pub(crate) fn boolean(&self, name: &str) -> Result<Option<bool>, Refusal> {
        self.scalar(name, "boolean", boolean)
    }

    fn scalar<T>(
        &self,
        name: &str,
        kind: &str,
        read: impl FnOnce(&Node<'_>) -> Option<T>,
    ) -> Result<Option<T>, Refusal> {
        let Some(found) = member(self.node, name) else {
            return Ok(None);
        };
        read(found).map(Some).ok_or_else(|| {
            let text = format!("`{}` is not a {kind}", self.path_to(name));
            Refusal::new(Code::WrongType, text)
        })
    }

    /// Returns the items of a member that is an array, if there is one, each as an object or the reason why it is none.
    ///
    /// # Errors
    ///
    /// It is not an array.
    pub(crate) fn objects(&self, name: &str) -> Result<Vec<Result<Self, Refusal>>, Refusal> {
        let Some(found) = member(self.node, name) else {
            return Ok(Vec::new());
        };
        let Some(items) = items(found) else {
            let text = format!("`{}` is not an array", self.path_to(name));
            return Err(Refusal::new(Code::WrongType, text));
        };
        let path = |number: usize| format!("{}[{number}]", self.path_to(name));
        let items = items.iter().enumerate();
        let objects = items.map(|(number, it)| Self::object_at(self.source, it, path(number)));
        Ok(objects.collect())
    }

    /// Returns the items of a member that is an array of strings, if there is one.
    ///
    /// # Errors
    ///
    /// It is something else.
    pub(crate) fn strings(&self, name: &str) -> Result<Option<Vec<String>>, Refusal> {
        let Some(found) = member(self.node, name) else {
            return Ok(None);
        };
        let texts = items(found).map(|items| {
            let texts = items.iter().map(|it| string(it).map(str::to_owned));
            texts.collect::<Option<Vec<_>>>()
        });
        texts.flatten().map(Some).ok_or_else(|| {
            let text = format!("`{}` is not an array of strings", self.path_to(name));
            Refusal::new(Code::WrongType, text)
        })
    }

    /// Returns the names of the members.
    pub(crate) fn names(&self) -> Vec<&str> {
        entries(self.node).iter().map(|it| &*it.key).collect()
    }

    /// Requires a member.
    ///
    /// # Errors
    ///
    /// It is absent.
    pub(crate) fn required<T>(&self, name: &str, found: Option<T>) -> Result<T, Refusal> {
        found.ok_or_else(|| {
            let text = format!("`{}` is missing", self.path_to(name));
            Refusal::new(Code::MissingField, text)
        })
    }

    /// Requires a member that is a string.
    ///
    /// # Errors
    ///
    /// It is absent, or is not a string.
    pub(crate) fn required_string(&self, name: &str) -> Result<String, Refusal> {
        let found = self.string(name)?;
        self.required(name, found)
    }

    /// Requires a member that is an object.
    ///
    /// # Errors
    ///
    /// It is absent, or is not an object.
    pub(crate) fn required_object(&self, name: &str) -> Result<Self, Refusal> {
        let found = self.object(name)?;
        self.required(name, found)
    }

    /// Refuses members of other names.
    ///
    /// # Errors
    ///
    /// There is one.
    pub(crate) fn only(&self, names: &[&str]) -> Result<(), Refusal> {
        let mut members = entries(self.node).iter().map(|it| &*it.key);
        match members.find(|it| !names.contains(it)) {
            None => Ok(()),
            Some(name) => {
                let name = self.path_to(&visible(name));
                let text = format!("`{name}` is not a known member");
                Err(Refusal::new(Code::UnknownKey, text))
            }
        }
    }
}
