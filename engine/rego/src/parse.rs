//! Tokens to a tree.
//!
//! The evaluator parses a policy again. It is read here first because the evaluator's parser takes
//! time that grows exponentially with the nesting, its trees have no limit of depth, and what it
//! says of a place is for people only.

use super::token::{Kind, Token, tokens};
use super::tree::{
    Body, Expr, ExprKind, Import, Module, Op, Query, Rule, Statement, StatementKind,
};
use agent_diagnostic::{Code, Problems};
use agent_text::Span;

/// How deep brackets may stand in one another. The evaluator's parser reads what is in a bracket
/// up to three times.
pub const NESTING_LIMIT: u32 = 12;

/// How deep expressions may stand in one another; a chain of operators or fields counts its links.
pub const DEPTH_LIMIT: u32 = 64;

/// How much reading again brackets may cost, in tokens.
const REPEATS_LIMIT: u64 = 4_000_000;

/// Why there is no tree.
struct Bad {
    span: Span,
    message: String,
    help: Option<&'static str>,
}

type Parsed<T> = Result<T, Bad>;

/// Read a policy. None if there is a problem, which is reported.
pub(super) fn parse(problems: &mut Problems<'_>) -> Option<Module> {
    let text = problems.text().as_str();
    let module = match tokens(text) {
        Ok(tokens) => Parser {
            text,
            tokens: &tokens,
            at: 0,
            nesting: 0,
        }
        .module(),
        Err(bad) => Err(Bad {
            span: bad.span,
            message: bad.reason.to_owned(),
            help: None,
        }),
    };
    module
        .map_err(|bad| {
            let report = problems.report(Code::PolicySyntax, bad.span, "here", bad.message);
            if let Some(help) = bad.help {
                report.help(help);
            }
        })
        .ok()
}

struct Parser<'t> {
    text: &'t str,
    tokens: &'t [Token],
    at: usize,
    nesting: u32,
}

const KEYWORDS: [&str; 15] = [
    "as", "contains", "default", "else", "every", "false", "if", "import", "in", "not", "null",
    "package", "some", "true", "with",
];

impl<'t> Parser<'t> {
    fn token(&self) -> Token {
        // The last token is the end, which is never passed.
        self.tokens[self.at]
    }

