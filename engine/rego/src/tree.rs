//! The syntax tree of a policy, as far as the engine looks into it.

use agent_text::Span;

/// An expression.
#[derive(Debug)]
pub(crate) struct Expr {
    /// The place, with the parentheses around it.
    pub(crate) span: Span,
    /// The number of expressions that are nested here, at most.
    pub(crate) depth: u32,
    pub(crate) kind: ExprKind,
}

/// The kinds of expressions.
#[derive(Debug)]
pub(crate) enum ExprKind {
    /// A string without its escapes.
    Text(String),
    /// A number, a boolean or null.
    Scalar,
    /// A name.
    Name(String),
    /// `[a, b]`, `{a, b}` and `set()`.
    List(Vec<Expr>),
    /// `{a: b}`: keys and values in turn.
    Object(Vec<Expr>),
    /// `[value | …]`, `{key | …}` and `{key: value | …}`.
    Comprehension {
        key: Option<Box<Expr>>,
        value: Option<Box<Expr>>,
        query: Query,
    },
    /// `f(a, b)`.
    Call(Box<Expr>, Vec<Expr>),
    /// `a[b]`, and `a.b` with a string for `b`.
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
    /// `==`.
    Equal,
    /// `!=`.
    Unequal,
    /// `<`, `<=`, `>`, `>=`.
    Order,
    /// `*`, and `-`, `|` and `&`, which take sets: the operators whose cost depends on the values.
    Costly,
    /// `+`, `/` and `%`.
    Other,
}

/// Statements that must all hold.
#[derive(Debug)]
pub(crate) struct Query {
    /// From the first statement to the end of the last.
    pub(crate) span: Span,
    pub(crate) statements: Vec<Statement>,
}

/// A statement.
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
    /// The place of the name alone.
    pub(crate) name_span: Span,
    /// The name within its package: `a.b` has two parts. Parts in brackets are not included.
    pub(crate) name: Vec<String>,
    /// The expressions in the brackets of the head.
    pub(crate) keys: Vec<Expr>,
    pub(crate) default: bool,
    /// The parameters of a function.
    pub(crate) parameters: Option<Vec<Expr>>,
    /// The expression after `contains`.
    pub(crate) element: Option<Expr>,
    /// The expression after `:=`.
    pub(crate) value: Option<Expr>,
    /// The first body, and those after `else`.
    pub(crate) bodies: Vec<Body>,
}

/// The condition of a rule or of an `else`.
#[derive(Debug)]
pub(crate) struct Body {
    /// The expression after `else :=`.
    pub(crate) value: Option<Expr>,
    pub(crate) query: Option<Query>,
    /// Whether the query is in braces.
    pub(crate) braced: bool,
}

/// `import data.a as b`.
#[derive(Debug)]
pub(crate) struct Import {
    pub(crate) path: Vec<String>,
    /// The name of the path in the module.
    pub(crate) name: String,
}

/// A policy.
#[derive(Debug)]
pub(crate) struct Module {
    /// The path of the package, without `data`.
    pub(crate) package: Vec<String>,
    pub(crate) package_span: Span,
    pub(crate) imports: Vec<Import>,
    pub(crate) rules: Vec<Rule>,
}

/// The expressions directly in something, and the queries directly in it.
pub(crate) type Parts<'e> = (Vec<&'e Expr>, Vec<&'e Query>);

impl Expr {
    /// Returns whether it is a literal without parts.
    pub(crate) fn is_scalar(&self) -> bool {
        match &self.kind {
            ExprKind::Text(_) | ExprKind::Scalar => true,
            ExprKind::Minus(inner) => inner.is_scalar(),
            _ => false,
        }
    }

    /// Returns whether it is a literal with all its parts.
    pub(crate) fn is_literal(&self) -> bool {
        match &self.kind {
            ExprKind::List(parts) | ExprKind::Object(parts) => parts.iter().all(Self::is_literal),
            _ => self.is_scalar(),
        }
    }

