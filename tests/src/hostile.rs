//! Inputs that no file in a repository should hold: bytes that git, editors or reviewers would
//! mangle, and inputs of many megabytes. Made in code, each with what is expected of it.

use agent_api::diagnostic::{Code, Diagnostic, Severity};
use agent_api::lower::{self, Notation};

/// An input and what is expected of it.
pub struct Hostile {
    /// What is special about it.
    pub name: &'static str,
    /// What it is.
    pub kind: Kind,
    /// Makes it.
    pub make: Box<dyn Fn() -> Vec<u8>>,
    /// Every diagnostic, in order: code, line and column.
    pub expected: Vec<(Code, u32, u32)>,
}

/// What an input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `agents.md`
    Manifest,
    /// `mcp.index.json`
    Index,
    /// `agents.lock`
    Lock,
    /// A task.
    Task,
    /// The configuration of a tenant.
    Tenant,
    /// A snapshot of health.
    Health,
}

impl Hostile {
    /// What the engine says.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        fn of<T>(lowered: lower::Lowered<T>) -> Vec<Diagnostic> {
            match lowered {
                Ok(checked) => {
                    assert!(
                        checked
                            .warnings
                            .iter()
                            .all(|w| w.severity() == Severity::Warning)
                    );
                    checked.warnings
                }
                Err(found) => {
                    assert!(
                        found.iter().any(|d| d.severity() == Severity::Error),
                        "{found:?}"
                    );
                    found
                }
            }
        }
        let bytes = (self.make)();
        match self.kind {
            Kind::Manifest => of(lower::manifest(bytes)),
            Kind::Index => of(lower::index(bytes)),
            Kind::Lock => of(lower::lock(bytes)),
            Kind::Task => of(lower::task(bytes, Notation::ByContent)),
            Kind::Tenant => of(lower::tenant(bytes, Notation::ByContent, None)),
            Kind::Health => of(lower::health(bytes, Notation::ByContent)),
        }
    }
}

/// A manifest that is accepted without a warning.
pub const MANIFEST: &str = "\
---
name: a
version: 1.0.0
requires:
  mcp:
    - category: c
      permissions: [s]
---
";

/// An index that is accepted without a warning, and meets [`MANIFEST`].
pub const INDEX: &str = r#"[
{"id": "a", "version": "1", "endpoint": "e", "categories": ["c"], "scopes": ["s"],
 "data": {"residency": "any", "maxSensitivity": "public"},
 "trust": {"signed": true, "publisher": "p"}}
]
"#;

/// A lock that is accepted without a warning.
const LOCK: &str =
    r#"{"agent": {"name": "a", "version": "1"}, "forbid": [], "lockVersion": 1, "selections": []}"#;

