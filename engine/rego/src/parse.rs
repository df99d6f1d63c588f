//! The parser of Rego.
//!
//! The evaluator parses a policy again. Three properties of its parser make this one necessary:
//! its time grows exponentially with the nesting of brackets, chains of operators and calls
//! overflow its stack, and its trees lack the places of parentheses and objects.

use super::exact::{is_rounded, not_exact};
use super::token::{Kind, Token, tokens};
use super::tree::{
    Body, Expr, ExprKind, Import, Module, Op, Parts, Query, Rule, Statement, StatementKind,
};
use agent_diagnostic::{Code, Problems};
use agent_text::Span;
use std::collections::BTreeSet;

/// Maximum nesting of brackets. The evaluator's parser reads the inside of a bracket up to three
/// times.
pub const NESTING_LIMIT: u32 = 12;

/// Maximum nesting of expressions. Each link of a chain of operators or fields counts.
pub const DEPTH_LIMIT: u32 = 64;

/// Maximum tokens that the evaluator's parser reads, counting repetitions.
const REPEATS_LIMIT: u64 = 4_000_000;

/// Maximum names in the path of a package or an import.
const PATH_LIMIT: usize = 32;

/// Maximum number of syntax errors that are reported.
const ERRORS_LIMIT: usize = 20;

/// What could be read of a policy. A broken rule is left out.
pub(super) struct Parse {
    pub(super) module: Module,
    /// The first name of each broken rule, or `None` if no rule is broken.
    pub(super) broken: Option<BTreeSet<String>>,
}

/// The problem that ends the parsing of a rule.
struct ParseError {
    span: Span,
    message: String,
    help: Option<&'static str>,
    code: Code,
}

impl ParseError {
    fn help(self, help: &'static str) -> Self {
        Self {
            help: Some(help),
            ..self
        }
    }
}

type Parsed<T> = Result<T, ParseError>;

/// Parses a policy, and reports one problem for each broken rule. Returns `None` if nothing can be read.
pub(super) fn parse(problems: &mut Problems<'_>) -> Option<Parse> {
    let text = problems.text().as_str();
    let mut errors = Vec::new();
    let parse = match tokens(text) {
        Ok(tokens) => Parser {
            text,
            tokens: &tokens,
            at: 0,
            nesting: 0,
        }
        .module(&mut errors),
        Err(bad) => {
            errors.push(error(bad.span, bad.reason));
            None
        }
    };
    // Behind a bracket that is not closed, each rule would be an error.
    if let Some(unclosed) = (!errors.is_empty()).then(|| unclosed(text)).flatten() {
        errors.retain(|it| it.span.start < unclosed.span.start);
        errors.push(unclosed);
    }
    for error in errors {
        let report = problems.report(error.code, error.span, "here", error.message);
        if let Some(help) = error.help {
            report.help(help);
        }
    }
    parse
}

/// Returns the error of the last bracket that no other closes, which the parser notices elsewhere. Behind a
/// quote that is not closed no bracket is known.
fn unclosed(text: &str) -> Option<ParseError> {
    let mut open = Vec::new();
    for token in tokens(text).ok()? {
        if let Kind::Bad(_) = token.kind {
            return None;
        }
        match token.span.of(text) {
            "(" | "[" | "{" => open.push(token.span),
            ")" | "]" | "}" => {
                open.pop()?;
            }
            _ => {}
        }
    }
    let span = open.pop()?;
    let (bracket, closing) = match span.of(text) {
        "(" => ("(", "close it with `)`"),
        "[" => ("[", "close it with `]`"),
        _ => ("{", "close it with `}`"),
    };
    Some(error(span, format!("`{bracket}` is not closed")).help(closing))
}