    fn text(&self) -> &'t str {
        self.token().span.of(self.text)
    }

    /// Whether the token is this sign or keyword.
    fn is(&self, text: &str) -> bool {
        matches!(self.token().kind, Kind::Sign | Kind::Word) && self.text() == text
    }

    fn next(&mut self) -> Token {
        let token = self.token();
        if token.kind != Kind::End {
            self.at += 1;
        }
        token
    }

    fn accept(&mut self, text: &str) -> bool {
        let found = self.is(text);
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, text: &str) -> Parsed<Token> {
        if self.is(text) {
            Ok(self.next())
        } else {
            Err(self.unexpected(&format!("`{text}`")))
        }
    }

    fn unexpected(&self, expected: &str) -> Bad {
        let found = match self.token().kind {
            Kind::End => "the end of the policy".to_owned(),
            _ => format!("`{}`", self.text().chars().take(40).collect::<String>()),
        };
        Bad {
            span: self.token().span,
            message: format!("{expected} is expected, and {found} is found"),
            help: None,
        }
    }

    /// Where the last token that was taken ends.
    fn end(&self) -> usize {
        self.at
            .checked_sub(1)
            .map_or(0, |last| self.tokens[last].span.end as usize)
    }

    fn span_from(&self, start: usize) -> Span {
        Span::new(start, self.end().max(start))
    }

    fn start(&self) -> usize {
        self.token().span.start as usize
    }

    /// What stands in brackets.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.nesting += 1;
        if self.nesting > NESTING_LIMIT {
            return Err(Bad {
                span: self.token().span,
                message: format!("brackets stand more than {NESTING_LIMIT} deep in one another"),
                help: Some("give what is inside a name, in a rule of its own"),
            });
        }
        let read = read(self);
        self.nesting -= 1;
        read
    }

    fn expr(&self, start: usize, kind: ExprKind) -> Parsed<Expr> {
        let mut expr = Expr {
            span: self.span_from(start),
            depth: 0,
            kind,
        };
        let parts = expr.parts().into_iter().map(|part| part.depth).max();
        let query = expr.query().map(|query| query_depth(query) + 1);
        expr.depth = 1 + parts.max(query).unwrap_or(0);
        if expr.depth > DEPTH_LIMIT {
            return Err(Bad {
                span: expr.span,
                message: format!("expressions stand more than {DEPTH_LIMIT} deep in one another"),
                help: Some("give a part of it a name, in a rule of its own"),
            });
        }
        Ok(expr)
    }

    fn module(&mut self) -> Parsed<Module> {
        self.check_repeats()?;
        self.expect("package")?;
        let package_start = self.start();
        let package = self.names()?;
        let package_span = self.span_from(package_start);
        let mut imports = Vec::new();
        while self.is("import") {
            imports.extend(self.import()?);
        }
        let mut rules = Vec::new();
        while self.token().kind != Kind::End {
            rules.push(self.rule()?);
        }
        Ok(Module {
            package,
            package_span,
            imports,
            rules,
        })
    }

    /// Every bracket is read up to three times by the evaluator's parser, and so is what is in it.
    fn check_repeats(&self) -> Parsed<()> {
        let (mut depth, mut repeats) = (0_u32, 0_u64);
        for token in self.tokens {
            if token.kind == Kind::Sign {
                match token.span.of(self.text) {
                    "{" | "[" | "(" => depth += 1,
                    "}" | "]" | ")" => depth = depth.saturating_sub(1),
                    _ => {}
                }
            }
            repeats += 3_u64.pow(depth.min(NESTING_LIMIT));
            if repeats > REPEATS_LIMIT {
                return Err(Bad {
                    span: token.span,
                    message: "the policy has too much in nested brackets up to here".to_owned(),
                    help: Some("give what is inside a name, in a rule of its own"),
                });
            }
        }
        Ok(())
    }

    fn word(&mut self) -> Parsed<String> {
        if self.token().kind == Kind::Word {
            let word = self.text().to_owned();
            self.next();
            Ok(word)
        } else {
            Err(self.unexpected("a name"))
        }
    }

    fn name(&mut self) -> Parsed<String> {
        // `contains` is the name of a built-in as well.
        if KEYWORDS.contains(&self.text()) && !self.is("contains") {
            return Err(self.unexpected("a name"));
        }
        self.word()
    }

    /// Whether the token follows the one before without a space.
    fn adjacent(&self) -> bool {
        self.start() == self.end()
    }

    /// `a.b["c"]`, all of it written out.
    fn names(&mut self) -> Parsed<Vec<String>> {
        let mut names = vec![self.name()?];
        while self.adjacent() {
            if self.accept(".") {
                names.push(self.word()?);
            } else if self.accept("[") {
                names.push(self.string()?);
                self.expect("]")?;
            } else {
                break;
            }
            if names.len() > 32 {
                return Err(self.unexpected("a path of at most 32 names"));
            }
        }
        Ok(names)
    }

    fn import(&mut self) -> Parsed<Option<Import>> {
        self.expect("import")?;
        let path = self.names()?;
        let own = if self.accept("as") {
            Some(self.name()?)
        } else {
            None
        };
        if !matches!(path[0].as_str(), "data" | "input") {
            // `rego.v1` and `future.keywords` change nothing here.
            return Ok(None);
        }
        let name = own.or_else(|| path.last().cloned()).unwrap_or_default();
        Ok(Some(Import { path, name }))
    }

    fn string(&mut self) -> Parsed<String> {
        if self.token().kind != Kind::String {
            return Err(self.unexpected("a string"));
        }
        let token = self.next();
        unescape(token.span.of(self.text)).ok_or(Bad {
            span: token.span,
            message: "the string has an escape that JSON does not know".to_owned(),
            help: Some("write `\\\\` for a backslash, or put the string in backquotes"),
        })
    }

    fn rule(&mut self) -> Parsed<Rule> {
        let start = self.start();
        let default = self.accept("default");
        let name_start = self.start();
        let mut name = vec![self.name()?];
        if matches!(name[0].as_str(), "input" | "data") {
            return Err(Bad {
                span: self.span_from(name_start),
                message: format!("no rule can be named `{}`", name[0]),
                help: None,
            });
        }
        let mut keys = Vec::new();
        while self.adjacent() && (self.is(".") || self.is("[")) {
            if self.accept(".") {
                let word = self.word()?;
                if keys.is_empty() {
                    name.push(word);
                }
            } else {
                self.next();
                let key = self.nested(Self::expression)?;
                self.expect("]")?;
                match key.kind {
                    ExprKind::Text(word) if keys.is_empty() => name.push(word),
                    _ => keys.push(key),
                }
            }
        }
        let name_span = self.span_from(name_start);
        let parameters = if self.accept("(") {
            Some(self.list(")", Self::term)?)
        } else {
            None
        };
        let element = if !default && self.accept("contains") {
            Some(self.expression()?)
        } else {
            None
        };
        let value = if element.is_none() {
            self.rule_value()?
        } else {
            None
        };
        let bodies = if default { Vec::new() } else { self.bodies()? };
        if bodies.is_empty() && value.is_none() && element.is_none() {
            return Err(Bad {
                help: Some("since Rego v1 a rule reads `name if { … }` or `name := value`"),
                ..self.unexpected("`if` or `:=`")
            });
        }
        Ok(Rule {
            span: self.span_from(start),
            name_span,
            name,
            keys,
            default,
            parameters,
            element,
            value,
            bodies,
        })
    }

    fn rule_value(&mut self) -> Parsed<Option<Expr>> {
        if self.accept(":=") || self.accept("=") {
            self.expression().map(Some)
        } else {
            Ok(None)
        }
    }

    fn bodies(&mut self) -> Parsed<Vec<Body>> {
        let mut bodies = Vec::new();
        if !self.accept("if") {
            return Ok(bodies);
        }
        bodies.push(self.body(None)?);
        while self.accept("else") {
            let value = self.rule_value()?;
            if self.accept("if") {
                bodies.push(self.body(value)?);
            } else if value.is_some() {
                bodies.push(Body {
                    value,
                    query: None,
                    braced: false,
                });
                break;
            } else {
                return Err(self.unexpected("`if` or `:=`"));
            }
        }
        Ok(bodies)
    }

    fn body(&mut self, value: Option<Expr>) -> Parsed<Body> {
        // What starts with a brace may be a value as well, such as `{1} == x`.
        let start = self.at;
        if self.is("{") {
            let nesting = self.nesting;
            self.next();
            let query = self.nested(|this| this.query("}"));
            let closed = query.is_ok() && self.accept("}");
            match query {
                Ok(query) if closed => {
                    return Ok(Body {
                        value,
                        query: Some(query),
                        braced: true,
                    });
                }
                // A value starts with an expression and what separates its members.
                Err(bad) if !(self.is(",") || self.is(":") || self.is("|")) => return Err(bad),
                _ => (self.at, self.nesting) = (start, nesting),
            }
        }
        let statement = self.statement()?;
        Ok(Body {
            value,
            query: Some(Query {
                span: statement.span,
                statements: vec![statement],
            }),
            braced: false,
        })
    }

    fn query(&mut self, end: &str) -> Parsed<Query> {
        let start = self.start();
        let mut statements = vec![self.statement()?];
        while !self.is(end) && self.token().kind != Kind::End {
            if !self.accept(";") && !self.token().new_line {
                return Err(
                    self.unexpected(&format!("`{end}` or a statement on a line of its own"))
                );
            }
            statements.push(self.statement()?);
        }
        let last = statements
            .last()
            .map_or(start, |last| last.span.end as usize);
        Ok(Query {
            span: Span::new(start, last),
            statements,
        })
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let start = self.start();
        let kind = if self.is("some") {
            self.some()?
        } else if self.is("every") {
            self.every()?
        } else {
            let not = self.accept("not");
            let left = self.expression()?;
            let declares = self.is(":=");
            if self.accept(":=") || self.accept("=") {
                let right = self.expression()?;
                StatementKind::Unify {
                    not,
                    declares,
                    left,
                    right,
                }
            } else {
                StatementKind::Holds(left)
            }
        };
        let mut with = Vec::new();
        while self.accept("with") {
            let target = self.term()?;
            self.expect("as")?;
            with.push((target, self.membership(false)?));
        }
        Ok(Statement {
            span: self.span_from(start),
            kind,
            with,
        })
    }

    fn some(&mut self) -> Parsed<StatementKind> {
        self.expect("some")?;
        let mut found = vec![self.term()?];
        while self.accept(",") {
            found.push(self.term()?);
        }
        if self.accept("in") {
            let of = self.comparison()?;
            let mut found = found.into_iter();
            return match (found.next(), found.next(), found.next()) {
                (Some(value), None, None) => Ok(StatementKind::SomeIn(None, value, of)),
                (Some(key), Some(value), None) => Ok(StatementKind::SomeIn(Some(key), value, of)),
                _ => Err(Bad {
                    span: of.span,
                    message: "`some … in` takes one name or two".to_owned(),
                    help: None,
                }),
            };
        }
        let names = found.into_iter().map(|expr| match expr.kind {
            ExprKind::Name(name) => Ok(name),
            _ => Err(Bad {
                span: expr.span,
                message: "`some` declares names".to_owned(),
                help: None,
            }),
        });
        names.collect::<Parsed<_>>().map(StatementKind::Some)
    }

    fn every(&mut self) -> Parsed<StatementKind> {
        self.expect("every")?;
        let mut names = vec![self.name()?];
        if self.accept(",") {
            names.push(self.name()?);
        }
        self.expect("in")?;
        let of = self.comparison()?;
        self.expect("{")?;
        let query = self.nested(|this| this.query("}"))?;
        self.expect("}")?;
        Ok(StatementKind::Every(names, of, query))
    }

    /// Whatever may stand in parentheses.
    fn expression(&mut self) -> Parsed<Expr> {
        self.membership(true)
    }

    /// `a`, `a in b`, and `k, a in b` where a comma has no other meaning.
    fn membership(&mut self, pairs: bool) -> Parsed<Expr> {
        let start = self.start();
        let mut expr = self.comparison()?;
        if pairs && self.is(",") {
            let back = (self.at, self.nesting);
            self.next();
            let value = self.comparison();
            match value {
                Ok(value) if self.accept("in") => {
                    let of = self.comparison()?;
                    let kind = ExprKind::In(Some(Box::new(expr)), Box::new(value), Box::new(of));
                    expr = self.expr(start, kind)?;
                }
                _ => (self.at, self.nesting) = back,
            }
        }
        while self.accept("in") {
            let of = self.comparison()?;
            expr = self.expr(start, ExprKind::In(None, Box::new(expr), Box::new(of)))?;
        }
        Ok(expr)
    }

    fn binary(
        &mut self,
        operators: &[(&str, Op)],
        operand: fn(&mut Self) -> Parsed<Expr>,
    ) -> Parsed<Expr> {
        let start = self.start();
        let mut expr = operand(self)?;
        while let Some((_, op)) = operators.iter().find(|(sign, _)| self.is(sign)) {
            self.next();
            let right = operand(self)?;
            let kind = ExprKind::Binary(Box::new(expr), *op, Box::new(right));
            expr = self.expr(start, kind)?;
        }
        Ok(expr)
    }

    fn comparison(&mut self) -> Parsed<Expr> {
        let operators = [
            ("==", Op::Equal),
            ("!=", Op::Equal),
            ("<", Op::Order),
            ("<=", Op::Order),
            (">", Op::Order),
            (">=", Op::Order),
        ];
        self.binary(&operators, Self::union)
    }

    fn union(&mut self) -> Parsed<Expr> {
        self.binary(&[("|", Op::Sets)], Self::intersection)
    }

    fn intersection(&mut self) -> Parsed<Expr> {
        self.binary(&[("&", Op::Sets)], Self::sum)
    }

    fn sum(&mut self) -> Parsed<Expr> {
        self.binary(&[("+", Op::Other), ("-", Op::Sets)], Self::product)
    }

    fn product(&mut self) -> Parsed<Expr> {
        let operators = [("*", Op::Times), ("/", Op::Other), ("%", Op::Other)];
        self.binary(&operators, Self::term)
    }

    /// A value with what follows it: fields, indices, arguments.
    fn term(&mut self) -> Parsed<Expr> {
        let start = self.start();
        if self.accept("(") {
            let inner = self.nested(Self::expression)?;
            self.expect(")")?;
            return Ok(Expr {
                span: self.span_from(start),
                ..inner
            });
        }
        if self.accept("-") {
            let inner = self.nested(Self::term)?;
            return self.expr(start, ExprKind::Minus(Box::new(inner)));
        }
        let mut expr = self.primary()?;
        let mut callable = matches!(expr.kind, ExprKind::Name(_));
        loop {
            if (self.is(".") || self.is("[")) && !self.adjacent() {
                if self.token().new_line {
                    return Ok(expr);
                }
                return Err(Bad {
                    span: self.token().span,
                    message: format!("a space stands before `{}`", self.text()),
                    help: None,
                });
            }
            if self.accept(".") {
                if !self.adjacent() {
                    return Err(self.unexpected("a name right behind the dot"));
                }
                let field = self.word()?;
                expr = self.expr(start, ExprKind::Field(Box::new(expr), field))?;
            } else if self.accept("[") {
                let key = self.nested(|this| this.membership(false))?;
                self.expect("]")?;
                callable = callable && matches!(key.kind, ExprKind::Text(_));
                expr = self.expr(start, ExprKind::Index(Box::new(expr), Box::new(key)))?;
            } else if callable && self.accept("(") {
                let arguments = self.list(")", |this| this.membership(false))?;
                expr = self.expr(start, ExprKind::Call(Box::new(expr), arguments))?;
                callable = false;
            } else {
                return Ok(expr);
            }
        }
    }

    /// What is separated by commas, up to a bracket.
    fn list(&mut self, end: &str, item: fn(&mut Self) -> Parsed<Expr>) -> Parsed<Vec<Expr>> {
        let items = self.nested(|this| {
            let mut items = Vec::new();
            while !this.is(end) {
                items.push(item(this)?);
                if !this.accept(",") {
                    break;
                }
            }
            Ok(items)
        })?;
        self.expect(end)?;
        Ok(items)
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let start = self.start();
        let kind = match self.token().kind {
            Kind::Number => {
                self.next();
                ExprKind::Scalar
            }
            Kind::String => ExprKind::Text(self.string()?),
            Kind::Raw => {
                let text = self.next().span.of(self.text);
                ExprKind::Text(text.trim_matches('`').to_owned())
            }
            Kind::Word if matches!(self.text(), "true" | "false" | "null") => {
                self.next();
                ExprKind::Scalar
            }
            Kind::Word if self.is("set") && self.is_empty_set() => {
                self.at += 3;
                ExprKind::Set(Vec::new())
            }
            Kind::Word => ExprKind::Name(self.name()?),
            Kind::Sign if self.is("[") => self.array()?,
            Kind::Sign if self.is("{") => self.set_or_object()?,
            _ => return Err(self.unexpected("a value")),
        };
        self.expr(start, kind)
    }

    fn is_empty_set(&self) -> bool {
        let sign = |at: usize| {
            let token = self.tokens.get(at);
            token.map_or("", |token| token.span.of(self.text))
        };
        sign(self.at + 1) == "(" && sign(self.at + 2) == ")"
    }

    /// The query behind the bar of a comprehension, which ends with a bracket.
    fn comprehension(&mut self, end: &str) -> Parsed<Query> {
        self.expect("|")?;
        let query = self.query(end)?;
        self.expect(end)?;
        Ok(query)
    }

    fn array(&mut self) -> Parsed<ExprKind> {
        self.expect("[")?;
        self.nested(|this| {
            if this.accept("]") {
                return Ok(ExprKind::Array(Vec::new()));
            }
            let (first, bar) = this.first_member()?;
            if bar {
                return Ok(ExprKind::ArrayOf(Box::new(first), this.comprehension("]")?));
            }
            Ok(ExprKind::Array(this.members(first, "]")?))
        })
    }

    /// The first value in a bracket, and whether it is the term of a comprehension.
    fn first_member(&mut self) -> Parsed<(Expr, bool)> {
        let back = self.at;
        let term = self.term()?;
        if self.is("|") {
            return Ok((term, true));
        }
        if self.is(",") || self.is("]") || self.is("}") || self.is(":") {
            return Ok((term, false));
        }
        self.at = back;
        Ok((self.membership(false)?, false))
    }

    fn members(&mut self, first: Expr, end: &str) -> Parsed<Vec<Expr>> {
        let mut items = vec![first];
        while self.accept(",") && !self.is(end) {
            items.push(self.membership(false)?);
        }
        self.expect(end)?;
        Ok(items)
    }

    fn set_or_object(&mut self) -> Parsed<ExprKind> {
        self.expect("{")?;
        self.nested(|this| {
            if this.accept("}") {
                return Ok(ExprKind::Object(Vec::new()));
            }
            let (first, bar) = this.first_member()?;
            if bar {
                return Ok(ExprKind::SetOf(Box::new(first), this.comprehension("}")?));
            }
            if !this.accept(":") {
                return Ok(ExprKind::Set(this.members(first, "}")?));
            }
            let (value, bar) = this.first_member()?;
            if bar {
                let query = this.comprehension("}")?;
                return Ok(ExprKind::ObjectOf(Box::new(first), Box::new(value), query));
            }
            let mut fields = vec![(first, value)];
            while this.accept(",") && !this.is("}") {
                let key = this.membership(false)?;
                this.expect(":")?;
                fields.push((key, this.membership(false)?));
            }
            this.expect("}")?;
            Ok(ExprKind::Object(fields))
        })
    }
}

/// How deep the expressions of a query are.
pub(super) fn query_depth(query: &Query) -> u32 {
    let depths = query.statements.iter().map(|statement| {
        let (parts, inner) = statement.parts();
        let parts = parts.into_iter().map(|part| part.depth).max().unwrap_or(0);
        parts.max(inner.map_or(0, |inner| query_depth(inner) + 1))
    });
    depths.max().unwrap_or(0)
}

/// What a string in double quotes says.
fn unescape(quoted: &str) -> Option<String> {
    let inner = quoted.strip_prefix('"')?.strip_suffix('"')?;
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        text.push(match rest.next()? {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let digits: String = rest.by_ref().take(4).collect();
                let unit = u32::from_str_radix(&digits, 16).ok()?;
                // Halves of pairs are rare here, and compared with nothing.
                char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            c @ ('"' | '\\' | '/') => c,
            _ => return None,
        });
    }
    Some(text)
}
