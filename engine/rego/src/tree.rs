//! What a policy says, as far as the engine looks into it.

use agent_text::Span;

/// A value, or what stands for values.
#[derive(Debug)]
pub(crate) struct Expr {
    /// With the parentheses around it.
    pub(crate) span: Span,
    /// How many expressions stand in one another here, at most.
    pub(crate) depth: u32,
    pub(crate) kind: ExprKind,
}

/// The kinds of expressions.
#[derive(Debug)]
pub(crate) enum ExprKind {
    /// A string, as it reads.
    Text(String),
    /// A number, a boolean or null.
    Scalar,
    /// A name.
    Name(String),
    /// `[a, b]`.
    Array(Vec<Expr>),
    /// `{a, b}` and `set()`.
    Set(Vec<Expr>),
    /// `{a: b}`.
    Object(Vec<(Expr, Expr)>),
    /// `[a | …]`.
    ArrayOf(Box<Expr>, Query),
    /// `{a | …}`.
    SetOf(Box<Expr>, Query),
    /// `{a: b | …}`.
    ObjectOf(Box<Expr>, Box<Expr>, Query),
    /// `f(a, b)`.
    Call(Box<Expr>, Vec<Expr>),
    /// `a.b`.
    Field(Box<Expr>, String),
    /// `a[b]`.
    Index(Box<Expr>, Box<Expr>),
    /// `a + b`, `a == b`, …
    Binary(Box<Expr>, Op, Box<Expr>),
    /// `a in b` and `k, a in b`.
    In(Option<Box<Expr>>, Box<Expr>, Box<Expr>),
    /// `-a`.
    Minus(Box<Expr>),
}

/// The operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    /// `==`, `!=`.
    Equal,
    /// `<`, `<=`, `>`, `>=`.
    Order,
    /// `*`.
    Times,
    /// `-`, `|` and `&`, which take sets.
    Sets,
    /// `+`, `/` and `%`.
    Other,
}

/// Statements that have to hold together.
#[derive(Debug)]
pub(crate) struct Query {
    /// From the first statement to the end of the last.
    pub(crate) span: Span,
    pub(crate) statements: Vec<Statement>,
}

/// One of them.
#[derive(Debug)]
pub(crate) struct Statement {
    pub(crate) span: Span,
    pub(crate) kind: StatementKind,
    /// `with a as b`.
    pub(crate) with: Vec<(Expr, Expr)>,
}

/// The kinds of statements.
#[derive(Debug)]
pub(crate) enum StatementKind {
    /// `some a, b`.
    Some(Vec<String>),
    /// `some k, a in b`.
    SomeIn(Option<Expr>, Expr, Expr),
    /// `every k, a in b { … }`.
    Every(Vec<String>, Expr, Query),
    /// `a` and `not a`.
    Holds(Expr),
    /// `a := b` (`declares`), `a = b` and `not a = b`.
    Unify {
        not: bool,
        declares: bool,
        left: Expr,
        right: Expr,
    },
}

/// A definition of a rule.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) span: Span,
    /// The name alone.
    pub(crate) name_span: Span,
    /// The name as it is referred to within its package: `a` and `a.b` have one and two parts.
    /// What follows in brackets is not in it.
    pub(crate) name: Vec<String>,
    /// The expressions in the brackets of the head.
    pub(crate) keys: Vec<Expr>,
    pub(crate) default: bool,
    /// Those of a function.
    pub(crate) parameters: Option<Vec<Expr>>,
    /// Behind `contains`.
    pub(crate) element: Option<Expr>,
    /// Behind `:=`.
    pub(crate) value: Option<Expr>,
    /// The first, and those behind `else`.
    pub(crate) bodies: Vec<Body>,
}

/// What has to hold for a rule, or behind an `else`.
#[derive(Debug)]
pub(crate) struct Body {
    /// Behind `else :=`.
    pub(crate) value: Option<Expr>,
    pub(crate) query: Option<Query>,
    /// Whether the query stands in braces.
    pub(crate) braced: bool,
}

/// `import data.a as b`.
#[derive(Debug)]
pub(crate) struct Import {
    pub(crate) path: Vec<String>,
    /// Under which name.
    pub(crate) name: String,
}

/// A policy.
#[derive(Debug)]
pub(crate) struct Module {
    /// Without `data`.
    pub(crate) package: Vec<String>,
    pub(crate) package_span: Span,
    pub(crate) imports: Vec<Import>,
    pub(crate) rules: Vec<Rule>,
}

impl Expr {
    /// Whether it is a value that is written out and has no parts.
    pub(crate) fn is_scalar(&self) -> bool {
        match &self.kind {
            ExprKind::Text(_) | ExprKind::Scalar => true,
            ExprKind::Minus(inner) => inner.is_scalar(),
            _ => false,
        }
    }