    /// Returns the names along a path such as `data.a["b"]` up to the first that is not a literal,
    /// and whether those are all. Returns `None` if it is not a path.
    pub(crate) fn path(&self) -> Option<(Vec<&str>, bool)> {
        match &self.kind {
            ExprKind::Name(name) => Some((vec![name], true)),
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

    /// Calls a function for each name that the expression declares as a pattern, such as
    /// `[a, {"b": c}]`, and whether it is the name of the whole.
    pub(crate) fn declared<'e>(&'e self, each: &mut dyn FnMut(&'e str, bool)) {
        match &self.kind {
            ExprKind::Name(name) => each(name, true),
            ExprKind::List(parts) | ExprKind::Object(parts) => {
                for part in parts {
                    part.declared(&mut |name, _| each(name, false));
                }
            }
            _ => {}
        }
    }

    /// Returns the expressions directly in this one, and the query of a comprehension.
    pub(crate) fn parts(&self) -> Parts<'_> {
        let parts: Vec<&Self> = match &self.kind {
            ExprKind::Text(_) | ExprKind::Scalar | ExprKind::Name(_) => Vec::new(),
            ExprKind::List(parts) | ExprKind::Object(parts) => parts.iter().collect(),
            ExprKind::Comprehension { key, value, query } => {
                let parts = key.iter().chain(value).map(|part| &**part);
                return (parts.collect(), vec![query]);
            }
            ExprKind::Call(function, arguments) => {
                std::iter::once(&**function).chain(arguments).collect()
            }
            ExprKind::Minus(of) => vec![of],
            ExprKind::Index(left, right) | ExprKind::Binary(left, _, right) => vec![left, right],
            ExprKind::In(key, value, of) => {
                let parts = key.iter().chain([value, of]);
                parts.map(|part| &**part).collect()
            }
        };
        (parts, Vec::new())
    }
}

impl Statement {
    /// Returns the expressions directly in the statement, and the query of an `every`.
    pub(crate) fn parts(&self) -> Parts<'_> {
        let (mut parts, queries) = match &self.kind {
            StatementKind::Some(_) => (Vec::new(), Vec::new()),
            StatementKind::SomeIn(key, value, of) => {
                (key.iter().chain([value, of]).collect(), Vec::new())
            }
            StatementKind::Every(_, of, query) => (vec![of], vec![query]),
            StatementKind::Holds(expr) => (vec![expr], Vec::new()),
            StatementKind::Unify { left, right, .. } => (vec![left, right], Vec::new()),
        };
        parts.extend(self.with.iter().flat_map(|(target, value)| [target, value]));
        (parts, queries)
    }
}

impl Rule {
    fn parts(&self) -> Parts<'_> {
        let mut parts: Vec<&Expr> = self.keys.iter().collect();
        parts.extend(self.parameters.iter().flatten());
        parts.extend(self.element.iter().chain(&self.value));
        parts.extend(self.bodies.iter().filter_map(|body| body.value.as_ref()));
        let queries = self.bodies.iter().filter_map(|body| body.query.as_ref());
        (parts, queries.collect())
    }

    /// Calls a function for each expression of the rule, outermost first.
    pub(crate) fn visit<'e>(&'e self, each: &mut dyn FnMut(&'e Expr)) {
        walk(self.parts(), each, &mut |_| {});
    }

    /// Returns every query of the rule, however deep: of bodies, `every` and comprehensions.
    pub(crate) fn queries(&self) -> Vec<&Query> {
        let mut found = Vec::new();
        walk(self.parts(), &mut |_| {}, &mut |query| found.push(query));
        found
    }

    /// Returns every statement of the rule, however deep.
    pub(crate) fn statements(&self) -> impl Iterator<Item = &Statement> {
        self.queries()
            .into_iter()
            .flat_map(|query| &query.statements)
    }
}

/// The depth of a tree is limited when it is read.
fn walk<'e>(
    (exprs, queries): Parts<'e>,
    on_expr: &mut dyn FnMut(&'e Expr),
    on_query: &mut dyn FnMut(&'e Query),
) {
    for expr in exprs {
        on_expr(expr);
        walk(expr.parts(), on_expr, on_query);
    }
    for query in queries {
        on_query(query);
        for statement in &query.statements {
            walk(statement.parts(), on_expr, on_query);
        }
    }
}
