//! Reading a compact explanation.

mod capabilities;

use super::super::resolution::{Requirement, Selected, write};
use super::{VERSION, VERSION_WITH_CAPABILITIES};
use agent_decide::{Rejection, TieBreak};
use agent_diagnostic::{Code, Diagnostic, Problems};
use agent_lower::decode;
use agent_lower::fields::{Object, boolean, choice, list, name, names, text, wrong_type};
use agent_model::{Agent, Constraints, Residency, ResidencySet, Sensitivity};
use agent_syntax::{Node, Value, json};
use agent_text::{Source, Span};
use capabilities::{Capabilities, Problem};

/// The largest compact explanation that is read, in bytes.
const COMPACT_LIMIT: usize = 512 << 20;

/// Put a compact explanation together to the full one: the bytes that
/// [`resolution`](crate::resolution()) gives.
///
/// # Errors
/// Every problem of the text, or [`Code::ExplanationTooLarge`] if the full form would pass its
/// limit.
pub fn expand(bytes: Vec<u8>) -> Result<String, Vec<Diagnostic>> {
    let source = decode(Source::Explanation, bytes, COMPACT_LIMIT)?;
    let mut problems = Problems::new(&source);
    let root = json::parse(&mut problems);
    let compact = root
        .as_ref()
        .and_then(|root| Compact::read(root, &mut problems));
    match compact {
        Some(compact) if !problems.has_errors() => {
            let mut wrong = None;
            let full = compact.write(&mut wrong);
            if let Some((span, label)) = wrong {
                invalid(&mut problems, span, label);
                return Err(problems.finish());
            }
            full.map_err(|too_large| vec![too_large])
        }
        _ => Err(problems.finish()),
    }
}

/// A compact explanation. All numbers are within their lists.
struct Compact<'n> {
    agent: Agent,
    constraints: Constraints,
    categories: Vec<&'n str>,
    scopes: Vec<&'n str>,
    failures: Vec<Vec<Rejection<'n>>>,
    requirements: Vec<Asked<'n>>,
    servers: Servers<'n>,
    capabilities: Option<Capabilities<'n>>,
    satisfied: bool,
}

struct Asked<'n> {
    category: &'n str,
    permissions: Vec<&'n str>,
    /// The number of the server, and the hash.
    selected: Option<(usize, &'n str)>,
}

/// Columns of one length.
struct Servers<'n> {
    categories: Vec<Vec<usize>>,
    failures: Vec<usize>,
    id: Vec<&'n str>,
    scopes: Vec<Vec<usize>>,
    signed: Vec<bool>,
    version: Vec<&'n str>,
}

const HINT: &str = "a file as `agent resolve --explain=compact` writes it";

impl<'n> Compact<'n> {
    fn read(node: &'n Node<'_>, problems: &mut Problems<'_>) -> Option<Self> {
        let start = node.span.start as usize;
        let root = Object::of(
            node,
            "the explanation",
            Span::new(start, start + 1),
            problems,
        )?
        .rename("");
        let version = root.required("compactVersion", HINT, problems)?;
        let known = [VERSION, VERSION_WITH_CAPABILITIES];
        let version = number(&version.value, "compactVersion", problems)
            .and_then(|number| known.into_iter().find(|known| *known as usize == number))
            .or_else(|| {
                invalid(problems, version.value.span, "no version that is known");
                None
            })?;
        let agent = root
            .required_object("agent", HINT, problems)
            .and_then(|agent| {
                let entry = agent.required("name", HINT, problems);
                let agent_name = entry.and_then(|entry| name(&entry.value, "agent.name", problems));
                let entry = agent.required("version", HINT, problems);
                let version = entry.and_then(|entry| name(&entry.value, "agent.version", problems));
                Some(Agent {
                    name: agent_name?.value,
                    version: version?.value,
                })
            });
        let constraints = root
            .required_object("constraints", HINT, problems)
            .and_then(|constraints| read_constraints(&constraints, problems));
        let categories = column(&root, "categories", problems, text)?;
        let scopes = column(&root, "scopes", problems, text)?;
        let failures = column(&root, "failures", problems, |node, path, problems| {
            let reasons = list(node, path, problems)?.iter();
            reasons
                .map(|reason| read_failure(reason, path, problems))
                .collect()
        })?;
        let servers = root
            .required_object("servers", HINT, problems)
            .and_then(|servers| {
                Servers::read(
                    &servers,
                    categories.len(),
                    scopes.len(),
                    failures.len(),
                    problems,
                )
            })?;
        let requirements = column(&root, "requirements", problems, |node, path, problems| {
            Asked::read(node, path, servers.id.len(), problems)
        });
        let capabilities = if version == VERSION_WITH_CAPABILITIES {
            let object = root.required_object("capabilities", HINT, problems)?;
            Some(Capabilities::read(&object, servers.id.len(), problems)?)
        } else {
            None
        };
        let satisfied = root
            .required("satisfied", HINT, problems)
            .and_then(|entry| boolean(&entry.value, "satisfied", problems));
        Some(Self {
            agent: agent?,
            constraints: constraints?,
            categories,
            scopes,
            failures,
            requirements: requirements?,
            servers,
            capabilities,
            satisfied: satisfied?.value,
        })
    }