    /// Whether it is written out with all its parts.
    pub(crate) fn is_literal(&self) -> bool {
        match &self.kind {
            ExprKind::Array(items) | ExprKind::Set(items) => items.iter().all(Self::is_literal),
            ExprKind::Object(fields) => fields
                .iter()
                .all(|(key, value)| key.is_literal() && value.is_literal()),
            _ => self.is_scalar(),
        }
    }

    /// The names along a path such as `data.a["b"]`, if it is one: known are those before the
    /// first that is not written out, and whether those are all.
    pub(crate) fn path(&self) -> Option<(Vec<&str>, bool)> {
        match &self.kind {
            ExprKind::Name(name) => Some((vec![name], true)),
            ExprKind::Field(of, name) => {
                let (mut path, whole) = of.path()?;
                if whole {
                    path.push(name);
                }
                Some((path, whole))
            }
            ExprKind::Index(of, key) => {
                let (mut path, whole) = of.path()?;
                match &key.kind {
                    ExprKind::Text(name) if whole => {
                        path.push(name);
                        Some((path, true))
                    }
                    _ => Some((path, false)),
                }
            }
            _ => None,
        }
    }

    /// The expressions that are its parts. Those in a query are in its statements.
    pub(crate) fn parts(&self) -> Vec<&Self> {
        match &self.kind {
            ExprKind::Text(_) | ExprKind::Scalar | ExprKind::Name(_) => Vec::new(),
            ExprKind::Array(items) | ExprKind::Set(items) => items.iter().collect(),
            ExprKind::Object(fields) => fields.iter().flat_map(|(k, v)| [k, v]).collect(),
            ExprKind::ArrayOf(term, _) | ExprKind::SetOf(term, _) => vec![term],
            ExprKind::ObjectOf(key, value, _) => vec![key, value],
            ExprKind::Call(function, arguments) => {
                let mut parts = vec![&**function];
                parts.extend(arguments);
                parts
            }
            ExprKind::Field(of, _) | ExprKind::Minus(of) => vec![of],
            ExprKind::Index(of, key) => vec![of, key],
            ExprKind::Binary(left, _, right) => vec![left, right],
            ExprKind::In(key, value, of) => {
                let mut parts: Vec<&Self> = key.iter().map(|key| &**key).collect();
                parts.extend([&**value, &**of]);
                parts
            }
        }
    }

    /// The query of a comprehension.
    pub(crate) fn query(&self) -> Option<&Query> {
        match &self.kind {
            ExprKind::ArrayOf(_, query)
            | ExprKind::SetOf(_, query)
            | ExprKind::ObjectOf(_, _, query) => Some(query),
            _ => None,
        }
    }
}

impl Statement {
    /// Its expressions, and the query within it.
    pub(crate) fn parts(&self) -> (Vec<&Expr>, Option<&Query>) {
        let (mut parts, query) = match &self.kind {
            StatementKind::Some(_) => (Vec::new(), None),
            StatementKind::SomeIn(key, value, of) => {
                let mut parts: Vec<&Expr> = key.iter().collect();
                parts.extend([value, of]);
                (parts, None)
            }
            StatementKind::Every(_, of, query) => (vec![of], Some(query)),
            StatementKind::Holds(expr) => (vec![expr], None),
            StatementKind::Unify { left, right, .. } => (vec![left, right], None),
        };
        parts.extend(self.with.iter().flat_map(|(target, value)| [target, value]));
        (parts, query)
    }
}

impl Rule {
    /// The expressions of the rule outside its queries, and its queries.
    pub(crate) fn parts(&self) -> (Vec<&Expr>, Vec<&Query>) {
        let mut parts: Vec<&Expr> = self.keys.iter().collect();
        parts.extend(self.parameters.iter().flatten());
        parts.extend(&self.element);
        parts.extend(&self.value);
        parts.extend(self.bodies.iter().filter_map(|body| body.value.as_ref()));
        let queries = self.bodies.iter().filter_map(|body| body.query.as_ref());
        (parts, queries.collect())
    }
}

/// Call a function for each of some expressions and for all within them, outermost first.
pub(crate) fn visit<'e>(roots: (Vec<&'e Expr>, Vec<&'e Query>), each: &mut dyn FnMut(&'e Expr)) {
    // The depth of a tree is limited when it is read.
    for expr in roots.0 {
        each(expr);
        visit((expr.parts(), expr.query().into_iter().collect()), each);
    }
    for query in roots.1 {
        for statement in &query.statements {
            let (parts, inner) = statement.parts();
            visit((parts, inner.into_iter().collect()), each);
        }
    }
}