/// Every case.
#[must_use]
pub fn cases() -> Vec<Hostile> {
    [
        encodings(),
        yaml(),
        json(),
        names(),
        limits(),
        locks(),
        tools(),
        tasks(),
        tenants_and_health(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

type Place = (Code, u32, u32);

fn case(
    kind: Kind,
    name: &'static str,
    make: impl Fn() -> Vec<u8> + 'static,
    expected: &[Place],
) -> Hostile {
    Hostile {
        name,
        kind,
        make: Box::new(make),
        expected: expected.to_vec(),
    }
}

/// [`MANIFEST`] with something in place of something.
fn manifest(
    name: &'static str,
    old: &'static str,
    new: &'static [u8],
    expected: &[Place],
) -> Hostile {
    case(
        Kind::Manifest,
        name,
        || replaced(MANIFEST, old, new),
        expected,
    )
}

/// [`INDEX`] with something in place of something.
fn index(name: &'static str, old: &'static str, new: &'static [u8], expected: &[Place]) -> Hostile {
    case(Kind::Index, name, || replaced(INDEX, old, new), expected)
}

/// A whole index.
fn whole(name: &'static str, text: &'static [u8], expected: &[Place]) -> Hostile {
    case(Kind::Index, name, || text.to_vec(), expected)
}

/// A text with `new` in place of the first `old`.
#[must_use]
pub fn replaced(text: &str, old: &str, new: &[u8]) -> Vec<u8> {
    let (before, behind) = text.split_once(old).expect("what is replaced is there");
    [before.as_bytes(), new, behind.as_bytes()].concat()
}

/// `prefix`, then `count` times `unit`, then `suffix`.
fn repeated(prefix: &str, unit: &str, count: usize, suffix: &str) -> Vec<u8> {
    format!("{prefix}{}{suffix}", unit.repeat(count)).into_bytes()
}

/// An input of exactly `len` bytes: `before`, filler, `behind`.
fn padded(before: &str, filler: u8, behind: &str, len: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(len);
    bytes.extend_from_slice(before.as_bytes());
    bytes.resize(len - behind.len(), filler);
    bytes.extend_from_slice(behind.as_bytes());
    bytes
}

fn encodings() -> Vec<Hostile> {
    use Code::{FrontmatterMissing, InvalidUtf8, JsonSyntax};
    use Kind::{Index, Manifest};
    vec![
        case(
            Manifest,
            "a byte order mark",
            || format!("\u{feff}{MANIFEST}").into(),
            &[],
        ),
        case(
            Manifest,
            "CRLF",
            || MANIFEST.replace('\n', "\r\n").into(),
            &[],
        ),
        case(
            Manifest,
            "a byte order mark and CRLF",
            || format!("\u{feff}{}", MANIFEST.replace('\n', "\r\n")).into(),
            &[],
        ),
        case(
            Manifest,
            "two byte order marks",
            || format!("\u{feff}\u{feff}{MANIFEST}").into(),
            &[(FrontmatterMissing, 1, 1)],
        ),
        // A CR alone ends no line, so that the first line is the whole text.
        case(
            Manifest,
            "CR alone",
            || MANIFEST.replace('\n', "\r").into(),
            &[(FrontmatterMissing, 1, 1)],
        ),
        case(
            Manifest,
            "UTF-16",
            || MANIFEST.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            &[(FrontmatterMissing, 1, 1)],
        ),
        case(
            Manifest,
            "UTF-16 with a byte order mark",
            || [b"\xff\xfe", MANIFEST.as_bytes()].concat(),
            &[(InvalidUtf8, 1, 1)],
        ),
        manifest(
            "a byte that is no UTF-8",
            "name: a",
            b"name: \xff",
            &[(InvalidUtf8, 2, 7)],
        ),
        manifest(
            "a character cut off",
            "name: a",
            b"name: \xc3",
            &[(InvalidUtf8, 2, 7)],
        ),
        manifest(
            "an overlong form",
            "name: a",
            b"name: \xc0\xaf",
            &[(InvalidUtf8, 2, 7)],
        ),
        manifest(
            "a surrogate in UTF-8",
            "name: a",
            b"name: \xed\xa0\x80",
            &[(InvalidUtf8, 2, 7)],
        ),
        manifest(
            "a byte that is no UTF-8 behind characters of several bytes",
            "name: a",
            b"name: \xc3\xa9\xf0\x9f\x98\x80\xff",
            &[(InvalidUtf8, 2, 9)],
        ),
        case(
            Manifest,
            "a body that is no UTF-8",
            || [MANIFEST.as_bytes(), b"\xe9t\xe9"].concat(),
            &[(InvalidUtf8, 9, 1)],
        ),
        case(
            Manifest,
            "NUL in the body",
            || format!("{MANIFEST}\0").into(),
            &[],
        ),
        case(
            Index,
            "a byte order mark",
            || format!("\u{feff}{INDEX}").into(),
            &[],
        ),
        case(Index, "CRLF", || INDEX.replace('\n', "\r\n").into(), &[]),
        whole(
            "a byte order mark and nothing else",
            b"\xef\xbb\xbf",
            &[(JsonSyntax, 1, 1)],
        ),
        whole(
            "UTF-16 with a byte order mark",
            b"\xff\xfe[\0]\0",
            &[(InvalidUtf8, 1, 1)],
        ),
        whole(
            "UTF-16 without a byte order mark",
            b"[\0]\0",
            &[(JsonSyntax, 1, 2)],
        ),
        index(
            "a byte that is no UTF-8",
            "\"p\"",
            b"\"\xff\"",
            &[(InvalidUtf8, 4, 42)],
        ),
        index(
            "a string cut off in a character",
            "\"p\"",
            b"\"\xc3\"",
            &[(InvalidUtf8, 4, 42)],
        ),
        index(
            "NUL in a string",
            "\"p\"",
            b"\"\0\"",
            &[(JsonSyntax, 4, 42)],
        ),
        index(
            "NUL between tokens",
            "[\"c\"]",
            b"[\0]",
            &[(JsonSyntax, 2, 61)],
        ),
        index(
            "a line end in a string",
            "\"p\"",
            b"\"a\nb\"",
            &[(JsonSyntax, 4, 43)],
        ),
        index(
            "DEL in a string",
            "\"trust\"",
            b"\"x\": \"\x7f\", \"trust\"",
            &[],
        ),
    ]
}

fn yaml() -> Vec<Hostile> {
    use Code::{
        DuplicateKey, EmptyValue, FrontmatterMissing, FrontmatterUnclosed, InvalidName,
        MissingField, NestingTooDeep, WrongType, YamlSyntax, YamlUnsupported,
    };
    use Kind::Manifest;
    vec![
        case(
            Manifest,
            "an empty file",
            Vec::new,
            &[(FrontmatterMissing, 1, 1)],
        ),
        case(
            Manifest,
            "only an opening line",
            || b"---".to_vec(),
            &[(FrontmatterUnclosed, 1, 1)],
        ),
        case(
            Manifest,
            "a missing closing line",
            || MANIFEST.strip_suffix("---\n").unwrap_or_default().into(),
            &[(FrontmatterUnclosed, 1, 1)],
        ),
        case(
            Manifest,
            "an empty frontmatter",
            || b"---\n---\n".to_vec(),
            &[
                (MissingField, 1, 1),
                (MissingField, 1, 1),
                (MissingField, 1, 1),
            ],
        ),
        manifest("NUL", "name: a", b"name: a\0b", &[(YamlSyntax, 2, 8)]),
        manifest(
            "an escaped NUL",
            "name: a",
            b"name: \"a\\0b\"",
            &[(InvalidName, 2, 7)],
        ),
        manifest(
            "a C1 control character",
            "name: a",
            "name: a\u{9b}".as_bytes(),
            &[(YamlSyntax, 2, 8)],
        ),
        manifest(
            "NEL, which YAML allows",
            "name: a",
            "name: \"a\u{85}b\"".as_bytes(),
            &[(InvalidName, 2, 7)],
        ),
        manifest("DEL", "name: a", b"name: a\x7f", &[(YamlSyntax, 2, 8)]),
        manifest(
            "a bell in colours",
            "name: a",
            b"name: \x1b[31ma\x07",
            &[(YamlSyntax, 2, 7)],
        ),
        manifest(
            "a line separator",
            "name: a",
            "name: a\u{2028}b".as_bytes(),
            &[],
        ),
        manifest(
            "a right-to-left override",
            "name: a",
            "name: \u{202e}a".as_bytes(),
            &[],
        ),
        manifest(
            "a tab as indentation",
            "  mcp:",
            b"\tmcp:",
            &[(YamlSyntax, 5, 2)],
        ),
        manifest(
            "a tab between key and value",
            "name: a",
            b"name:\ta",
            &[(YamlSyntax, 2, 7)],
        ),
        manifest(
            "an alias bomb",
            "name: a",
            b"a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a]\nc: &c [*b,*b,*b]\nname: *c",
            &[
                (YamlUnsupported, 2, 4),
                (YamlUnsupported, 3, 4),
                (YamlUnsupported, 3, 8),
                (YamlUnsupported, 3, 11),
                (YamlUnsupported, 3, 14),
                (YamlUnsupported, 4, 4),
                (YamlUnsupported, 4, 8),
                (YamlUnsupported, 4, 11),
                (YamlUnsupported, 4, 14),
                (YamlUnsupported, 5, 7),
            ],
        ),
        manifest(
            "a second document",
            "requires:",
            b"--- \x23 again\nrequires:",
            &[(YamlUnsupported, 4, 1)],
        ),
        manifest(
            "a directive",
            "name: a",
            b"%YAML 1.2\nname: a",
            &[(YamlSyntax, 3, 1)],
        ),
        manifest(
            "a directive with its document",
            "name: a",
            b"%YAML 1.2\n--- # here\nname: a",
            &[(YamlUnsupported, 3, 1)],
        ),
        manifest(
            "a document that begins with a mark",
            "name: a",
            b"--- # here\nname: a",
            &[(YamlUnsupported, 2, 1)],
        ),
        manifest(
            "a document that ends with a mark",
            "requires:",
            b"... # here\nrequires:",
            &[(YamlUnsupported, 5, 1)],
        ),
        manifest(
            "a binary tag",
            "name: a",
            b"name: !!binary aGVsbG8=",
            &[(YamlUnsupported, 2, 7)],
        ),
        manifest(
            "a key twice, once in quotes",
            "version: 1.0.0",
            b"version: 1.0.0\n\"name\": b",
            &[(DuplicateKey, 4, 1)],
        ),
        manifest(
            "the level 64 of nesting",
            "name: a",
            repeated("x: ", "[", 63, &"]".repeat(63)).leak(),
            &[(MissingField, 1, 1)],
        ),
        manifest(
            "the level 65 of nesting",
            "name: a",
            repeated("x: ", "[", 64, &"]".repeat(64)).leak(),
            &[(NestingTooDeep, 2, 67)],
        ),
        case(
            Manifest,
            "100,000 open brackets",
            || repeated("---\nx: ", "[", 100_000, "\n---\n"),
            // The parser looks ahead for a key, and ends at level 256 of its own.
            &[(NestingTooDeep, 2, 259)],
        ),
        case(
            Manifest,
            "100,000 open braces",
            || repeated("---\nx: ", "{a: ", 100_000, "\n---\n"),
            &[(NestingTooDeep, 2, 256)],
        ),
        case(
            Manifest,
            "100,000 dashes",
            || repeated("---\n", "- ", 100_000, "\n---\n"),
            &[(NestingTooDeep, 2, 129)],
        ),
        case(
            Manifest,
            "1,000 mappings inside each other in block style",
            || {
                let lines = (0..1_000).map(|depth| format!("{}a:\n", " ".repeat(depth)));
                format!("---\n{}---\n", lines.collect::<String>()).into_bytes()
            },
            &[(NestingTooDeep, 66, 65)],
        ),
        case(
            Manifest,
            "a million entries of one list",
            || {
                replaced(
                    MANIFEST,
                    "[s]",
                    repeated("[s", ",s", 1_000_000, "]").as_slice(),
                )
            },
            &[],
        ),
        case(
            Manifest,
            "a name of a megabyte",
            || {
                replaced(
                    MANIFEST,
                    "name: a",
                    repeated("name: ", "a", 1 << 20, "").as_slice(),
                )
            },
            &[],
        ),
        case(
            Manifest,
            "a wrong value of eight megabytes",
            || {
                replaced(
                    MANIFEST,
                    "requires:",
                    &repeated(
                        "constraints: {data: {residency: ",
                        "a",
                        8 << 20,
                        "}}\nrequires:",
                    ),
                )
            },
            &[(Code::UnknownValue, 4, 33)],
        ),
        case(
            Manifest,
            "an unknown key of eight megabytes",
            || {
                replaced(
                    MANIFEST,
                    "requires:",
                    &repeated("constraints:\n  ? ", "a", 8 << 20, "\n  : 1\nrequires:"),
                )
            },
            &[(Code::UnknownKey, 5, 5)],
        ),
        case(
            Manifest,
            "half a million unknown keys",
            || {
                let keys = (0..500_000).map(|n| format!("  k{n}: 1\n"));
                let constraints = format!("constraints:\n{}requires:", keys.collect::<String>());
                replaced(MANIFEST, "requires:", constraints.as_bytes())
            },
            // No more are listed, see `Problems::LIMIT`.
            &(0..1_000)
                .map(|n| (Code::UnknownKey, 5 + n, 3))
                .collect::<Vec<_>>(),
        ),
        case(
            Manifest,
            "a frontmatter of a scalar",
            || b"---\njust text\n---\n".to_vec(),
            &[(WrongType, 2, 1)],
        ),
        manifest(
            "an empty string",
            "name: a",
            b"name: ''",
            &[(EmptyValue, 2, 7)],
        ),
    ]
}

fn json() -> Vec<Hostile> {
    use Code::{
        DuplicateKey, JsonSyntax, LoneSurrogate, MissingField, NestingTooDeep, NumberOutOfRange,
        WrongType,
    };
    use Kind::Index;
    /// A server of [`INDEX`] with one more member in front of `trust`, at line 4, column 2.
    fn member(name: &'static str, member: &'static str, expected: &[Place]) -> Hostile {
        let new = format!("{member}, \"trust\"").into_bytes().leak();
        index(name, "\"trust\"", new, expected)
    }
    vec![
        whole("an empty file", b"", &[(JsonSyntax, 1, 1)]),
        whole("white space alone", b" \n\t\r\n ", &[(JsonSyntax, 3, 2)]),
        whole("a form feed", b"\x0c[]", &[(JsonSyntax, 1, 1)]),
        whole("a text cut off", b"[{\"id\": \"a", &[(JsonSyntax, 1, 11)]),
        whole("two values", b"[] []", &[(JsonSyntax, 1, 4)]),
        whole("a comment", b"[ // none\n]", &[(JsonSyntax, 1, 3)]),
        whole("a trailing comma", b"[],", &[(JsonSyntax, 1, 3)]),
        whole(
            "prose around the value",
            b"Here is the index: []",
            &[(JsonSyntax, 1, 1)],
        ),
        whole("no servers and an array of nothing", b"[]", &[]),
        whole("an empty object", b"{}", &[(MissingField, 1, 1)]),
        whole("a number", b"1", &[(WrongType, 1, 1)]),
        member(
            "a number of 30 digits",
            "\"x\": 123456789012345678901234567890",
            &[],
        ),
        member(
            "a number of 30 digits behind the point",
            "\"x\": 0.123456789012345678901234567890",
            &[],
        ),
        member("1e400", "\"x\": 1e400", &[(NumberOutOfRange, 4, 7)]),
        member("-1e400", "\"x\": -1e400", &[(NumberOutOfRange, 4, 7)]),
        member(
            "1e400 in two places",
            "\"x\": [1e400, 1E+400]",
            &[(NumberOutOfRange, 4, 8), (NumberOutOfRange, 4, 15)],
        ),
        member("the largest double", "\"x\": 1.7976931348623157e308", &[]),
        member(
            "the largest number that rounds to a double",
            "\"x\": 1.7976931348623158e308",
            &[],
        ),
        member(
            "the smallest number that does not",
            "\"x\": 1.7976931348623159e308",
            &[(NumberOutOfRange, 4, 7)],
        ),
        member("1e-400, which is zero", "\"x\": 1e-400", &[]),
        member(
            "an exponent of many digits",
            "\"x\": 1e99999999999999999999",
            &[(NumberOutOfRange, 4, 7)],
        ),
        member(
            "a negative exponent of many digits",
            "\"x\": 1e-99999999999999999999",
            &[],
        ),
        member(
            "an exponent of many digits of zero",
            "\"x\": 0e99999999999999999999",
            &[],
        ),
        case(
            Index,
            "308 digits",
            || {
                replaced(
                    INDEX,
                    "\"trust\"",
                    &repeated("\"x\": 1", "0", 308, ", \"trust\""),
                )
            },
            &[],
        ),
        case(
            Index,
            "310 digits",
            || {
                replaced(
                    INDEX,
                    "\"trust\"",
                    &repeated("\"x\": 1", "0", 309, ", \"trust\""),
                )
            },
            &[(NumberOutOfRange, 4, 7)],
        ),
        case(
            Index,
            "a million digits behind the point",
            || {
                replaced(
                    INDEX,
                    "\"trust\"",
                    &repeated("\"x\": 0.", "1", 1_000_000, ", \"trust\""),
                )
            },
            &[],
        ),
        member(
            "a key twice",
            "\"x\": 1, \"x\": 2",
            &[(DuplicateKey, 4, 10)],
        ),
        member(
            "a key three times",
            "\"x\": 1, \"x\": 2, \"x\": 3",
            &[(DuplicateKey, 4, 10), (DuplicateKey, 4, 18)],
        ),
        member(
            "a key twice, once escaped",
            "\"x\": 1, \"\\u0078\": 2",
            &[(DuplicateKey, 4, 10)],
        ),
        member(
            "a known key twice",
            "\"id\": \"b\"",
            &[(DuplicateKey, 4, 2)],
        ),
        member(
            "a known key twice, once escaped",
            "\"i\\u0064\": \"b\"",
            &[(DuplicateKey, 4, 2)],
        ),
        member(
            "a key twice far inside",
            "\"x\": [{\"y\": {\"z\": 1, \"z\": 1}}]",
            &[(DuplicateKey, 4, 23)],
        ),
        member(
            "equal keys in different objects",
            "\"x\": [{\"y\": 1}, {\"y\": 2}], \"y\": 3",
            &[],
        ),
        whole(
            "`servers` twice",
            b"{\"servers\": [], \"servers\": []}",
            &[(DuplicateKey, 1, 17)],
        ),
        member(
            "a high surrogate alone",
            "\"x\": \"\\ud800\"",
            &[(LoneSurrogate, 4, 8)],
        ),
        member(
            "a low surrogate alone",
            "\"x\": \"ab\\udc00\"",
            &[(LoneSurrogate, 4, 10)],
        ),
        member(
            "surrogates the wrong way round",
            "\"x\": \"\\udc00\\ud800\"",
            &[(LoneSurrogate, 4, 8), (LoneSurrogate, 4, 14)],
        ),
        member(
            "two high surrogates and a low one",
            "\"x\": \"\\ud83d\\ud83d\\ude00\"",
            &[(LoneSurrogate, 4, 8)],
        ),
        member(
            "a high surrogate and another escape",
            "\"x\": \"\\ud800\\n\"",
            &[(LoneSurrogate, 4, 8)],
        ),
        member(
            "a surrogate alone in a key",
            "\"\\udead\": 1",
            &[(LoneSurrogate, 4, 3)],
        ),
        member("a surrogate pair", "\"x\": \"\\ud83d\\ude00\"", &[]),
        member("half an escape", "\"x\": \"\\u12\"", &[(JsonSyntax, 4, 12)]),
        member(
            "an unknown escape",
            "\"x\": \"\\x41\"",
            &[(JsonSyntax, 4, 9)],
        ),
        case(
            Index,
            "the level 128 of nesting",
            || {
                replaced(
                    INDEX,
                    "\"trust\"",
                    &repeated(
                        "\"x\": ",
                        "[",
                        126,
                        &format!("{}, \"trust\"", "]".repeat(126)),
                    ),
                )
            },
            &[],
        ),
        case(
            Index,
            "the level 129 of nesting",
            || {
                replaced(
                    INDEX,
                    "\"trust\"",
                    &repeated(
                        "\"x\": ",
                        "[",
                        127,
                        &format!("{}, \"trust\"", "]".repeat(127)),
                    ),
                )
            },
            &[(NestingTooDeep, 4, 133)],
        ),
        case(
            Index,
            "100,000 open brackets",
            || repeated("", "[", 100_000, ""),
            &[(NestingTooDeep, 1, 129)],
        ),
        case(
            Index,
            "100,000 arrays inside each other",
            || repeated("", "[", 100_000, &"]".repeat(100_000)),
            &[(NestingTooDeep, 1, 129)],
        ),
        case(
            Index,
            "100,000 open objects",
            || repeated("", "{\"a\":", 100_000, ""),
            &[(NestingTooDeep, 1, 641)],
        ),
        case(
            Index,
            "100,000 different keys in one object",
            || {
                let keys = (0..100_000).map(|n| format!("\"\\u006b{n}\": 0, "));
                replaced(
                    INDEX,
                    "\"trust\"",
                    format!("{}\"trust\"", keys.collect::<String>()).as_bytes(),
                )
            },
            &[],
        ),
        case(
            Index,
            "a wrong value of a megabyte",
            || replaced(INDEX, "\"any\"", &repeated("\"", "a", 1 << 20, "\"")),
            &[(Code::UnknownValue, 3, 24)],
        ),
    ]
}

fn names() -> Vec<Hostile> {
    use Code::{DuplicateServer, EmptyValue, InvalidName, LookalikeId};
    /// Servers of these ids, one on each line.
    fn ids(name: &'static str, ids: &'static [&'static str], expected: &[Place]) -> Hostile {
        let server = INDEX.lines().skip(1).take(3).collect::<String>();
        let servers = ids
            .iter()
            .map(|id| replaced(&server, "\"a\"", id.as_bytes()));
        let servers: Vec<_> = servers
            .map(|server| String::from_utf8_lossy(&server).into_owned())
            .collect();
        let text = format!("[\n{}\n]\n", servers.join(",\n"));
        case(
            Kind::Index,
            name,
            move || text.clone().into_bytes(),
            expected,
        )
    }
    vec![
        ids(
            "an id with an at sign",
            &["\"a@b\""],
            &[(InvalidName, 2, 8)],
        ),
        ids("an id with a bar", &["\"a|b\""], &[(InvalidName, 2, 8)]),
        ids(
            "an id with an escaped bar",
            &["\"a\\u007cb\""],
            &[(InvalidName, 2, 8)],
        ),
        ids("an id with NUL", &["\"a\\u0000b\""], &[(InvalidName, 2, 8)]),
        ids(
            "an id with a line end",
            &["\"a\\nb\""],
            &[(InvalidName, 2, 8)],
        ),
        ids("an id with DEL", &["\"a\u{7f}\""], &[(InvalidName, 2, 8)]),
        ids("an id with NEL", &["\"a\u{85}\""], &[(InvalidName, 2, 8)]),
        ids("an empty id", &["\"\""], &[(EmptyValue, 2, 8)]),
        ids("an id of blanks", &["\" \""], &[]),
        ids("an id with quotes and a backslash", &["\"\\\"a\\\\\""], &[]),
        ids(
            "the ids of two scripts that look alike",
            &["\"acme\"", "\"\u{430}cme\""],
            &[(LookalikeId, 3, 8)],
        ),
        ids(
            "ids that differ in normalisation",
            &["\"\u{e9}\"", "\"e\u{301}\""],
            &[(LookalikeId, 2, 8)],
        ),
        ids(
            "ids that differ in an invisible character",
            &["\"acme\"", "\"ac\u{200b}me\""],
            &[(LookalikeId, 3, 8)],
        ),
        ids("ids that differ in case", &["\"acme\"", "\"ACME\""], &[]),
        ids(
            "one id twice",
            &["\"a\"", "\"a\""],
            &[(DuplicateServer, 3, 1)],
        ),
        ids(
            "one id twice, once escaped",
            &["\"a\"", "\"\\u0061\""],
            &[(DuplicateServer, 3, 1)],
        ),
        ids(
            "one id three times",
            &["\"a\"", "\"a\"", "\"a\""],
            &[(DuplicateServer, 3, 1), (DuplicateServer, 4, 1)],
        ),
        ids(
            "one id twice and an invalid one",
            &["\"a\"", "\"a\"", "\"@\""],
            &[(DuplicateServer, 3, 1), (InvalidName, 4, 8)],
        ),
        index(
            "a version with a bar",
            "\"1\"",
            b"\"1|2\"",
            &[(InvalidName, 2, 24)],
        ),
        index("a version with an at sign", "\"1\"", b"\"1@2\"", &[]),
        index(
            "an endpoint with a bar",
            "\"e\"",
            b"\"e|f\"",
            &[(InvalidName, 2, 41)],
        ),
        index(
            "a scope with a comma",
            "[\"s\"]",
            b"[\"s,t\"]",
            &[(InvalidName, 2, 78)],
        ),
        index(
            "a scope with a bar",
            "[\"s\"]",
            b"[\"s|t\"]",
            &[(InvalidName, 2, 78)],
        ),
        index(
            "a category with a comma and a bar",
            "[\"c\"]",
            b"[\"c,d|e\"]",
            &[],
        ),
        index(
            "an empty category",
            "[\"c\"]",
            b"[\"\"]",
            &[(EmptyValue, 2, 61)],
        ),
        index(
            "an empty publisher",
            "\"p\"",
            b"\"\"",
            &[(EmptyValue, 4, 41)],
        ),
        manifest(
            "a permission with a comma",
            "[s]",
            b"['s,t']",
            &[(InvalidName, 7, 21)],
        ),
        manifest(
            "a permission with a bar",
            "[s]",
            b"['s|t']",
            &[(InvalidName, 7, 21)],
        ),
        manifest(
            "a permission with a line end",
            "[s]",
            b"[\"s\\n\"]",
            &[(InvalidName, 7, 21)],
        ),
        manifest(
            "a category with an at sign and a bar",
            "category: c",
            b"category: 'c@|'",
            &[],
        ),
    ]
}

fn limits() -> Vec<Hostile> {
    use Code::InputTooLarge;
    use Kind::{Index, Lock, Manifest};
    // As documented, and not as the engine has them.
    const MANIFEST_LIMIT: usize = 16 << 20;
    const LOCK_LIMIT: usize = 16 << 20;
    const INDEX_LIMIT: usize = 512 << 20;
    vec![
        case(
            Manifest,
            "as large as may be",
            || padded(MANIFEST, b'x', "", MANIFEST_LIMIT),
            &[],
        ),
        case(
            Manifest,
            "a byte too large",
            || padded(MANIFEST, b'x', "", MANIFEST_LIMIT + 1),
            &[(InputTooLarge, 1, 1)],
        ),
        case(
            Index,
            "as large as may be",
            || padded(INDEX, b' ', "", INDEX_LIMIT),
            &[],
        ),
        case(
            Index,
            "a byte too large",
            || vec![0; INDEX_LIMIT + 1],
            &[(InputTooLarge, 1, 1)],
        ),
        case(
            Lock,
            "as large as may be",
            || padded(LOCK, b' ', "", LOCK_LIMIT),
            &[],
        ),
        case(
            Lock,
            "a byte too large",
            || padded(LOCK, b' ', "", LOCK_LIMIT + 1),
            &[(InputTooLarge, 1, 1)],
        ),
    ]
}

fn locks() -> Vec<Hostile> {
    use Code::{
        DuplicateKey, InvalidUtf8, JsonSyntax, LockVersion, NestingTooDeep, NumberOutOfRange,
    };
    use Kind::Lock;
    let lock = |name, old: &'static str, new: &'static [u8], expected: &[Place]| {
        case(Lock, name, || replaced(LOCK, old, new), expected)
    };
    vec![
        case(
            Lock,
            "a byte order mark",
            || format!("\u{feff}{LOCK}").into(),
            &[],
        ),
        case(Lock, "an empty file", Vec::new, &[(JsonSyntax, 1, 1)]),
        lock(
            "a byte that is no UTF-8",
            "\"a\"",
            b"\"\xff\"",
            &[(InvalidUtf8, 1, 21)],
        ),
        lock(
            "a version of many digits",
            " 1,",
            b" 99999999999999999999999999,",
            &[(LockVersion, 1, 71)],
        ),
        lock(
            "a version out of range",
            " 1,",
            b" 1e400,",
            &[(NumberOutOfRange, 1, 71), (Code::LockInvalid, 1, 71)],
        ),
        lock(
            "a key twice",
            "\"forbid\"",
            b"\"forbid\": [], \"forbid\"",
            &[(DuplicateKey, 1, 56)],
        ),
        case(
            Lock,
            "hundreds of thousands of scopes and of labels",
            || {
                let names = |from: usize| -> Vec<_> {
                    (from..from + 250_000)
                        .map(|n| format!("\"s{n:07}\""))
                        .collect()
                };
                let selection = format!(
                    "\"selections\": [{{\"category\": \"c\", \"endpoint\": \"e\", \"hash\": \"{}\", \
                     \"id\": \"i\", \"integrity\": \"sha256-{}=\", \"scopes\": [{}], \"version\": \"1\"}}]",
                    "0".repeat(64),
                    "A".repeat(43),
                    names(1_000_000).join(",")
                );
                let forbid = format!("\"forbid\": [{}]", names(0).join(","));
                let lock = LOCK.replace("\"forbid\": []", &forbid);
                lock.replace("\"selections\": []", &selection).into_bytes()
            },
            &[],
        ),
        case(
            Lock,
            "100,000 open brackets",
            || repeated("", "[", 100_000, ""),
            &[(NestingTooDeep, 1, 129)],
        ),
    ]
}

/// [`INDEX`] with `capabilities` of this text.
fn capabilities(text: &str) -> Vec<u8> {
    replaced(
        INDEX,
        "\"data\"",
        format!("\"capabilities\": {text},\n\"data\"").as_bytes(),
    )
}

fn tools() -> Vec<Hostile> {
    use Code::{
        DuplicateKey, EmptyValue, InvalidName, LoneSurrogate, MissingField, NestingTooDeep,
        UnknownValue, WrongType,
    };
    use Kind::Index;
    /// Tools, on the line behind `{"tools":`.
    fn tools(name: &'static str, text: &'static str, expected: &[Place]) -> Hostile {
        case(
            Index,
            name,
            move || capabilities(&format!("{{\"tools\":\n{text}}}")),
            expected,
        )
    }
    /// Blocks of one tool, on a line of their own.
    fn blocks(name: &'static str, text: &'static str, expected: &[Place]) -> Hostile {
        case(
            Index,
            name,
            move || {
                let tools = format!("{{\"t\": {{\"x-summit-capabilities\":\n{text}}}}}");
                capabilities(&format!("{{\"tools\": {tools}}}"))
            },
            expected,
        )
    }
    vec![
        case(
            Index,
            "capabilities that are a list",
            || capabilities("[]"),
            &[(WrongType, 3, 18)],
        ),
        case(
            Index,
            "capabilities that are null",
            || capabilities("null"),
            &[(WrongType, 3, 18)],
        ),
        case(
            Index,
            "capabilities without tools",
            || capabilities("{\"x\": [{}]}"),
            &[],
        ),
        case(
            Index,
            "capabilities twice",
            || capabilities("{}, \"capabilities\": {}"),
            &[(DuplicateKey, 3, 22)],
        ),
        tools("tools that are a list", "[]", &[(WrongType, 4, 1)]),
        tools("a tool that is null", "{\"t\": null}", &[(WrongType, 4, 7)]),
        tools(
            "a tool that is a list",
            "{\"t\": [[]]}",
            &[(WrongType, 4, 7)],
        ),
        tools(
            "a flag and a tool of its kind",
            "{\"listChanged\": false, \"t\": true}",
            &[(WrongType, 4, 29)],
        ),
        tools(
            "a tool twice",
            "{\"t\": {}, \"t\": {}}",
            &[(DuplicateKey, 4, 11)],
        ),
        tools(
            "a tool twice, once escaped",
            "{\"t\": {}, \"\\u0074\": {}}",
            &[(DuplicateKey, 4, 11)],
        ),
        tools(
            "a flag and a tool of its name",
            "{\"listChanged\": true, \"listChanged\": {}}",
            &[(DuplicateKey, 4, 23)],
        ),
        tools(
            "a tool with a slash in its name",
            "{\"a/b\": {}}",
            &[(InvalidName, 4, 2)],
        ),
        tools(
            "a tool with an escaped slash in its name",
            "{\"a\\/b\": {}}",
            &[(InvalidName, 4, 2)],
        ),
        tools(
            "a tool with NUL in its name",
            "{\"a\\u0000\": {}}",
            &[(InvalidName, 4, 2)],
        ),
        tools(
            "a tool with a line end in its name",
            "{\"a\\nb\": {}}",
            &[(InvalidName, 4, 2)],
        ),
        tools(
            "a tool with NEL in its name",
            "{\"a\u{85}\": {}}",
            &[(InvalidName, 4, 2)],
        ),
        tools("a tool without a name", "{\"\": {}}", &[(EmptyValue, 4, 2)]),
        tools("a tool of an odd name", "{\"@|, \\\"\u{202e}\": {}}", &[]),
        tools(
            "half a surrogate pair in a name",
            "{\"\\ud800\": {}}",
            &[(LoneSurrogate, 4, 3)],
        ),
        tools(
            "a description that is a number",
            "{\"t\": {\"description\": 1}}",
            &[(WrongType, 4, 23)],
        ),
        tools(
            "a schema that is a boolean",
            "{\"t\": {\"inputSchema\": true}}",
            &[(WrongType, 4, 23)],
        ),
        tools(
            "annotations that are a list",
            "{\"t\": {\"annotations\": []}}",
            &[(WrongType, 4, 23)],
        ),
        tools(
            "a key twice far inside a schema",
            "{\"t\": {\"inputSchema\": {\"a\": [{\"b\": 1, \"b\": 2}]}}}",
            &[(DuplicateKey, 4, 39)],
        ),
        blocks("blocks that are an object", "{}", &[(WrongType, 4, 1)]),
        blocks(
            "a block that is a string",
            "[\"search:internet\"]",
            &[(WrongType, 4, 2)],
        ),
        blocks(
            "a block without anything",
            "[{}]",
            &[(MissingField, 4, 2), (MissingField, 4, 2)],
        ),
        blocks(
            "a block of other types",
            "[{\"verb\": 1, \"resource\": [], \"constraints\": {}}]",
            &[(WrongType, 4, 11), (WrongType, 4, 26), (WrongType, 4, 45)],
        ),
        blocks(
            "a verb with the resource behind it",
            "[{\"verb\": \"search:internet\", \"resource\": \"fs\"}]",
            &[(UnknownValue, 4, 11)],
        ),
        blocks(
            "a resource and a tag with control characters",
            "[{\"verb\": \"read\", \"resource\": \"a-\\u0007\", \"constraints\": [\"b-\\u0007\", \"\"]}]",
            &[
                (InvalidName, 4, 31),
                (InvalidName, 4, 59),
                (EmptyValue, 4, 71),
            ],
        ),
        case(
            Index,
            "10,000 tools in one server",
            || {
                let block =
                    "{\"verb\": \"read\", \"resource\": \"fs\", \"constraints\": [\"readonly\"]}";
                let tool = |n| {
                    format!(
                        "\"t{}\": {{\"x-summit-capabilities\": [{block}]}}",
                        n * 7 % 10_007
                    )
                };
                let tools: Vec<_> = (0..10_000).map(tool).collect();
                capabilities(&format!("{{\"tools\": {{{}}}}}", tools.join(",")))
            },
            &[],
        ),
        case(
            Index,
            "tools of one name",
            || {
                capabilities(&format!(
                    "{{\"tools\":\n{{{}\"t\": {{}}}}}}",
                    "\"t\": {},".repeat(9)
                ))
            },
            &[
                (DuplicateKey, 4, 10),
                (DuplicateKey, 4, 18),
                (DuplicateKey, 4, 26),
                (DuplicateKey, 4, 34),
                (DuplicateKey, 4, 42),
                (DuplicateKey, 4, 50),
                (DuplicateKey, 4, 58),
                (DuplicateKey, 4, 66),
                (DuplicateKey, 4, 74),
            ],
        ),
        case(
            Index,
            "100,000 blocks of one tool, each of its own resource",
            || {
                let block = |n| format!("{{\"verb\": \"read\", \"resource\": \"x-{n}\"}}");
                let blocks: Vec<_> = (0..100_000).map(block).collect();
                capabilities(&format!(
                    "{{\"tools\": {{\"t\": {{\"x-summit-capabilities\": [{}]}}}}}}",
                    blocks.join(",")
                ))
            },
            &[],
        ),
        case(
            Index,
            "100,000 tags of one block",
            || {
                let tags: Vec<_> = (0..100_000)
                    .map(|n| format!("\"x-{}\"", n % 50_000))
                    .collect();
                capabilities(&format!(
                    "{{\"tools\": {{\"t\": {{\"x-summit-capabilities\": \
                     [{{\"verb\": \"read\", \"resource\": \"fs\", \"constraints\": [{}]}}]}}}}}}",
                    tags.join(",")
                ))
            },
            &[],
        ),
        case(
            Index,
            "a schema nested too deeply",
            || {
                capabilities(&format!(
                    "{{\"tools\": {{\"t\": {{\"inputSchema\":\n{}{}}}}}}}",
                    "{\"a\":".repeat(1_000),
                    "1".to_owned() + &"}".repeat(1_000)
                ))
            },
            &[(NestingTooDeep, 4, 616)],
        ),
    ]
}

/// A task that is accepted without a warning.
const TASK: &str = "\
task_id: t
required_capabilities:
  - verb: search
    resource: internet
    constraints: [readonly]
    load: essential
";

fn tasks() -> Vec<Hostile> {
    use Code::{
        DuplicateKey, EmptyValue, InputTooLarge, InvalidName, InvalidUtf8, JsonSyntax,
        MissingField, NestingTooDeep, UnknownKey, UnknownValue, WrongType, YamlUnsupported,
    };
    use Kind::Task;
    fn task(
        name: &'static str,
        old: &'static str,
        new: &'static [u8],
        expected: &[Place],
    ) -> Hostile {
        case(Task, name, || replaced(TASK, old, new), expected)
    }
    fn whole(name: &'static str, text: &'static [u8], expected: &[Place]) -> Hostile {
        case(Task, name, || text.to_vec(), expected)
    }
    vec![
        task("nothing special", "t\n", b"t\n", &[]),
        case(
            Task,
            "a byte order mark",
            || format!("\u{feff}{TASK}").into(),
            &[],
        ),
        case(
            Task,
            "JSON behind a byte order mark",
            || {
                "\u{feff}{\"task_id\": \"\\ud83d\\ude00\", \"required_capabilities\": \
                 [{\"verb\": \"read\", \"resource\": \"fs\"}]}"
                    .into()
            },
            &[],
        ),
        case(Task, "CRLF", || TASK.replace('\n', "\r\n").into(), &[]),
        whole("an empty file", b"", &[(WrongType, 1, 1)]),
        whole("a number", b"1", &[(WrongType, 1, 1)]),
        whole("a list", b"[]", &[(WrongType, 1, 1)]),
        whole(
            "prose around JSON",
            b"{\"task_id\": \"t\"} and so on",
            &[(JsonSyntax, 1, 18)],
        ),
        whole("JSON with a comment", b"{} // none", &[(JsonSyntax, 1, 4)]),
        whole(
            "JSON with a key twice",
            b"{\"task_id\": \"t\", \"task_id\": \"u\"}",
            &[(MissingField, 1, 1), (DuplicateKey, 1, 18)],
        ),
        task(
            "a byte that is no UTF-8",
            "t\n",
            b"\xff\n",
            &[(InvalidUtf8, 1, 10)],
        ),
        task(
            "a key twice",
            "task_id: t\n",
            b"task_id: t\ntask_id: u\n",
            &[(DuplicateKey, 2, 1)],
        ),
        task(
            "an alias",
            "internet",
            b"&a internet",
            &[(YamlUnsupported, 4, 15)],
        ),
        task(
            "a second document",
            "required",
            b"--- # again\nrequired",
            &[(YamlUnsupported, 2, 1)],
        ),
        task(
            "an id with a bell",
            "task_id: t",
            b"task_id: \"a\\a\"",
            &[(InvalidName, 1, 10)],
        ),
        task(
            "an id that is a list",
            "task_id: t",
            b"task_id: [t]",
            &[(WrongType, 1, 10)],
        ),
        task(
            "an empty id",
            "task_id: t",
            b"task_id: ''",
            &[(EmptyValue, 1, 10)],
        ),
        task(
            "a constraint that is no list",
            "[readonly]",
            b"readonly",
            &[(WrongType, 5, 18)],
        ),
        task(
            "a constraint that is a mapping",
            "[readonly]",
            b"[{readonly: true}]",
            &[(WrongType, 5, 19)],
        ),
        task(
            "a misspelt constraint",
            "[readonly]",
            b"[read_only]",
            &[(UnknownValue, 5, 19)],
        ),
        task("a misspelt key", "load:", b"loads:", &[(UnknownKey, 6, 5)]),
        task(
            "another load",
            "essential",
            b"true",
            &[(UnknownValue, 6, 11)],
        ),
        task("a verb that is null", "search", b"", &[(WrongType, 3, 9)]),
        task("a resource with a slash", "internet", b"x-a/b", &[]),
        case(
            Task,
            "100,000 open brackets",
            || repeated("", "[", 100_000, ""),
            &[(NestingTooDeep, 1, 129)],
        ),
        case(
            Task,
            "100,000 open brackets in YAML",
            || repeated("task_id: ", "[", 100_000, ""),
            &[(NestingTooDeep, 1, 265)],
        ),
        case(
            Task,
            "100,000 requirements",
            || {
                repeated(
                    "task_id: t\nrequired_capabilities:\n",
                    "  - {verb: read, resource: fs}\n",
                    100_000,
                    "",
                )
            },
            &[],
        ),
        case(
            Task,
            "100,000 constraints",
            || {
                replaced(
                    TASK,
                    "[readonly]",
                    &repeated("[x-a", ", readonly", 100_000, "]"),
                )
            },
            &[],
        ),
        case(
            Task,
            "a byte too large",
            || vec![b' '; (16 << 20) + 1],
            &[(InputTooLarge, 1, 1)],
        ),
    ]
}

fn tenants_and_health() -> Vec<Hostile> {
    use Code::{
        DuplicateKey, EmptyValue, InputTooLarge, InvalidName, NestingTooDeep, NumberOutOfRange,
        TenantUnknown, UnknownKey, UnknownValue, WrongType,
    };
    use Kind::{Health, Tenant};
    fn tenant(name: &'static str, text: &'static str, expected: &[Place]) -> Hostile {
        case(
            Tenant,
            name,
            move || format!("tenants:\n- id: a\n{text}").into_bytes(),
            expected,
        )
    }
    fn health(name: &'static str, text: &'static str, expected: &[Place]) -> Hostile {
        case(Health, name, || text.as_bytes().to_vec(), expected)
    }
    vec![
        tenant("nothing special", "", &[]),
        tenant(
            "two tenants and none named",
            "- id: b\n",
            &[(TenantUnknown, 1, 1)],
        ),
        tenant("one id twice", "- id: a\n", &[(DuplicateKey, 3, 7)]),
        tenant(
            "a tier that is a list",
            "  tier: [gold]\n",
            &[(WrongType, 3, 9)],
        ),
        tenant(
            "a policy that is a mapping",
            "  policy: {a: b}\n",
            &[(WrongType, 3, 11)],
        ),
        tenant(
            "a budget below zero",
            "  token_budget: -1\n",
            &[(WrongType, 3, 17)],
        ),
        tenant(
            "a budget with a fraction",
            "  token_budget: 1.5\n",
            &[(WrongType, 3, 17)],
        ),
        tenant(
            "a budget of many digits",
            "  token_budget: 99999999999999999999\n",
            &[(NumberOutOfRange, 3, 17)],
        ),
        tenant(
            "priorities that are a list",
            "  priorities: []\n",
            &[(WrongType, 3, 15)],
        ),
        tenant(
            "priorities of other types",
            "  priorities: {classes: 1, servers: {a: x, b: [], c: true, d: 1e3, e: 0x10, f: 9223372036854775808}}\n",
            &[
                (WrongType, 3, 25),
                (WrongType, 3, 41),
                (WrongType, 3, 47),
                (WrongType, 3, 54),
                (WrongType, 3, 63),
                (WrongType, 3, 71),
                (NumberOutOfRange, 3, 80),
            ],
        ),
        tenant(
            "the largest and the least priority",
            "  priorities: {servers: {a: 9223372036854775807, b: -9223372036854775808}}\n",
            &[],
        ),
        tenant(
            "a priority twice",
            "  priorities: {servers: {a: 1, \"a\": 2}}\n",
            &[(DuplicateKey, 3, 32)],
        ),
        tenant(
            "a misspelt key",
            "  priorities: {server: {a: 1}}\n",
            &[(UnknownKey, 3, 16)],
        ),
        case(Tenant, "an empty file", Vec::new, &[(WrongType, 1, 1)]),
        case(
            Tenant,
            "tenants that are a mapping",
            || b"tenants: {a: b}".to_vec(),
            &[(WrongType, 1, 10)],
        ),
        case(
            Tenant,
            "no tenants",
            || b"tenants: []".to_vec(),
            &[(TenantUnknown, 1, 1)],
        ),
        case(
            Tenant,
            "a tenant that is a string",
            || b"tenants: [acme]".to_vec(),
            &[(WrongType, 1, 11)],
        ),
        case(
            Tenant,
            "20,000 tenants",
            || {
                let tenants: Vec<_> = (0..20_000)
                    .map(|n| format!("{{\"id\": \"t{n}\"}}"))
                    .collect();
                format!("{{\"tenants\":\n[{}]}}", tenants.join(",")).into_bytes()
            },
            &[(TenantUnknown, 1, 2)],
        ),
        case(
            Tenant,
            "100,000 priorities",
            || {
                let servers: Vec<_> = (0..100_000).map(|n| format!("\"s{n}\": {n}")).collect();
                format!(
                    "{{\"tenants\": [{{\"id\": \"a\", \"priorities\": {{\"servers\": {{{}}}}}}}]}}",
                    servers.join(",")
                )
                .into_bytes()
            },
            &[],
        ),
        case(
            Tenant,
            "a byte too large",
            || vec![b' '; (16 << 20) + 1],
            &[(InputTooLarge, 1, 1)],
        ),
        health("an empty mapping", "{}", &[]),
        health("an empty file", "", &[]),
        health("a list", "[]", &[(WrongType, 1, 1)]),
        health("a string", "HEALTHY", &[(WrongType, 1, 1)]),
        health(
            "a status in lower case",
            "a: healthy",
            &[(UnknownValue, 1, 4)],
        ),
        health(
            "a status that is a number",
            "{\"a\": 1}",
            &[(WrongType, 1, 7)],
        ),
        health(
            "a status that is a mapping",
            "{\"a\": {\"status\": \"HEALTHY\"}}",
            &[(WrongType, 1, 7)],
        ),
        health(
            "a server twice",
            "a: HEALTHY\na: UNHEALTHY\n",
            &[(DuplicateKey, 2, 1)],
        ),
        health(
            "a server twice, once escaped",
            "{\"a\": \"HEALTHY\", \"\\u0061\": \"UNHEALTHY\"}",
            &[(DuplicateKey, 1, 18)],
        ),
        health(
            "a server that can have no such id",
            "{\"a@1\": \"HEALTHY\", \"b|\": \"HEALTHY\", \"\": \"HEALTHY\"}",
            &[
                (InvalidName, 1, 2),
                (InvalidName, 1, 20),
                (EmptyValue, 1, 37),
            ],
        ),
        case(
            Health,
            "100,000 servers",
            || {
                (0..100_000)
                    .map(|n| format!("s{n}: HEALTHY\n"))
                    .collect::<String>()
                    .into_bytes()
            },
            &[],
        ),
        case(
            Health,
            "100,000 mappings inside each other",
            || repeated("", "{\"a\":", 100_000, ""),
            &[(NestingTooDeep, 1, 641)],
        ),
        case(
            Health,
            "a byte too large",
            || vec![b' '; (16 << 20) + 1],
            &[(InputTooLarge, 1, 1)],
        ),
    ]
}