fn error(span: Span, message: impl Into<String>) -> ParseError {
    ParseError {
        span,
        message: message.into(),
        help: None,
        code: Code::PolicySyntax,
    }
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

/// Returns a binary operator, and how strongly it binds.
fn operator(sign: &str) -> Option<(u32, Op)> {
    Some(match sign {
        "==" => (0, Op::Equal),
        "!=" => (0, Op::Unequal),
        "<" | "<=" | ">" | ">=" => (0, Op::Order),
        "|" => (1, Op::Costly),
        "&" => (2, Op::Costly),
        "+" => (3, Op::Other),
        "-" => (3, Op::Costly),
        "*" => (4, Op::Costly),
        "/" | "%" => (4, Op::Other),
        _ => return None,
    })
}

impl<'t> Parser<'t> {
    fn token(&self) -> Token {
        // The last token is the end, which is never passed.
        self.tokens[self.at]
    }

    fn text(&self) -> &'t str {
        self.token().span.of(self.text)
    }

    /// Returns whether the token is this sign or keyword.
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

    /// Reads something after this sign or keyword, if that is here.
    fn after<T>(
        &mut self,
        text: &str,
        read: impl FnOnce(&mut Self) -> Parsed<T>,
    ) -> Parsed<Option<T>> {
        self.accept(text).then(|| read(self)).transpose()
    }

    fn expect(&mut self, text: &str) -> Parsed<Token> {
        if self.is(text) {
            Ok(self.next())
        } else {
            Err(self.unexpected(&format!("`{text}`")))
        }
    }

    fn unexpected(&self, expected: &str) -> ParseError {
        if let Kind::Bad(reason) = self.token().kind {
            let start = self.start();
            let width = self.text().chars().next().map_or(0, char::len_utf8);
            return error(Span::new(start, start + width), reason);
        }
        let found = match self.token().kind {
            Kind::End => "the end of the policy".to_owned(),
            _ => format!("`{}`", self.text().chars().take(40).collect::<String>()),
        };
        let message = format!("expected {expected}, found {found}");
        error(self.token().span, message)
    }

    /// Returns the end of the last token that was taken.
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

    /// Reads the inside of a bracket.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.nesting += 1;
        if self.nesting > NESTING_LIMIT {
            let message = format!("brackets are nested more than {NESTING_LIMIT} deep");
            let error = error(self.token().span, message);
            return Err(error.help("move the inside to a rule of its own"));
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
        expr.depth = 1 + depth(expr.parts());
        if expr.depth > DEPTH_LIMIT {
            let message = format!("expressions are nested more than {DEPTH_LIMIT} deep");
            let error = error(expr.span, message);
            return Err(error.help("move a part of it to a rule of its own"));
        }
        Ok(expr)
    }

    fn module(&mut self, errors: &mut Vec<ParseError>) -> Option<Parse> {
        let package = self.check_repeats().and_then(|()| self.package());
        let (package, package_span) = package.map_err(|error| errors.push(error)).ok()?;
        let mut module = Module {
            package,
            package_span,
            imports: Vec::new(),
            rules: Vec::new(),
        };
        let mut broken = BTreeSet::new();
        while self.token().kind != Kind::End {
            let start = self.at;
            let read = match self.accept("import") {
                true => self.import().map(|it| module.imports.extend(it)),
                false => self.rule().map(|it| module.rules.push(it)),
            };
            let Err(error) = read else { continue };
            let is_v0 = error.code == Code::PolicyV0;
            errors.push(error);
            if is_v0 || errors.len() == ERRORS_LIMIT {
                return None;
            }
            let mut words = self.tokens[start..].iter().map(|it| it.span.of(self.text));
            broken.extend(words.find(|it| *it != "default").map(str::to_owned));
            self.skip_rule();
        }
        Some(Parse {
            module,
            broken: (!errors.is_empty()).then_some(broken),
        })
    }

    fn package(&mut self) -> Parsed<(Vec<String>, Span)> {
        self.expect("package")?;
        let start = self.start();
        Ok((self.names()?, self.span_from(start)))
    }

    /// Passes the rest of a broken rule: up to the next line that begins with a word.
    fn skip_rule(&mut self) {
        self.nesting = 0;
        loop {
            let token = self.next();
            let start = self.start();
            let begins_line = self.token().new_line && self.text[..start].ends_with('\n');
            let begins_rule = begins_line && self.token().kind == Kind::Word && !self.is("else");
            if token.kind == Kind::End || begins_rule {
                return;
            }
        }
    }

    /// Checks how often the evaluator's parser reads the inside of brackets.
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
                let message = "the policy has too many tokens in nested brackets up to here";
                let error = error(token.span, message);
                return Err(error.help("move the inside to a rule of its own"));
            }
        }
        Ok(())
    }

    fn word(&mut self) -> Parsed<String> {
        if self.token().kind == Kind::Word {
            Ok(self.next().span.of(self.text).to_owned())
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

    /// Returns whether no space precedes the token.
    fn adjacent(&self) -> bool {
        self.start() == self.end()
    }

    /// Reads a path of literals such as `a.b["c"]`.
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
            if names.len() > PATH_LIMIT {
                return Err(self.unexpected("a path of at most 32 names"));
            }
        }
        Ok(names)
    }

    /// Reads an import. `rego.v1` and `future.keywords` change nothing here.
    fn import(&mut self) -> Parsed<Option<Import>> {
        let path = self.names()?;
        let own = self.after("as", Self::name)?;
        let name = own.or_else(|| path.last().cloned()).unwrap_or_default();
        let known = matches!(path[0].as_str(), "data" | "input");
        Ok(known.then_some(Import { path, name }))
    }

    fn string(&mut self) -> Parsed<String> {
        if self.token().kind != Kind::String {
            return Err(self.unexpected("a string"));
        }
        let span = self.next().span;
        unescape(span.of(self.text)).ok_or_else(|| {
            error(span, "the string has an escape that is not one of JSON")
                .help("write `\\\\` for a backslash, or put the string in backquotes")
        })
    }

    fn rule(&mut self) -> Parsed<Rule> {
        let start = self.start();
        let default = self.accept("default");
        let name_start = self.start();
        let mut name = vec![self.name()?];
        if matches!(name[0].as_str(), "input" | "data") {
            let message = format!("a rule can't be named `{}`", name[0]);
            return Err(error(self.span_from(name_start), message));
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
        let parameters = self.after("(", |this| this.list(")", Self::term))?;
        let (mut element, mut value, mut bodies) = (None, None, Vec::new());
        if !default {
            element = self.after("contains", Self::expression)?;
        }
        if element.is_none() {
            value = self.rule_value()?;
        }
        if !default {
            bodies = self.bodies()?;
        }
        if bodies.is_empty() && !default && self.is("{") {
            return Err(self.body_without_if());
        }
        if bodies.is_empty() && value.is_none() && element.is_none() {
            let help = "write `name if { … }` or `name := value`, as Rego v1 requires";
            return Err(self.unexpected("`if` or `:=`").help(help));
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

    /// Returns the error of a body without `if`: one of Rego v0, unless the policy has an `if`
    /// elsewhere.
    fn body_without_if(&self) -> ParseError {
        let mut tokens = self.tokens.iter();
        let is_v1 = tokens
            .any(|it| it.kind == Kind::Word && matches!(it.span.of(self.text), "if" | "contains"));
        if is_v1 {
            let help = "write `if` before the body";
            return self.unexpected("`if`").help(help);
        }
        let message = "the policy is written in Rego v0, which has no `if` before a body";
        ParseError {
            code: Code::PolicyV0,
            ..error(self.token().span, message)
        }
        .help("write `if` before each body and `contains` before each element of a set, for example with `opa fmt --v0-v1 --write policy.rego`")
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
        // A value may start with a brace as well, such as `{1} == x`.
        let start = (self.at, self.nesting);
        if self.accept("{") {
            match self.nested(|this| this.query("}")) {
                Ok(query) if self.accept("}") => {
                    return Ok(Body {
                        value,
                        query: Some(query),
                        braced: true,
                    });
                }
                // A value starts with an expression and a separator of members.
                Err(bad) if !(self.is(",") || self.is(":") || self.is("|")) => return Err(bad),
                _ => (self.at, self.nesting) = start,
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
                return Err(self.unexpected(&format!("`{end}` or a statement on its own line")));
            }
            statements.push(self.statement()?);
        }
        Ok(Query {
            span: self.span_from(start),
            statements,
        })
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let start = self.start();
        let kind = if self.accept("some") {
            self.some()?
        } else if self.accept("every") {
            self.every()?
        } else {
            let not = self.accept("not");
            let left = self.expression()?;
            let declares = self.is(":=");
            if self.accept(":=") || self.accept("=") {
                StatementKind::Unify {
                    not,
                    declares,
                    left,
                    right: self.expression()?,
                }
            } else {
                StatementKind::Holds(left)
            }
        };
        let mut with = Vec::new();
        while self.accept("with") {
            let target = self.term()?;
            self.expect("as")?;
            with.push((target, self.member()?));
        }
        Ok(Statement {
            span: self.span_from(start),
            kind,
            with,
        })
    }

    fn some(&mut self) -> Parsed<StatementKind> {
        let mut found = vec![self.term()?];
        while self.accept(",") {
            found.push(self.term()?);
        }
        if self.accept("in") {
            let of = self.binary(0)?;
            let mut found = found.into_iter();
            return match (found.next(), found.next(), found.next()) {
                (Some(value), None, None) => Ok(StatementKind::SomeIn(None, value, of)),
                (Some(key), Some(value), None) => Ok(StatementKind::SomeIn(Some(key), value, of)),
                _ => Err(error(of.span, "`some … in` takes one or two names")),
            };
        }
        let names = found.into_iter().map(|expr| match expr.kind {
            ExprKind::Name(name) => Ok(name),
            _ => Err(error(expr.span, "`some` takes only names")),
        });
        names.collect::<Parsed<_>>().map(StatementKind::Some)
    }

    fn every(&mut self) -> Parsed<StatementKind> {
        let mut names = vec![self.name()?];
        names.extend(self.after(",", Self::name)?);
        self.expect("in")?;
        let of = self.binary(0)?;
        self.expect("{")?;
        let query = self.nested(|this| this.query("}"))?;
        self.expect("}")?;
        Ok(StatementKind::Every(names, of, query))
    }

    /// Reads `a`, `a in b` or `k, a in b`, where a comma has no other meaning.
    fn expression(&mut self) -> Parsed<Expr> {
        let start = self.start();
        let mut expr = self.binary(0)?;
        let back = (self.at, self.nesting);
        if self.accept(",") {
            match self.binary(0) {
                Ok(value) if self.accept("in") => {
                    let of = self.binary(0)?;
                    let kind = ExprKind::In(Some(Box::new(expr)), Box::new(value), Box::new(of));
                    expr = self.expr(start, kind)?;
                }
                _ => (self.at, self.nesting) = back,
            }
        }
        self.membership(start, expr)
    }

    /// Reads a member of a list, where a comma separates members.
    fn member(&mut self) -> Parsed<Expr> {
        let start = self.start();
        let expr = self.binary(0)?;
        self.membership(start, expr)
    }

    fn membership(&mut self, start: usize, mut expr: Expr) -> Parsed<Expr> {
        while self.accept("in") {
            let of = self.binary(0)?;
            expr = self.expr(start, ExprKind::In(None, Box::new(expr), Box::new(of)))?;
        }
        Ok(expr)
    }

    /// Reads operands of operators that bind at least as strongly as those of a level.
    fn binary(&mut self, level: u32) -> Parsed<Expr> {
        let start = self.start();
        let mut expr = self.term()?;
        while let Some((found, op)) = operator(self.text()).filter(|(found, _)| *found >= level) {
            self.next();
            let right = self.binary(found + 1)?;
            let kind = ExprKind::Binary(Box::new(expr), op, Box::new(right));
            expr = self.expr(start, kind)?;
        }
        Ok(expr)
    }

    /// Reads a value with the fields, indices and arguments after it.
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
                let message = format!("unexpected space before `{}`", self.text());
                return Err(error(self.token().span, message));
            }
            let key = if self.accept(".") {
                if !self.adjacent() {
                    return Err(self.unexpected("a name right after the dot"));
                }
                let field = self.start();
                let word = self.word()?;
                self.expr(field, ExprKind::Text(word))?
            } else if self.accept("[") {
                let key = self.nested(Self::member)?;
                self.expect("]")?;
                callable = callable && matches!(key.kind, ExprKind::Text(_));
                key
            } else if callable && self.accept("(") {
                let arguments = self.list(")", Self::member)?;
                expr = self.expr(start, ExprKind::Call(Box::new(expr), arguments))?;
                callable = false;
                continue;
            } else {
                return Ok(expr);
            };
            expr = self.expr(start, ExprKind::Index(Box::new(expr), Box::new(key)))?;
        }
    }

    /// Reads items that commas separate, up to a closing bracket.
    fn list(&mut self, end: &str, item: fn(&mut Self) -> Parsed<Expr>) -> Parsed<Vec<Expr>> {
        self.nested(|this| {
            let mut items = Vec::new();
            while !this.is(end) {
                items.push(item(this)?);
                if !this.accept(",") {
                    break;
                }
            }
            this.expect(end)?;
            Ok(items)
        })
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let start = self.start();
        let kind = match self.token().kind {
            Kind::Number if is_rounded(self.text()) => {
                let error = error(self.token().span, not_exact(self.text()));
                return Err(error.help("write fewer digits, or compare strings"));
            }
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
            Kind::Word if self.is_empty_set() => {
                self.at += 3;
                ExprKind::List(Vec::new())
            }
            Kind::Word => ExprKind::Name(self.name()?),
            Kind::Sign if self.accept("[") => self.nested(Self::array)?,
            Kind::Sign if self.accept("{") => self.nested(Self::set_or_object)?,
            _ => return Err(self.unexpected("a value")),
        };
        self.expr(start, kind)
    }

    fn is_empty_set(&self) -> bool {
        let tokens = self.tokens[self.at..].iter().take(3);
        tokens
            .map(|token| token.span.of(self.text))
            .eq(["set", "(", ")"])
    }

    /// Reads the query of a comprehension up to its closing bracket, if there is one.
    fn comprehension(&mut self, end: &str) -> Parsed<Option<Query>> {
        if !self.accept("|") {
            return Ok(None);
        }
        let query = self.query(end)?;
        self.expect(end)?;
        Ok(Some(query))
    }

    fn array(&mut self) -> Parsed<ExprKind> {
        if self.accept("]") {
            return Ok(ExprKind::List(Vec::new()));
        }
        let first = self.first_member()?;
        if let Some(query) = self.comprehension("]")? {
            return Ok(comprehension(None, Some(first), query));
        }
        self.members(first, "]")
    }

    /// Reads the first value in a bracket. A bar after a term starts a comprehension.
    fn first_member(&mut self) -> Parsed<Expr> {
        let back = self.at;
        let term = self.term()?;
        if ["|", ",", "]", "}", ":"].iter().any(|sign| self.is(sign)) {
            return Ok(term);
        }
        self.at = back;
        self.member()
    }

    /// Reads the members of an array or a set after the first.
    fn members(&mut self, first: Expr, end: &str) -> Parsed<ExprKind> {
        let mut members = vec![first];
        while self.accept(",") && !self.is(end) {
            members.push(self.member()?);
        }
        self.expect(end)?;
        Ok(ExprKind::List(members))
    }

    fn set_or_object(&mut self) -> Parsed<ExprKind> {
        if self.accept("}") {
            return Ok(ExprKind::Object(Vec::new()));
        }
        let first = self.first_member()?;
        if let Some(query) = self.comprehension("}")? {
            return Ok(comprehension(Some(first), None, query));
        }
        if !self.accept(":") {
            return self.members(first, "}");
        }
        let value = self.first_member()?;
        if let Some(query) = self.comprehension("}")? {
            return Ok(comprehension(Some(first), Some(value), query));
        }
        let mut parts = vec![first, value];
        while self.accept(",") && !self.is("}") {
            parts.push(self.member()?);
            self.expect(":")?;
            parts.push(self.member()?);
        }
        self.expect("}")?;
        Ok(ExprKind::Object(parts))
    }
}

fn comprehension(key: Option<Expr>, value: Option<Expr>, query: Query) -> ExprKind {
    ExprKind::Comprehension {
        key: key.map(Box::new),
        value: value.map(Box::new),
        query,
    }
}

/// Returns the depth of the deepest of some parts.
fn depth((exprs, queries): Parts<'_>) -> u32 {
    let exprs = exprs.into_iter().map(|expr| expr.depth);
    let queries = queries.into_iter().map(|query| {
        let statements = query.statements.iter();
        1 + statements.map(|it| depth(it.parts())).max().unwrap_or(0)
    });
    exprs.chain(queries).max().unwrap_or(0)
}

/// Returns the text of a string in double quotes.
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
                // Halves of surrogate pairs are rare here, and compared with nothing.
                char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            c @ ('"' | '\\' | '/') => c,
            _ => return None,
        });
    }
    Some(text)
}