    /// The full form. It is worth nothing where something is found to be wrong.
    fn write(&self, wrong: &mut Option<Problem>) -> Result<String, Diagnostic> {
        let requirements = self.requirements.iter().map(|asked| {
            let verdicts = move || {
                (0..self.servers.id.len()).map(move |server| (server, self.reasons(asked, server)))
            };
            Requirement {
                category: asked.category,
                permissions: asked.permissions.clone(),
                selected: asked.selected.map(|(server, hash)| Selected {
                    id: self.servers.id[server],
                    version: self.servers.version[server],
                    hash,
                }),
                eligible: verdicts()
                    .filter(|(_, reasons)| reasons.is_empty())
                    .filter_map(|(server, _)| self.lost(asked.selected?.0, server))
                    .collect(),
                rejected: verdicts().filter(|(_, reasons)| !reasons.is_empty()).map(
                    |(server, reasons)| {
                        (
                            self.servers.id[server],
                            self.servers.version[server],
                            reasons,
                        )
                    },
                ),
            }
        });
        write(
            &self.agent,
            &self.constraints,
            requirements,
            |w| {
                if let Some(capabilities) = &self.capabilities {
                    *wrong = capabilities.write(w, self).err();
                }
            },
            self.satisfied,
        )
    }

    /// Why a server is rejected for a requirement, in the order of the checks.
    fn reasons(&self, asked: &Asked<'n>, server: usize) -> Vec<Rejection<'n>> {
        let named = |numbers: &[usize], names: &[&'n str]| -> Vec<_> {
            numbers.iter().map(|number| names[*number]).collect()
        };
        let offered = named(&self.servers.categories[server], &self.categories);
        let supported = named(&self.servers.scopes[server], &self.scopes);
        let missing: Vec<_> = asked
            .permissions
            .iter()
            .copied()
            .filter(|scope| !supported.contains(scope))
            .collect();
        let category =
            (!offered.contains(&asked.category)).then_some(Rejection::MissingCategory { offered });
        let scope = (!missing.is_empty()).then_some(Rejection::MissingScope { missing });
        let failures = &self.failures[self.servers.failures[server]];
        category
            .into_iter()
            .chain(scope)
            .chain(failures.iter().cloned())
            .collect()
    }

    /// The rule on which an eligible server lost. None for the selected one.
    fn lost(&self, selected: usize, server: usize) -> Option<(&'n str, &'n str, TieBreak)> {
        let Servers {
            id,
            version,
            signed,
            ..
        } = &self.servers;
        let lost_on = if server == selected {
            return None;
        } else if signed[server] != signed[selected] {
            TieBreak::Signed
        } else if id[server] != id[selected] {
            TieBreak::Id
        } else {
            TieBreak::Version
        };
        Some((id[server], version[server], lost_on))
    }
}

impl<'n> Asked<'n> {
    fn read(
        node: &'n Node<'_>,
        path: &str,
        servers: usize,
        problems: &mut Problems<'_>,
    ) -> Option<Self> {
        let object = Object::of(node, path, node.span, problems)?;
        let category = object.required("category", HINT, problems)?;
        let permissions = column(&object, "permissions", problems, text)?;
        let selected = object.required("selected", HINT, problems)?;
        let selected = match selected.value.value {
            Value::Null => None,
            _ => {
                let selected = object.object("selected", problems)?;
                let server = selected.required("server", HINT, problems)?;
                let hash = selected.required("hash", HINT, problems)?;
                Some((
                    number_below(servers, &server.value, path, problems)?,
                    text(&hash.value, path, problems)?,
                ))
            }
        };
        Some(Self {
            category: text(&category.value, path, problems)?,
            permissions,
            selected,
        })
    }
}

impl<'n> Servers<'n> {
    fn read(
        object: &Object<'n, '_>,
        categories: usize,
        scopes: usize,
        failures: usize,
        problems: &mut Problems<'_>,
    ) -> Option<Self> {
        let numbers = |limit: usize| {
            move |node: &'n Node<'_>, path: &str, problems: &mut Problems<'_>| {
                let numbers = list(node, path, problems)?.iter();
                numbers
                    .map(|number| number_below(limit, number, path, problems))
                    .collect()
            }
        };
        let columns = Self {
            categories: column(object, "categories", problems, numbers(categories))?,
            failures: column(object, "failures", problems, |node, path, problems| {
                number_below(failures, node, path, problems)
            })?,
            id: column(object, "id", problems, text)?,
            scopes: column(object, "scopes", problems, numbers(scopes))?,
            signed: column(object, "signed", problems, |node, path, problems| {
                boolean(node, path, problems).map(|signed| signed.value)
            })?,
            version: column(object, "version", problems, text)?,
        };
        let len = columns.id.len();
        let lens = [
            columns.categories.len(),
            columns.failures.len(),
            columns.scopes.len(),
            columns.signed.len(),
            columns.version.len(),
        ];
        if lens.iter().any(|other| *other != len) {
            let span = object.optional("id")?.key_span;
            invalid(problems, span, "the columns have different lengths");
            return None;
        }
        Some(columns)
    }
}

fn read_constraints(object: &Object<'_, '_>, problems: &mut Problems<'_>) -> Option<Constraints> {
    let given = |key: &str, problems: &mut Problems<'_>| {
        let entry = object.required(key, HINT, problems)?;
        (entry.value.value != Value::Null).then_some(&entry.value)
    };
    let forbid = given("forbid", problems)?;
    Some(Constraints {
        forbid: names(forbid, "constraints.forbid", problems)?,
        require_signed: given("requireSigned", problems)
            .and_then(|node| boolean(node, "constraints.requireSigned", problems)),
        residency: given("residency", problems).and_then(|node| residency(node, problems)),
        sensitivity: given("sensitivity", problems).and_then(|node| sensitivity(node, problems)),
    })
}

type Choice<T> = Option<agent_text::Spanned<T>>;

fn residency(node: &Node<'_>, problems: &mut Problems<'_>) -> Choice<Residency> {
    choice(
        node,
        "residency",
        Residency::parse,
        Residency::names(),
        problems,
    )
}

fn sensitivity(node: &Node<'_>, problems: &mut Problems<'_>) -> Choice<Sensitivity> {
    choice(
        node,
        "sensitivity",
        Sensitivity::parse,
        Sensitivity::names(),
        problems,
    )
}

fn read_failure<'n>(
    node: &'n Node<'_>,
    path: &str,
    problems: &mut Problems<'_>,
) -> Option<Rejection<'n>> {
    let object = Object::of(node, path, node.span, problems)?;
    let field = |key: &str, problems: &mut Problems<'_>| {
        let entry = object.required(key, HINT, problems)?;
        Some(&entry.value)
    };
    let code = field("code", problems)?;
    match text(code, path, problems)? {
        "RESIDENCY_MISMATCH" => {
            let offered = field("offered", problems)?;
            let offered: Option<Vec<_>> = list(offered, path, problems)?
                .iter()
                .map(|node| residency(node, problems).map(|value| value.value))
                .collect();
            Some(Rejection::ResidencyMismatch {
                required: residency(field("required", problems)?, problems)?.value,
                offered: ResidencySet::new(offered?)?,
            })
        }
        "SENSITIVITY_EXCEEDED" => Some(Rejection::SensitivityExceeded {
            required: sensitivity(field("required", problems)?, problems)?.value,
            offered: sensitivity(field("offered", problems)?, problems)?.value,
        }),
        "UNSIGNED_NOT_ALLOWED" => Some(Rejection::UnsignedNotAllowed {
            publisher: text(field("publisher", problems)?, path, problems)?,
        }),
        _ => {
            invalid(problems, code.span, "no reason that a constraint gives");
            None
        }
    }
}

/// A required list, each element read by `item`. None if any can't be.
fn column<'n, 't, T, P: for<'p> Fn(&'n Node<'t>, &str, &mut Problems<'p>) -> Option<T>>(
    object: &Object<'n, 't>,
    key: &str,
    problems: &mut Problems<'_>,
    item: P,
) -> Option<Vec<T>> {
    let entry = object.required(key, HINT, problems)?;
    let path = object.path(key);
    let items = list(&entry.value, &path, problems)?;
    items
        .iter()
        .map(|node| item(node, &path, problems))
        .collect()
}

fn number(node: &Node<'_>, path: &str, problems: &mut Problems<'_>) -> Option<usize> {
    let Value::Number(number) = node.value else {
        wrong_type(problems, node.span, path, "a number", "something else");
        return None;
    };
    number.parse().ok().or_else(|| {
        invalid(problems, node.span, "no number of a list");
        None
    })
}

fn number_below(
    limit: usize,
    node: &Node<'_>,
    path: &str,
    problems: &mut Problems<'_>,
) -> Option<usize> {
    number(node, path, problems).filter(|number| {
        let within = *number < limit;
        if !within {
            invalid(problems, node.span, "behind the end of its list");
        }
        within
    })
}

fn invalid(problems: &mut Problems<'_>, span: Span, label: &str) {
    problems
        .report(
            Code::UnknownValue,
            span,
            label,
            "this is no compact explanation",
        )
        .help(HINT);
}
