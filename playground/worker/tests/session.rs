//! Sessions of the page of servers.

use agent_answer::{
    Agent, Applicability, CandidateVerdict, Code, Constraints, DocumentKind, Drift, Edit, Eligible,
    Explanation, Filter, Fix, LockVerdict, MatrixRow, NearMiss, Outcome, Place, Position, Reason,
    Rejected, Requirement, Selected, ServerName, Severity, Span, Stage, Verdict,
};
use agent_api::decide::Resolution;
use agent_api::{lower, render};
use agent_worker::Session;
use agent_worker_protocol::{
    Answer, Explained, ExplanationRequest, ListRequest, MatrixRequest, RejectedRequest, Request,
    Texts,
};
use std::fmt::Write as _;
use std::sync::Arc;

const MANIFEST: &str = include_str!("../../../examples/hello-agent/agents.md");
const INDEX: &str = include_str!("../../../examples/hello-agent/mcp.index.json");
const LOCK: &str = include_str!("../../../tests/corpus/views/hello-agent/agents.lock");

const CHECKS: [Code; 5] = [
    Code::MissingCategory,
    Code::MissingScope,
    Code::ResidencyMismatch,
    Code::SensitivityExceeded,
    Code::UnsignedNotAllowed,
];

fn texts(manifest: &str, index: &str, lock: Option<&str>) -> Texts {
    Texts::default()
        .with(DocumentKind::Manifest, manifest)
        .with(DocumentKind::Index, index)
        .with(DocumentKind::Lock, lock.unwrap_or_default())
}

/// Starts a session with texts, and returns its verdict.
fn opened(texts: Texts) -> (Session, Verdict) {
    let mut session = Session::default();
    let answer = session.answer(texts, Request::default());
    let verdict = answer.verdict.expect("a verdict");
    (session, verdict)
}

fn verdict(manifest: &str, index: &str, lock: Option<&str>) -> Verdict {
    opened(texts(manifest, index, lock)).1
}

/// Returns the answer to a question without texts.
fn look(session: &mut Session, wanted: Request) -> Answer {
    session.answer(Texts::default(), wanted)
}

fn name(id: &str, version: &str) -> ServerName {
    ServerName {
        id: id.to_owned(),
        version: version.to_owned(),
    }
}

/// Returns the place between two points of the example's manifest, which is ASCII.
fn place(start: (u32, u32), end: (u32, u32)) -> Place {
    let position = |(line, column)| Position {
        line,
        column,
        utf16_column: column,
    };
    let (start, end) = (position(start), position(end));
    Place {
        source: DocumentKind::Manifest,
        number: 0,
        span: Span::new(offset(MANIFEST, start), offset(MANIFEST, end)),
        start,
        end,
    }
}

/// Returns whether a fix gives the agent more access.
fn widens(fix: &Fix) -> bool {
    fix.applicability == Applicability::Unsafe
}

/// Returns the byte at a point, as an editor finds it.
fn offset(text: &str, point: Position) -> usize {
    let line_start: usize = text
        .split_inclusive('\n')
        .take(point.line as usize - 1)
        .map(str::len)
        .sum();
    let mut units = 1;
    for (at, c) in text[line_start..].char_indices() {
        if units == point.utf16_column {
            return line_start + at;
        }
        assert!(
            units < point.utf16_column && c != '\n',
            "{point:?} is inside a character or behind its line"
        );
        units += c.len_utf16() as u32;
    }
    assert_eq!(units, point.utf16_column, "behind the end");
    text.len()
}

fn at<'t>(text: &'t str, place: &Place) -> &'t str {
    &text[offset(text, place.start)..offset(text, place.end)]
}

fn all_views() -> Request {
    Request {
        matrix: Some(MatrixRequest {
            filter: Filter::default(),
            offset: 0,
            limit: 10,
        }),
        explanation: Some(ExplanationRequest {
            requirement: 0,
            server: name("gamma", "1.0.0"),
            tool: None,
        }),
        rejected: Some(RejectedRequest {
            requirement: 0,
            check: 0,
            limit: 10,
        }),
        eligible: Some(ListRequest {
            requirement: 0,
            limit: 10,
        }),
        supposed: Some(Constraints::default()),
        counts: true,
        policy: None,
        tried: String::new(),
        resolution: Some(u32::MAX),
        report: false,
    }
}

/// Returns the names of the views of an answer.
fn views(answer: &Answer) -> Vec<&'static str> {
    [
        ("matrix", answer.matrix.is_some()),
        ("explanation", answer.explanation.is_some()),
        ("fallen", answer.rejected.is_some()),
        ("eligible", answer.eligible.is_some()),
        ("supposed", answer.supposed.is_some()),
        ("counts", answer.counts.is_some()),
        ("resolution", answer.resolution.is_some()),
    ]
    .into_iter()
    .filter_map(|(name, there)| there.then_some(name))
    .collect()
}

const ALL_VIEWS: [&str; 7] = [
    "matrix",
    "explanation",
    "fallen",
    "eligible",
    "supposed",
    "counts",
    "resolution",
];

// ── The verdict ──────────────────────────────────────────────────────────────────────────────

#[test]
fn the_verdict_of_hello_agent() {
    let lost = |id: &str, version: &str, code: Code, text: &str| Rejected {
        server: name(id, version),
        tool: None,
        reason: Reason {
            code,
            text: text.to_owned(),
        },
    };
    let no_category = |id, version, text| lost(id, version, Code::MissingCategory, text);
    let funnel = |left: [u32; 5], lost: [Vec<Rejected>; 2]| {
        let names = [
            "category",
            "scopes",
            "residency",
            "sensitivity",
            "signature",
        ];
        let lost = lost.into_iter().chain([vec![], vec![], vec![]]);
        let stages = CHECKS.iter().zip(names).zip(left).zip(lost);
        stages
            .map(|(((code, name), left), lost)| Stage {
                code: *code,
                name: name.to_owned(),
                left,
                lost,
            })
            .collect::<Vec<_>>()
    };
    let expected = Verdict {
        satisfied: Some(true),
        diagnostics: vec![],
        agent: Some(Agent {
            name: "hello-agent".to_owned(),
            version: "1.0.0".to_owned(),
        }),
        servers: Some(4),
        tools: Some(0),
        constraints: Constraints {
            residency: Some("us-only".to_owned()),
            sensitivity: Some("internal".to_owned()),
            require_signed: false,
        },
        requirements: vec![
            Requirement {
                category: Some("audiences".to_owned()),
                capability: None,
                permissions: vec!["read:audiences".to_owned(), "write:audiences".to_owned()],
                only: vec![],
                serve: vec![],
                place: place((6, 7), (7, 53)),
                all: 4,
                funnel: funnel(
                    [3, 2, 2, 2, 2],
                    [
                        vec![no_category(
                            "chart-reports",
                            "3.4.1",
                            "offers only `charts`, `reporting`",
                        )],
                        vec![lost(
                            "gamma",
                            "1.0.0",
                            Code::MissingScope,
                            "does not support `write:audiences`",
                        )],
                    ],
                ),
                policy_decision: None,
                outcome: Outcome::Selected(Selected {
                    server: name("acme-audiences", "2.1.0"),
                    tool: None,
                    endpoint: "https://mcp.acme.example/audiences".to_owned(),
                    unknown: vec![],
                    hash: "9e864cac2ca14514685dcd03d51dcc2ab0b3b4e17d35f2e33698b86ad8196e2f"
                        .to_owned(),
                    over: Some(Eligible {
                        server: name("beta-audiences", "1.0.0"),
                        tool: None,
                        lost_on: "signed".to_owned(),
                        text: "it is not signed".to_owned(),
                    }),
                    fallback: None,
                }),
            },
            Requirement {
                category: Some("reporting".to_owned()),
                capability: None,
                permissions: vec!["read:reports".to_owned()],
                only: vec![],
                serve: vec![],
                place: place((8, 7), (10, 23)),
                all: 4,
                funnel: funnel(
                    [1, 1, 1, 1, 1],
                    [
                        vec![
                            no_category("acme-audiences", "2.1.0", "offers only `audiences`"),
                            no_category("beta-audiences", "1.0.0", "offers only `audiences`"),
                            no_category("gamma", "1.0.0", "offers only `audiences`"),
                        ],
                        vec![],
                    ],
                ),
                policy_decision: None,
                outcome: Outcome::Selected(Selected {
                    server: name("chart-reports", "3.4.1"),
                    tool: None,
                    endpoint: "https://charts.example/mcp".to_owned(),
                    unknown: vec![],
                    hash: "f085320ba74de942cace2484a3d9d2fe8e36e81edbeadd87731b827fed0bc895"
                        .to_owned(),
                    over: None,
                    fallback: None,
                }),
            },
        ],
        tokens: None,
        collisions: vec![],
        lock: Some(LOCK.to_owned()),
        existing: None,
    };
    assert_eq!(verdict(MANIFEST, INDEX, None), expected);
    // A blank lock counts as absent.
    assert_eq!(verdict(MANIFEST, INDEX, Some(" \r\n")), expected);
}

#[test]
fn the_verdict_of_an_unsatisfied_requirement() {
    let manifest = MANIFEST.replace("sensitivity: internal", "sensitivity: confidential");
    let verdict = verdict(&manifest, INDEX, None);
    assert_eq!(verdict.satisfied, Some(false));
    assert_eq!(verdict.lock, None);

    let Outcome::Unsatisfied { nearest } = &verdict.requirements[1].outcome else {
        panic!("{verdict:#?}");
    };
    let names: Vec<_> = nearest.iter().map(|near| near.server.id.as_str()).collect();
    assert_eq!(names, ["chart-reports", "acme-audiences", "beta-audiences"]);
    assert_eq!(
        nearest[0].reasons,
        [Reason {
            code: Code::SensitivityExceeded,
            text: "may hold data up to `internal`, and `confidential` is required".to_owned(),
        }]
    );
    let fixes: Vec<_> = nearest[0]
        .fixes
        .iter()
        .map(|fix| (fix.title.as_str(), widens(fix)))
        .collect();
    assert_eq!(
        fixes,
        [(
            "in the manifest, lower `constraints.data.sensitivity` to `internal` (gives the agent more access)",
            true
        ),]
    );
    assert_eq!(
        nearest[0].suppositions,
        ["would be eligible if it were approved for `confidential`; its entry says `internal`"]
    );

    let [found] = verdict.diagnostics.as_slice() else {
        panic!("{:#?}", verdict.diagnostics);
    };
    assert_eq!(found.code.name(), "UNSATISFIED");
    assert_eq!(found.severity, Severity::Error);
    let pointed: Vec<_> = found
        .labels
        .iter()
        .map(|label| at(&manifest, &label.place))
        .collect();
    assert_eq!(pointed, ["confidential", "reporting"]);
}

#[test]
fn problems_of_all_inputs_are_reported_and_nothing_is_decided() {
    let mut session = Session::default();
    let answer = session.answer(texts("# no frontmatter", "{", Some("[]")), all_views());
    assert_eq!(views(&answer), [""; 0]);
    let verdict = answer.verdict.unwrap();
    let found: Vec<_> = verdict
        .diagnostics
        .iter()
        .map(|found| (found.labels[0].place.source, found.code.name()))
        .collect();
    assert_eq!(
        found,
        [
            (DocumentKind::Manifest, "FRONTMATTER_MISSING"),
            (DocumentKind::Index, "JSON_SYNTAX"),
            (DocumentKind::Lock, "WRONG_TYPE"),
        ]
    );
    assert_eq!(
        verdict,
        Verdict {
            diagnostics: verdict.diagnostics.clone(),
            ..Verdict::default()
        }
    );
}

#[test]
fn a_readable_input_is_described_beside_an_unreadable_one() {
    let with_index = verdict("", INDEX, None);
    assert_eq!((with_index.agent, with_index.servers), (None, Some(4)));
    let with_manifest = verdict(MANIFEST, "", None);
    assert_eq!(
        with_manifest.agent.map(|agent| agent.name).as_deref(),
        Some("hello-agent")
    );
    assert_eq!(with_manifest.servers, None);
    assert_eq!(
        with_manifest.constraints.residency.as_deref(),
        Some("us-only")
    );
}

#[test]
fn places_are_counted_in_utf_16() {
    let manifest = "---\nname: 𝄞\nversion: 1\nrequires: { mcp: [{ category: 𝄞, permisions: [], permissions: [] }] }\n---\n";
    let verdict = verdict(manifest, "[]", None);
    let found = &verdict.diagnostics[0];
    assert_eq!(found.code.name(), "UNKNOWN_KEY");
    assert_eq!(
        found.labels[0].place.start,
        Position {
            line: 4,
            column: 34,
            utf16_column: 35,
        }
    );
    assert_eq!(at(manifest, &found.labels[0].place), "permisions");
}

// ── The session ─────────────────────────────────────────────────────────────────────────

#[test]
fn the_description_of_the_engine() {
    let about = Session::about();
    assert_eq!(about.version, env!("CARGO_PKG_VERSION"));
    assert_eq!(about.residencies, ["any", "eu-only", "us-only"]);
    assert_eq!(
        about.sensitivities,
        [
            "public",
            "internal",
            "confidential",
            "pii.low",
            "pii.moderate",
            "pii.high"
        ]
    );
    let codes: Vec<_> = about.checks.iter().map(|code| code.name()).collect();
    assert_eq!(codes.len(), MatrixRow::CHECKS);
    // The bits of cells are in this order.
    let all = [
        "MISSING_CATEGORY",
        "TOOL_MISSING",
        "MISSING_SCOPE",
        "MISSING_CAPABILITY",
        "CONSTRAINT_UNMET",
        "RESIDENCY_MISMATCH",
        "SENSITIVITY_EXCEEDED",
        "UNSIGNED_NOT_ALLOWED",
        "FORBIDDEN_ACTION",
        "INVISIBLE_CHARACTER",
        "POLICY_DENIED",
        "POLICY_ERROR",
        "HEALTH_VETO",
    ];
    assert_eq!(codes, all);
}

#[test]
fn the_verdict_is_repeated_only_for_new_texts() {
    let (mut session, first) = opened(texts(MANIFEST, INDEX, None));
    for _ in 0..3 {
        let answer = session.answer(Texts::default(), all_views());
        assert_eq!(answer.verdict, None);
        assert_eq!(views(&answer), ALL_VIEWS);
    }
    let again = session.answer(
        Texts::default().with(DocumentKind::Manifest, MANIFEST),
        Request::default(),
    );
    assert_eq!(again.verdict, Some(first));
}

/// The first question may have no texts. It still needs an answer.
#[test]
fn without_any_text_there_is_an_empty_verdict_once() {
    let mut session = Session::default();
    let first = look(&mut session, all_views());
    assert_eq!(first.verdict, Some(Verdict::default()));
    assert_eq!(views(&first), [""; 0]);
    assert_eq!(look(&mut session, all_views()).verdict, None);
}

#[test]
fn a_text_that_is_not_sent_stays_as_it_was() {
    let (mut session, first) = opened(texts(MANIFEST, INDEX, None));
    let mut tell = |texts| {
        let answer = session.answer(texts, Request::default());
        answer.verdict.unwrap()
    };
    let broken = tell(Texts::default().with(DocumentKind::Index, "["));
    assert_eq!((broken.satisfied, broken.servers), (None, None));
    assert_eq!(broken.agent, first.agent);
    let empty = tell(Texts::default().with(DocumentKind::Index, "[]"));
    assert_eq!((empty.satisfied, empty.servers), (Some(false), Some(0)));
    let mended = tell(Texts::default().with(DocumentKind::Index, INDEX));
    assert_eq!(mended, first);
}

/// Questions may be older than the texts: a page requests its open views.
#[test]
fn requests_for_absent_items_have_no_answer() {
    let (mut session, _) = opened(texts(MANIFEST, INDEX, None));
    for requirement in [2, u32::MAX] {
        let answer = look(
            &mut session,
            Request {
                explanation: Some(ExplanationRequest {
                    requirement,
                    server: name("gamma", "1.0.0"),
                    tool: None,
                }),
                rejected: Some(RejectedRequest {
                    requirement,
                    check: 0,
                    limit: 10,
                }),
                eligible: Some(ListRequest {
                    requirement,
                    limit: 10,
                }),
                ..Request::default()
            },
        );
        assert_eq!(views(&answer), [""; 0], "{requirement}");
    }
    for check in [5, u8::MAX] {
        let answer = look(
            &mut session,
            Request {
                rejected: Some(RejectedRequest {
                    requirement: 0,
                    check,
                    limit: 10,
                }),
                ..Request::default()
            },
        );
        assert_eq!(answer.rejected, None, "{check}");
    }
    for server in [name("gamma", "2"), name("delta", "1.0.0"), name("", "")] {
        let answer = look(
            &mut session,
            Request {
                explanation: Some(ExplanationRequest {
                    requirement: 0,
                    server,
                    tool: None,
                }),
                ..Request::default()
            },
        );
        assert_eq!(answer.explanation, None);
    }
    let (mut session, _) = opened(texts(MANIFEST, "[]", None));
    let answer = look(&mut session, all_views());
    // Without servers, every list is empty.
    assert_eq!(
        views(&answer),
        ["matrix", "fallen", "supposed", "counts", "resolution"]
    );
    assert_eq!(answer.matrix.unwrap().total, 0);
    assert_eq!(answer.rejected.unwrap().total, 0);
}

// ── Many servers ─────────────────────────────────────────────────────────────────────────────

const MANY: u32 = 2_500;

const MANY_MANIFEST: &str = "---\nname: many\nversion: 1\nrequires:\n  mcp:\n    \
    - { category: a, permissions: [x] }\n    - { category: b, permissions: [x, y] }\n    \
    - { category: c, permissions: [] }\nconstraints:\n  \
    data: { residency: us-only, sensitivity: confidential }\n  \
    trust: { requireSigned: true }\n---\n";

/// Returns an index with all combinations of failures, in another order than that of the names.
fn many_servers(number: u32) -> String {
    let mut index = String::from("[");
    for at in 0..number {
        let n = at * 1_777 % number;
        let comma = if at == 0 { "" } else { "," };
        write!(
            index,
            r#"{comma}{{"id":"s{n:05}","version":"1","endpoint":"https://s.example/{n}","categories":{},"scopes":{},"data":{{"residency":"{}","maxSensitivity":"{}"}},"trust":{{"signed":{},"publisher":"P"}}}}"#,
            [r#"["a"]"#, r#"["b"]"#, r#"["a","b"]"#][n as usize % 3],
            ["[]", r#"["x"]"#, r#"["x","y"]"#, r#"["x","y","z"]"#, r#"["y"]"#][n as usize % 5],
            ["us-only", "eu-only", "any", "us-only"][n as usize % 4],
            ["public", "internal", "confidential", "pii.low", "pii.moderate", "pii.high", "pii.high"]
                [n as usize % 7],
            !n.is_multiple_of(11),
        )
        .unwrap();
    }
    index + "]"
}

/// Computes the checks that a server of [`many_servers`] fails, without the engine.
fn failed(n: u32, requirement: usize) -> u16 {
    let category = match requirement {
        0 => n % 3 != 1,
        1 => !n.is_multiple_of(3),
        _ => false,
    };
    let scopes = match requirement {
        0 => matches!(n % 5, 1..=3),
        1 => matches!(n % 5, 2..=3),
        _ => true,
    };
    [
        category,
        scopes,
        n % 4 != 1,
        n % 7 >= 2,
        !n.is_multiple_of(11),
    ]
    .into_iter()
    // The check of named tools is between category and scopes, and the two of capabilities alone are between
    // scopes and residency.
    .zip([0, 2, 5, 6, 7])
    .map(|(passed, bit)| u16::from(!passed) << bit)
    .sum()
}

/// Returns the matrix of [`many_servers`].
fn rows() -> Vec<MatrixRow> {
    let selected: Vec<_> = (0..3)
        .map(|requirement| (0..MANY).find(|n| failed(*n, requirement) == 0))
        .collect();
    let row = |n| {
        let cells = selected.iter().zip(0..).map(|(selected, requirement)| {
            let selected = if *selected == Some(n) {
                MatrixRow::SELECTED
            } else {
                0
            };
            failed(n, requirement) | selected
        });
        MatrixRow {
            server: name(&format!("s{n:05}"), "1"),
            tool: None,
            cells: cells.collect(),
        }
    };
    (0..MANY).map(row).collect()
}

fn window(filter: Filter, offset: u32, limit: u32) -> Request {
    Request {
        matrix: Some(MatrixRequest {
            filter,
            offset,
            limit,
        }),
        ..Request::default()
    }
}

#[test]
fn windows_of_the_matrix() {
    let (mut session, verdict) = opened(texts(MANY_MANIFEST, &many_servers(MANY), None));
    assert_eq!(verdict.servers, Some(MANY));
    let all = rows();
    let by_name = Filter {
        by_name: true,
        ..Filter::default()
    };
    for (offset, limit, expected) in [
        (0, 50, 0..50),
        (1_230, 3, 1_230..1_233),
        (2_480, 50, 2_480..2_500),
        (2_500, 50, 0..0),
        (u32::MAX, u32::MAX, 0..0),
        (0, 0, 0..0),
        // The request does not raise the limit.
        (7, u32::MAX, 7..1_007),
    ] {
        let matrix = look(&mut session, window(by_name.clone(), offset, limit)).matrix;
        let matrix = matrix.unwrap();
        assert_eq!((matrix.total, matrix.offset), (MANY, offset));
        assert_eq!(matrix.rows, all[expected]);
    }
}

#[test]
fn a_filtered_matrix() {
    let (mut session, _) = opened(texts(MANY_MANIFEST, &many_servers(MANY), None));
    let filter = |id: &str, bits, requirement| Filter {
        id: id.to_owned(),
        bits,
        requirement,
        by_name: true,
        ..Filter::default()
    };
    let filters = [
        filter("s0012", 0, None),
        filter("5", 0, Some(1)),
        filter("", 1 << 5, Some(0)),
        filter("", 1 << 2 | 1 << 7, None),
        filter("", MatrixRow::FAILED, Some(1)),
        filter("", MatrixRow::SELECTED, None),
        filter("", MatrixRow::SELECTED, Some(2)),
        filter("", MatrixRow::ELIGIBLE, Some(1)),
        filter("9", MatrixRow::ELIGIBLE | MatrixRow::SELECTED, Some(0)),
        filter("", 1 << 6, Some(3)),
        filter("", 1 << 14, None),
        filter("nobody", 0, None),
        filter("S0012", 0, None),
    ];
    for filter in filters {
        let fits = |row: &MatrixRow| {
            let cell = |cell: u16| match cell {
                0 => filter.bits & MatrixRow::ELIGIBLE != 0,
                cell => filter.bits & cell != 0,
            };
            row.server.id.contains(&filter.id)
                && (filter.bits == 0
                    || match filter.requirement {
                        None => row.cells.iter().any(|bits| cell(*bits)),
                        Some(number) => row.cells.get(number as usize).is_some_and(|b| cell(*b)),
                    })
        };
        let expected: Vec<_> = rows().into_iter().filter(fits).collect();
        // The second window uses the kept rows.
        for offset in [0, 40, 0] {
            let answer = look(&mut session, window(filter.clone(), offset, 40));
            let matrix = answer.matrix.unwrap();
            assert_eq!(matrix.total as usize, expected.len(), "{filter:?}");
            let rows = expected.iter().skip(offset as usize).take(40);
            assert!(matrix.rows.iter().eq(rows), "{filter:?}");
        }
    }
}

#[test]
fn the_rows_nearest_to_a_yes_are_first() {
    let (mut session, _) = opened(texts(MANY_MANIFEST, &many_servers(MANY), None));
    // Selected, eligible, the latest first failure, the fewest failures.
    let distance = |bits: &u16| match *bits {
        MatrixRow::SELECTED => (0, 0, 0),
        0 => (1, 0, 0),
        bits => (2, 16 - bits.trailing_zeros(), bits.count_ones()),
    };
    for requirement in [None, Some(0), Some(1), Some(3)] {
        let mut expected = rows();
        expected.sort_by_key(|row| match requirement {
            None => row.cells.iter().map(distance).min(),
            Some(number) => row.cells.get(number as usize).map(distance),
        });
        let filter = Filter {
            requirement,
            ..Filter::default()
        };
        let answer = look(&mut session, window(filter.clone(), 0, 1_000));
        assert_eq!(answer.matrix.unwrap().rows, expected[..1_000]);
        let answer = look(&mut session, window(filter, 2_000, 1_000));
        assert_eq!(answer.matrix.unwrap().rows, expected[2_000..]);
    }
}

#[test]
fn the_rows_of_a_matrix_follow_the_texts() {
    let (mut session, _) = opened(texts(MANY_MANIFEST, &many_servers(30), None));
    let wanted = window(Filter::default(), 0, 1);
    assert_eq!(look(&mut session, wanted.clone()).matrix.unwrap().total, 30);
    let answer = session.answer(
        Texts::default().with(DocumentKind::Index, many_servers(20)),
        wanted,
    );
    assert_eq!(answer.matrix.unwrap().total, 20);
}

#[test]
fn a_funnel_names_the_losses_of_up_to_six_candidates() {
    for (number, named) in [(6, true), (7, false)] {
        let verdict = verdict(MANY_MANIFEST, &many_servers(number), None);
        for requirement in &verdict.requirements {
            let mut left = requirement.all;
            for stage in &requirement.funnel {
                let lost = if named { left - stage.left } else { 0 };
                assert_eq!(stage.lost.len(), lost as usize, "{:?}", stage.code);
                left = stage.left;
            }
        }
    }
}

#[test]
fn rejected_servers_are_the_losses_of_the_funnel() {
    let (mut session, verdict) = opened(texts(MANY_MANIFEST, &many_servers(MANY), None));
    for (number, requirement) in verdict.requirements.iter().enumerate() {
        let mut left = requirement.all;
        for (check, stage) in requirement.funnel.iter().enumerate() {
            let bit = [0, 2, 5, 6, 7][check];
            let expected: Vec<_> = (0..MANY)
                .filter(|n| failed(*n, number).trailing_zeros() == bit)
                .map(|n| format!("s{n:05}"))
                .collect();
            let ask = |limit| Request {
                rejected: Some(RejectedRequest {
                    requirement: number as u32,
                    check: check as u8,
                    limit,
                }),
                ..Request::default()
            };
            let fallen = look(&mut session, ask(u32::MAX)).rejected.unwrap();
            assert_eq!(fallen.requirement as usize, number);
            assert_eq!(fallen.total, left - stage.left);
            assert_eq!(fallen.total as usize, expected.len());
            let ids: Vec<_> = fallen.items.iter().map(|one| &one.server.id).collect();
            // The request does not raise the limit.
            assert_eq!(ids, expected.iter().take(1_000).collect::<Vec<_>>());
            for one in &fallen.items {
                assert_eq!(one.reason.code, stage.code);
            }

            let few = look(&mut session, ask(2)).rejected.unwrap();
            assert_eq!(few.total, fallen.total);
            assert!(few.items.iter().eq(fallen.items.iter().take(2)));
            left = stage.left;
        }
        let eligible = (0..MANY).filter(|n| failed(*n, number) == 0).count();
        assert_eq!(left as usize, eligible);
    }
}

#[test]
fn the_eligible_ones_in_order() {
    let (mut session, verdict) = opened(texts(MANY_MANIFEST, &many_servers(MANY), None));
    let mut list = |requirement, limit| {
        let wanted = Request {
            eligible: Some(ListRequest { requirement, limit }),
            ..Request::default()
        };
        look(&mut session, wanted).eligible
    };
    for requirement in [0, 1] {
        let expected: Vec<_> = (0..MANY)
            .filter(|n| failed(*n, requirement as usize) == 0)
            .map(|n| format!("s{n:05}"))
            .collect();
        let Outcome::Selected(selected) = &verdict.requirements[requirement as usize].outcome
        else {
            panic!("{requirement} has a server");
        };
        assert_eq!(selected.server.id, expected[0]);
        let eligible = list(requirement, u32::MAX).unwrap();
        assert_eq!(eligible.total as usize, expected.len() - 1);
        let ids = eligible.items.iter().map(|one| &one.server.id);
        assert!(ids.eq(&expected[1..]));
        assert!(eligible.items.iter().all(|one| one.lost_on == "id"));
        assert_eq!(selected.over.as_ref(), eligible.items.first());

        let few = list(requirement, 1).unwrap();
        assert_eq!((few.total, few.items.len()), (eligible.total, 1));
    }
    assert_eq!(list(2, 10), None);
}

#[test]
fn the_rules_of_a_tie() {
    let index = many_servers(1).replace(
        "s00000",
        r#"x","version":"2","endpoint":"pkg:generic/e","categories":["a"],"scopes":["x"],"data":{"residency":"any","maxSensitivity":"pii.high"},"trust":{"signed":true,"publisher":"P"}},
        {"id":"x","version":"10","endpoint":"pkg:generic/e","categories":["a"],"scopes":["x"],"data":{"residency":"any","maxSensitivity":"pii.high"},"trust":{"signed":true,"publisher":"P"}},
        {"id":"y","version":"0","endpoint":"pkg:generic/e","categories":["a"],"scopes":["x"],"data":{"residency":"any","maxSensitivity":"pii.high"},"trust":{"signed":true,"publisher":"P"}},
        {"id":"a","version":"0","endpoint":"pkg:generic/e","categories":["a"],"scopes":["x"],"data":{"residency":"any","maxSensitivity":"pii.high"},"trust":{"signed":false,"publisher":"P"}},
        {"id":"s00000"#,
    );
    let manifest = MANY_MANIFEST.replace("requireSigned: true", "requireSigned: false");
    let (mut session, verdict) = opened(texts(&manifest, &index, None));
    assert_eq!(verdict.diagnostics.len(), 2, "{:#?}", verdict.diagnostics);
    let wanted = Request {
        eligible: Some(ListRequest {
            requirement: 0,
            limit: 10,
        }),
        ..Request::default()
    };
    let eligible = look(&mut session, wanted).eligible.unwrap().items;
    let eligible: Vec<_> = eligible
        .iter()
        .map(|one| {
            (
                one.server.id.as_str(),
                one.server.version.as_str(),
                one.lost_on.as_str(),
            )
        })
        .collect();
    assert_eq!(
        eligible,
        [
            ("x", "2", "version"),
            ("y", "0", "id"),
            ("a", "0", "signed")
        ]
    );
}

// ── Explanations ──────────────────────────────────────────────────────────────────────────────────

fn explained(session: &mut Session, requirement: u32, server: ServerName) -> Explanation {
    let wanted = Request {
        explanation: Some(ExplanationRequest {
            requirement,
            server,
            tool: None,
        }),
        ..Request::default()
    };
    look(session, wanted)
        .explanation
        .expect("the server is there")
}

#[test]
fn the_explanation_of_a_selected_server() {
    let (mut session, _) = opened(texts(MANIFEST, INDEX, None));
    let explanation = explained(&mut session, 0, name("acme-audiences", "2.1.0"));
    assert_eq!(explanation.requirement, 0);
    assert_eq!(explanation.verdict, CandidateVerdict::Selected);
    assert_eq!((explanation.reasons, explanation.fixes), (vec![], vec![]));
    assert_eq!(
        explanation.server.scopes.join(" "),
        "delete:audiences read:audiences write:audiences"
    );
    assert_eq!(explanation.server.publisher, "Acme, Inc.");
    let entry = at(INDEX, &explanation.server.place);
    assert!(
        entry.starts_with("{\n      \"id\": \"acme-audiences\""),
        "{entry}"
    );
    assert!(
        entry.ends_with("\"rateLimitPerMin\": 600 }\n    }"),
        "{entry}"
    );

    let checks: Vec<_> = explanation
        .checks
        .iter()
        .map(|check| {
            (
                check.code.name(),
                check.required.as_deref(),
                check.offered.as_str(),
                check.asked_at.map(|place| at(MANIFEST, &place)),
                check.offered_at.map(|place| at(INDEX, &place)),
            )
        })
        .collect();
    assert_eq!(
        checks,
        [
            (
                "MISSING_CATEGORY",
                Some("audiences"),
                "audiences",
                Some("audiences"),
                Some(r#"["audiences"]"#)
            ),
            (
                "MISSING_SCOPE",
                Some("read:audiences, write:audiences"),
                "delete:audiences, read:audiences, write:audiences",
                Some("read:audiences"),
                Some(r#"["read:audiences", "write:audiences", "delete:audiences"]"#)
            ),
            (
                "RESIDENCY_MISMATCH",
                Some("us-only"),
                "us-only",
                Some("us-only"),
                Some(r#"["us-only"]"#)
            ),
            (
                "SENSITIVITY_EXCEEDED",
                Some("internal"),
                "pii.moderate",
                Some("internal"),
                Some(r#""pii.moderate""#)
            ),
            ("UNSIGNED_NOT_ALLOWED", None, "signed", None, Some("true")),
        ]
    );
    assert!(explanation.checks.iter().all(|check| check.passed));
    for check in &explanation.checks {
        let sources = (
            check.asked_at.map(|place| place.source),
            check.offered_at.map(|place| place.source),
        );
        let asked = check.required.as_ref().map(|_| DocumentKind::Manifest);
        assert_eq!(sources, (asked, Some(DocumentKind::Index)));
    }
}

#[test]
fn the_explanation_of_an_eligible_server() {
    let (mut session, _) = opened(texts(MANIFEST, INDEX, None));
    let explanation = explained(&mut session, 0, name("beta-audiences", "1.0.0"));
    assert_eq!(
        explanation.verdict,
        CandidateVerdict::Eligible("it is not signed".to_owned())
    );
    assert_eq!((explanation.reasons, explanation.fixes), (vec![], vec![]));
    assert!(explanation.checks.iter().all(|check| check.passed));
}

#[test]
fn the_explanation_of_a_rejected_server() {
    let (mut session, _) = opened(texts(MANIFEST, INDEX, None));
    let explanation = explained(&mut session, 0, name("gamma", "1.0.0"));
    assert_eq!(explanation.verdict, CandidateVerdict::Rejected);
    let failed: Vec<_> = explanation
        .checks
        .iter()
        .filter(|check| !check.passed)
        .map(|check| check.code.name())
        .collect();
    assert_eq!(
        failed,
        [
            "MISSING_SCOPE",
            "RESIDENCY_MISMATCH",
            "SENSITIVITY_EXCEEDED"
        ]
    );
    let reasons: Vec<_> = explanation
        .reasons
        .iter()
        .map(|reason| reason.code.name())
        .collect();
    assert_eq!(reasons, failed);
    assert_eq!(
        explanation.reasons[0].text,
        "does not support `write:audiences`"
    );
    assert!(explanation.fixes.is_empty());
    assert_eq!(
        explanation.suppositions,
        [
            "would be eligible if it supported the scope `write:audiences`, kept data in `us-only` \
             and were approved for `internal`; its entry says `eu-only`, `public`"
        ]
    );
}

// ── What if ──────────────────────────────────────────────────────────────────────────────────

fn with_constraints(constraints: &Constraints) -> String {
    let mut data = vec![];
    if let Some(word) = &constraints.residency {
        data.push(format!("residency: {word}"));
    }
    if let Some(word) = &constraints.sensitivity {
        data.push(format!("sensitivity: {word}"));
    }
    let (before, after) = MANY_MANIFEST.split_once("constraints:").unwrap();
    let (_, after) = after.split_once("---").unwrap();
    let signed = constraints.require_signed;
    let mut manifest = format!("{before}constraints:\n  trust: {{ requireSigned: {signed} }}\n");
    if !data.is_empty() {
        writeln!(manifest, "  data: {{ {} }}", data.join(", ")).unwrap();
    }
    manifest + "---" + after
}

#[test]
fn supposed_constraints_equal_those_of_a_manifest() {
    let index = many_servers(300);
    let about = Session::about();
    let words = |words: &[String]| {
        let words = words.iter().cloned().map(Some);
        [None].into_iter().chain(words).collect::<Vec<_>>()
    };
    let (mut session, now) = opened(texts(MANY_MANIFEST, &index, None));
    let selected = |verdict: &Verdict| -> Vec<_> {
        let requirements = verdict.requirements.iter();
        requirements
            .map(|requirement| {
                let server = match &requirement.outcome {
                    Outcome::Selected(selected) => Some(selected.server.clone()),
                    Outcome::Unsatisfied { .. } => None,
                };
                let eligible = requirement.funnel.last().map_or(0, |stage| stage.left);
                (requirement.name(), server, eligible)
            })
            .collect()
    };
    let (mut different, mut at) = (0, 0);
    for residency in words(&about.residencies) {
        for sensitivity in words(&about.sensitivities) {
            for require_signed in [false, true] {
                let constraints = Constraints {
                    residency: residency.clone(),
                    sensitivity: sensitivity.clone(),
                    require_signed,
                };
                let wanted = Request {
                    supposed: Some(constraints.clone()),
                    counts: true,
                    ..Request::default()
                };
                let answer = look(&mut session, wanted);
                assert_eq!(answer.verdict, None);
                let supposed = answer.supposed.unwrap();
                let adopted = supposed.adopt.as_ref();
                // A page loads the larger module for it.
                let adopts = cfg!(feature = "policy") && constraints != now.constraints;
                assert_eq!(adopted.is_some(), adopts);
                let adopted = adopted.map(|fix| applied(MANY_MANIFEST, &fix.edits));
                let supposed = supposed.requirements;
                let now_told: Vec<_> = supposed
                    .iter()
                    .map(|one| (one.name.clone(), one.now.clone(), one.now_eligible))
                    .collect();
                let then_told: Vec<_> = supposed
                    .iter()
                    .map(|one| (one.name.clone(), one.then.clone(), one.then_eligible))
                    .collect();
                assert_eq!(now_told, selected(&now));
                let then = verdict(&with_constraints(&constraints), &index, None);
                assert_eq!(then.constraints, constraints);
                assert_eq!(then_told, selected(&then), "{constraints:?}");
                let adopted = adopted.map(|text| verdict(&text, &index, None));
                if let Some(adopted) = adopted {
                    assert_eq!(adopted.constraints, constraints);
                    assert_eq!(then_told, selected(&adopted), "{constraints:?}");
                }
                for (one, requirement) in supposed.iter().zip(&then.requirements) {
                    let expected = match &requirement.outcome {
                        Outcome::Selected(_) => None,
                        Outcome::Unsatisfied { nearest } => nearest.first(),
                    };
                    let said = |near: &NearMiss| (near.server.clone(), near.reasons.clone());
                    assert_eq!(one.nearest.as_ref().map(said), expected.map(said));
                }
                let satisfied = then_told.iter().filter(|(_, server, _)| server.is_some());
                let counts = answer.counts.unwrap();
                assert_eq!(
                    counts[at / 2] as usize,
                    satisfied.count(),
                    "{constraints:?}"
                );
                assert_eq!(counts.len(), 4 * 7);
                at += 1;
                different += u32::from(now_told != then_told);
            }
        }
    }
    assert!(
        different > 20,
        "{different} of the suppositions change anything"
    );
}

/// Returns a text after edits of it.
fn applied(text: &str, edits: &[Edit]) -> String {
    let [edit] = edits else {
        panic!("{edits:#?}");
    };
    let Span { start, end } = edit.place.span;
    let (before, after) = (&text[..start as usize], &text[end as usize..]);
    format!("{before}{}{after}", edit.replacement)
}

#[test]
fn a_policy_is_not_asked_too_often_for_the_counts() {
    let tool = |number: u32| {
        format!(
            r#""t{number}": {{ "inputSchema": {{}}, "x-summit-capabilities": [{{ "verb": "read", "resource": "internet" }}] }}"#
        )
    };
    let index = |tools: u32| {
        let tools: Vec<_> = (0..tools).map(tool).collect();
        format!(
            r#"[{{"id": "a", "version": "1", "endpoint": "https://a.example", "categories": ["c"],
                "scopes": [], "data": {{"residency": ["eu-only"], "maxSensitivity": "internal"}},
                "trust": {{"signed": true, "publisher": "A"}},
                "capabilities": {{ "tools": {{ {} }} }} }}]"#,
            tools.join(", ")
        )
    };
    let manifest = "---\nname: a\nversion: 1\nrequires:\n  capabilities:\n    - { verb: read, resource: internet }\n---\n";
    for (tools, policy, expected) in [
        (1_001, "", Some([0, 1])),
        (1_001, "package switchboard\n", None),
        (1_000, "package switchboard\n", Some([0, 0])),
    ] {
        let texts = texts(manifest, &index(tools), None).with(DocumentKind::Policy, policy);
        let wanted = Request {
            counts: true,
            ..Request::default()
        };
        let answer = Session::default().answer(texts, wanted);
        let verdict = answer.verdict.unwrap();
        assert_eq!(
            verdict.satisfied,
            Some(policy.is_empty()),
            "{:#?}",
            verdict.diagnostics
        );
        // Of any residency and public data, and of data that the server may not hold.
        let counts = answer.counts.map(|counts| [counts[6], counts[0]]);
        assert_eq!(counts, expected, "{tools} tools");
    }
}

#[test]
fn an_unknown_word_counts_as_absent() {
    let (mut session, _) = opened(texts(MANY_MANIFEST, &many_servers(300), None));
    let mut supposed = |word: Option<&str>| {
        let wanted = Request {
            supposed: Some(Constraints {
                residency: word.map(str::to_owned),
                sensitivity: word.map(str::to_owned),
                require_signed: true,
            }),
            ..Request::default()
        };
        look(&mut session, wanted).supposed
    };
    assert_eq!(supposed(Some("moon-only")), supposed(None));
}

#[cfg(feature = "policy")]
#[test]
fn a_changed_definition_is_compared_with_one_of_an_earlier_index() {
    let manifest = "---\nname: a\nversion: 1\nrequires:\n  capabilities:\n    - { verb: read, resource: codebase }\n---\n";
    let index = |description: &str| {
        format!(
            r#"[{{"id": "a", "version": "1", "endpoint": "https://a.example", "categories": ["c"],
                "scopes": [], "data": {{"residency": ["eu-only"], "maxSensitivity": "internal"}},
                "trust": {{"signed": true, "publisher": "A"}}, "capabilities": {{ "tools": {{ "t": {{
                "description": "{description}", "inputSchema": {{ "type": "object" }},
                "x-summit-capabilities": [{{ "verb": "read", "resource": "codebase" }}] }} }} }} }}]"#
        )
    };
    let changed = |verdict: &Verdict| -> Vec<_> {
        let existing = verdict.existing.as_ref().expect("a lock");
        let all = existing.changes.iter().chain(&existing.verify).flatten();
        let changed = all.filter(|it| it.code == Code::DefinitionChanged);
        changed
            .map(|it| (it.text.clone(), it.details.clone()))
            .collect()
    };
    let lock = verdict(manifest, &index("one"), None).lock.expect("a lock");

    // A session that has seen no other index knows two digests.
    let (mut session, first) = opened(texts(manifest, &index("two"), Some(&lock)));
    for (text, details) in changed(&first) {
        assert!(text.starts_with("the definition of the tool had the digest `sha256-"));
        assert_eq!(details, [""; 0]);
    }
    assert_eq!(changed(&first).len(), 2);

    let mut verdict = |description: &str| {
        let texts = Texts::default().with(DocumentKind::Index, index(description));
        session.answer(texts, Request::default()).verdict.unwrap()
    };
    assert_eq!(changed(&verdict("one")), []);
    let expected = ["`/description` was `\"one\"` and is `\"two\"`".to_owned()];
    let text = "the definition of a tool differs from the locked one".to_owned();
    let found = changed(&verdict("two"));
    assert_eq!(found, vec![(text, expected.to_vec()); 2]);
    // However many definitions it has seen since.
    for number in 0..6 {
        verdict(&number.to_string().repeat(1 << 20));
    }
    assert_eq!(changed(&verdict("two")), found);
}

// ── Files ────────────────────────────────────────────────────────────────────────────────────

fn beginning(session: &mut Session, limit: u32) -> Result<Explained, String> {
    let wanted = Request {
        resolution: Some(limit),
        ..Request::default()
    };
    look(session, wanted).resolution.expect("it was asked for")
}

fn explanation(session: &mut Session) -> Result<String, String> {
    let explained = beginning(session, u32::MAX)?;
    assert!(explained.is_whole);
    Ok(explained.text)
}

#[test]
fn the_beginning_of_an_explanation_has_whole_lines() {
    let (mut session, _) = opened(texts(MANY_MANIFEST, &many_servers(300), None));
    let whole = explanation(&mut session).unwrap();
    let length = whole.len() as u32;
    for (limit, is_whole) in [
        (0, false),
        (10_000, false),
        (length - 1, false),
        (length, true),
    ] {
        let explained = beginning(&mut session, limit).unwrap();
        assert_eq!(explained.is_whole, is_whole, "{limit}");
        let (start, rest) = whole.split_at(explained.text.len());
        assert_eq!(explained.text, start);
        // No line more would fit.
        let line = rest.lines().next().map_or(0, |line| line.len() + 1);
        assert!(rest.is_empty() || start.len() + line > limit as usize);
    }
}

#[test]
fn problems_are_reported_as_the_command_line_does() {
    macro_rules! view {
        ($name:literal) => {
            ["agents.md", "mcp.index.json", "diagnostics.sarif"].map(|file| {
                let folder = concat!(
                    env!("CARGO_MANIFEST_DIR"),
                    "/../../tests/corpus/views/",
                    $name,
                    "/"
                );
                std::fs::read_to_string(folder.to_owned() + file).unwrap()
            })
        };
    }
    for [manifest, index, expected] in [
        view!("hello-agent-in-the-european-union"),
        view!("problems-in-both-files"),
    ] {
        let (mut session, _) = opened(texts(&manifest, &index, None));
        assert_eq!(look(&mut session, Request::default()).report, None);
        let wanted = Request {
            report: true,
            ..Request::default()
        };
        let present = cfg!(feature = "policy");
        assert_eq!(
            look(&mut session, wanted).report,
            present.then_some(expected)
        );
    }
}

#[cfg(feature = "policy")]
#[test]
fn a_report_has_every_problem_of_the_page() {
    let manifest = "---\nname: a\nversion: 1\nrequires:\n  capabilities:\n    - { verb: read, resource: internet }\n---\n";
    let index = r#"[{"id": "a", "version": "1", "endpoint": "https://a.example", "categories": ["c"],
        "scopes": [], "data": {"residency": ["eu-only"], "maxSensitivity": "internal"},
        "trust": {"signed": true, "publisher": "A"}, "capabilities": { "tools": { "t": {
        "x-summit-capabilities": [{ "verb": "read", "resource": "internet" }] } } } }]"#;
    for (policy, expected) in [
        ("package switchboard\n", Code::PolicyError),
        (
            "package switchboard\nallowed_tools contains \"x\" if input.user_tier == \"x\"\n",
            Code::PolicyRuleUnused,
        ),
    ] {
        let texts = texts(manifest, index, None).with(DocumentKind::Policy, policy);
        let (mut session, verdict) = opened(texts);
        let wanted = Request {
            report: true,
            ..Request::default()
        };
        let report = look(&mut session, wanted).report.unwrap();
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        let results = report["runs"][0]["results"].as_array().unwrap();
        let found: Vec<_> = results
            .iter()
            .map(|it| it["ruleId"].as_str().unwrap())
            .collect();
        let shown: Vec<_> = verdict
            .diagnostics
            .iter()
            .map(|it| it.code.name())
            .collect();
        assert_eq!(found, shown);
        assert!(found.contains(&expected.name()), "{found:?}");
    }
}

#[test]
fn the_explanation_is_what_the_engine_writes() {
    let unsatisfied = MANIFEST.replace("us-only", "eu-only");
    let many = many_servers(300);
    for (manifest, index) in [
        (MANIFEST, INDEX),
        (&unsatisfied, INDEX),
        (MANIFEST, "[]"),
        (MANY_MANIFEST, &many),
    ] {
        let lowered = (
            lower::manifest(manifest.as_bytes().to_vec()).unwrap(),
            lower::index(index.as_bytes().to_vec()).unwrap(),
        );
        let resolution = Resolution::new(Arc::new(lowered.0.value), Arc::new(lowered.1.value));
        let (mut session, verdict) = opened(texts(manifest, index, None));
        assert_eq!(
            explanation(&mut session).unwrap(),
            render::resolution(&resolution).unwrap()
        );
        let lock = resolution.lock().as_ref().map(render::lock);
        assert_eq!(verdict.lock, lock);
    }
    let (mut hello, _) = opened(texts(MANIFEST, INDEX, None));
    assert_eq!(
        explanation(&mut hello).unwrap(),
        include_str!("../../../tests/corpus/views/hello-agent/agents.resolution.json")
    );
}

#[test]
fn a_very_large_explanation_is_not_written() {
    let manifest = |requirements: usize| {
        let requirements = "{ category: c, permissions: [] }, ".repeat(requirements);
        format!("---\nname: n\nversion: 1\nrequires: {{ mcp: [{requirements}] }}\n---\n")
    };
    let (mut session, _) = opened(texts(&manifest(200), &many_servers(1_000), None));
    assert!(explanation(&mut session).is_ok());
    let (mut session, _) = opened(texts(&manifest(200), &many_servers(1_001), None));
    assert_eq!(
        explanation(&mut session).unwrap_err(),
        "the explanation has 200200 entries, and at most 200000 are written here: use `agent resolve`"
    );
}

// ── Locks ────────────────────────────────────────────────────────────────────────────────────

fn codes(drifts: &Option<Vec<Drift>>) -> Option<Vec<&str>> {
    let drifts = drifts.as_ref()?.iter();
    Some(drifts.map(|drift| drift.code.name()).collect())
}

#[test]
fn an_existing_lock_that_still_holds() {
    let verdict = verdict(MANIFEST, INDEX, Some(LOCK));
    assert_eq!(
        verdict.existing,
        Some(LockVerdict {
            changes: Some(vec![]),
            verify: Some(vec![]),
        })
    );
}

#[test]
fn drifts_from_an_existing_lock() {
    let manifest = MANIFEST.replace("- read:reports", "- read:reports\n        - export:reports");
    let widened = verdict(&manifest, INDEX, Some(LOCK)).existing.unwrap();
    let changes = widened.changes.unwrap();
    let [Drift { places, .. }] = &changes[..] else {
        panic!("{changes:?}");
    };
    assert_eq!(places[0].source, DocumentKind::Lock);
    assert!(
        places[0].span.of(LOCK).contains("read:reports"),
        "{places:?}"
    );
    assert_eq!(
        changes[0],
        Drift {
            code: Code::ScopeWidened,
            category: Some("reporting".to_owned()),
            capability: None,
            text: "the scope `export:reports` is newly granted".to_owned(),
            details: vec![],
            places: places.clone(),
            widening: true,
        }
    );
    assert_eq!(widened.verify, Some(vec![]));

    let index = INDEX.replace("\"Acme, Inc.\"", "\"Acme Holdings\"");
    let changed = verdict(MANIFEST, &index, Some(LOCK)).existing.unwrap();
    for drifts in [&changed.changes, &changed.verify] {
        assert_eq!(codes(drifts).unwrap(), ["INTEGRITY_CHANGED"]);
        assert!(!drifts.as_ref().unwrap()[0].widening);
    }
}

#[test]
fn a_lock_beside_an_unreadable_input() {
    // No lock would be written, and the index still has the locked entries.
    let unsatisfied = MANIFEST.replace("sensitivity: internal", "sensitivity: pii.high");
    let existing = verdict(&unsatisfied, INDEX, Some(LOCK)).existing.unwrap();
    assert_eq!(
        (codes(&existing.changes), codes(&existing.verify)),
        (None, Some(vec![]))
    );

    let existing = verdict("", INDEX, Some(LOCK)).existing.unwrap();
    assert_eq!(
        (codes(&existing.changes), codes(&existing.verify)),
        (None, Some(vec![]))
    );

    let existing = verdict(MANIFEST, "", Some(LOCK)).existing.unwrap();
    assert_eq!(
        (codes(&existing.changes), codes(&existing.verify)),
        (None, None)
    );

    let broken = verdict(MANIFEST, INDEX, Some("{}"));
    assert_eq!(broken.existing, None);
    // The decision does not depend on a lock.
    assert_eq!(broken.satisfied, Some(true));
    assert!(!broken.diagnostics.is_empty());
    for found in &broken.diagnostics {
        assert_eq!(found.labels[0].place.source, DocumentKind::Lock);
    }
}

#[test]
fn a_removed_lock_is_not_compared() {
    let (mut session, first) = opened(texts(MANIFEST, INDEX, Some(LOCK)));
    assert!(first.existing.is_some());
    let answer = session.answer(
        Texts::default().with(DocumentKind::Lock, ""),
        Request::default(),
    );
    assert_eq!(answer.verdict.unwrap().existing, None);
}

// ── Suggested fixes ────────────────────────────────────────────────────────────────────────

/// Applies edits to a text as an editor does: all at once, by line and column.
fn edited(text: &str, source: DocumentKind, edits: &[Edit]) -> String {
    let mut out = String::new();
    let mut done = 0;
    for edit in edits.iter().filter(|edit| edit.place.source == source) {
        let (start, end) = (offset(text, edit.place.start), offset(text, edit.place.end));
        assert!(done <= start && start <= end, "{edits:?}");
        out += &text[done..start];
        out += &edit.replacement;
        done = end;
    }
    out + &text[done..]
}

/// Applies every fix for every server and requirement, and decides again. Returns the number of fixes.
fn try_all_fixes(manifest: &str, index: &str) -> usize {
    let (mut session, before) = opened(texts(manifest, index, None));
    assert!(before.satisfied.is_some(), "{:#?}", before.diagnostics);
    let rows = look(&mut session, window(Filter::default(), 0, u32::MAX));
    let mut tried = 0;
    for row in rows.matrix.unwrap().rows {
        for (number, bits) in (0..).zip(&row.cells) {
            let told_story = explained(&mut session, number, row.server.clone());
            let rejected = bits & MatrixRow::FAILED != 0;
            assert_eq!(told_story.verdict == CandidateVerdict::Rejected, rejected);
            // What is true of a server is no fix, but every rejection says what would have to be.
            assert_eq!(told_story.suppositions.is_empty(), !rejected);
            for fix in told_story.fixes {
                assert!(widens(&fix) && !fix.edits.is_empty(), "{fix:?}");
                let mut edited_documents = fix.edits.iter().map(|edit| edit.place.source);
                assert!(
                    edited_documents.all(|source| source == DocumentKind::Manifest),
                    "{fix:?}"
                );
                let texts = texts(
                    &edited(manifest, DocumentKind::Manifest, &fix.edits),
                    &edited(index, DocumentKind::Index, &fix.edits),
                    None,
                );
                let (mut then, after) = opened(texts.clone());
                let context = format!("{} for {:?}\n{texts:#?}", fix.title, row.server);
                assert_eq!(after.servers, before.servers, "{context}");
                assert_eq!(
                    after.diagnostics.len(),
                    after
                        .requirements
                        .iter()
                        .filter(|requirement| {
                            matches!(requirement.outcome, Outcome::Unsatisfied { .. })
                        })
                        .count(),
                    "{context}\n{:#?}",
                    after.diagnostics
                );
                let after = explained(&mut then, number, row.server.clone());
                assert_ne!(after.verdict, CandidateVerdict::Rejected, "{context}");
                tried += 1;
            }
        }
    }
    tried
}

#[test]
fn fixes_of_hello_agent_have_their_effect() {
    let mut tried = try_all_fixes(MANIFEST, INDEX);
    for (was, is) in [
        ("sensitivity: internal", "sensitivity: pii.high"),
        ("residency: us-only", "residency: eu-only"),
        (
            "  actions:",
            "  trust:\n    requireSigned: true\n  actions:",
        ),
        ("audiences, write", "nothing, write"),
    ] {
        let manifest = MANIFEST.replace(was, is);
        assert_ne!(manifest, MANIFEST);
        tried += try_all_fixes(&manifest, INDEX);
    }
    assert!(tried >= 5, "{tried}");
}

#[test]
fn fixes_fit_texts_with_other_line_ends_and_a_byte_order_mark() {
    let windows = |text: &str| format!("\u{feff}{}", text.replace('\n', "\r\n"));
    let manifest = MANIFEST.replace("us-only", "eu-only");
    assert_eq!(
        try_all_fixes(&windows(&manifest), &windows(INDEX)),
        try_all_fixes(&manifest, INDEX)
    );
}

#[test]
fn fixes_fit_texts_on_one_line_with_all_kinds_of_characters() {
    let index = INDEX
        .replace('\n', " ")
        .replace("\"Gamma GmbH\"", "\"𝄞 Größe 中文 \\uD834\\uDD1E\"")
        .replace("\"id\": \"gamma\"", "\"note\": \"👩‍👩‍👧‍👦\", \"id\": \"γάμμα𝄞\"");
    let manifest = "---\n{ x-note: 👩‍👩‍👧‍👦, name: 𝄞, version: 1, requires: { mcp: [{ category: \
         '𝄞', permissions: ['read:𝄞', read:audiences] }, { category: audiences, \
         permissions: [write:audiences] }] }, constraints: { trust: { requireSigned: true }, \
         data: { residency: us-only, sensitivity: pii.high } } }\n---\n";
    assert!(try_all_fixes(manifest, &index) >= 2);
}

#[test]
fn fixes_fit_every_combination_of_failures() {
    assert!(try_all_fixes(MANY_MANIFEST, &many_servers(231)) > 70);
}

/// Edits take longer than all else, and a verdict must be fast.
#[test]
fn with_many_unsatisfied_requirements_only_the_explanation_has_edits() {
    let requirements: String = (0..20)
        .map(|_| "    - category: reporting\n      permissions: [read:reports]\n")
        .collect();
    let constraints = "constraints:\n  data:\n    sensitivity: confidential\n";
    let manifest =
        format!("---\nname: a\nversion: 1\nrequires:\n  mcp:\n{requirements}{constraints}---\n");
    let (mut session, verdict) = opened(texts(&manifest, INDEX, None));
    let edited: Vec<_> = verdict
        .requirements
        .iter()
        .map(|requirement| match &requirement.outcome {
            Outcome::Unsatisfied { nearest } => !nearest[0].fixes[0].edits.is_empty(),
            Outcome::Selected(_) => panic!("nobody supports it"),
        })
        .collect();
    let eight_of_twenty: Vec<_> = (0..20).map(|number| number < 8).collect();
    assert_eq!(edited, eight_of_twenty);
    let explanation = explained(&mut session, 19, name("chart-reports", "3.4.1"));
    assert!(!explanation.fixes[0].edits.is_empty());
}

// ── Capabilities ─────────────────────────────────────────────────────────────────────────────

/// An example of the playground, in which one requirement of four has no tool.
fn investigator() -> Texts {
    Texts::default()
        .with(
            DocumentKind::Manifest,
            include_str!("../../examples/domain-investigator/agents.md"),
        )
        .with(
            DocumentKind::Index,
            include_str!("../../examples/domain-investigator/mcp.index.json"),
        )
        .with(
            DocumentKind::Task,
            include_str!("../../examples/domain-investigator/task.yaml"),
        )
        .with(
            DocumentKind::Tenant,
            include_str!("../../examples/domain-investigator/tenant.yaml"),
        )
        .with(
            DocumentKind::Health,
            include_str!("../../examples/domain-investigator/health.yaml"),
        )
}

fn explained_tool(
    session: &mut Session,
    requirement: u32,
    id: &str,
    tool: Option<&str>,
) -> Explanation {
    let wanted = Request {
        explanation: Some(ExplanationRequest {
            requirement,
            server: name(
                id,
                if id == "repo-reader" {
                    "1.0.3"
                } else {
                    "3.1.0"
                },
            ),
            tool: tool.map(str::to_owned),
        }),
        ..Request::default()
    };
    look(session, wanted)
        .explanation
        .expect("the server is there")
}

#[test]
fn requirements_of_capabilities_are_behind_those_of_categories() {
    let mut texts = investigator();
    let with_category = "requires:\n  mcp:\n    - { category: search, permissions: [] }\n";
    let manifest = texts.take(DocumentKind::Manifest as u32).unwrap();
    let manifest = manifest.replace("requires:\n", with_category);
    let (_, verdict) = opened(texts.with(DocumentKind::Manifest, manifest));
    let names: Vec<_> = verdict.requirements.iter().map(Requirement::name).collect();
    assert_eq!(
        names,
        [
            "search",
            "notify:slack",
            "search:internet",
            "read:codebase",
            "read:aws"
        ]
    );
    let sources: Vec<_> = verdict
        .requirements
        .iter()
        .map(|requirement| requirement.place.source)
        .collect();
    assert_eq!(sources[1], DocumentKind::Manifest);
    assert_eq!(sources[2..], [DocumentKind::Task; 3]);
    let Outcome::Selected(notify) = &verdict.requirements[1].outcome else {
        panic!("{verdict:#?}");
    };
    let tool = notify.tool.as_ref().unwrap();
    assert_eq!(
        (&*tool.name, &*tool.obligations),
        ("post_message", &["approval".to_owned()][..])
    );
}

#[test]
fn every_stage_of_a_capability_lists_those_that_it_holds_back() {
    let (mut session, verdict) = opened(investigator());
    for (number, requirement) in verdict.requirements.iter().enumerate() {
        assert_eq!(requirement.funnel.len(), 8);
        let mut left = requirement.all;
        for (check, stage) in requirement.funnel.iter().enumerate() {
            let wanted = Request {
                rejected: Some(RejectedRequest {
                    requirement: number as u32,
                    check: check as u8,
                    limit: 100,
                }),
                ..Request::default()
            };
            let fallen = look(&mut session, wanted).rejected.unwrap();
            assert_eq!(fallen.total, left - stage.left, "{number} {:?}", stage.code);
            // Of more candidates than six, the funnel names none.
            let named = requirement.all <= Stage::NAMED;
            assert_eq!(stage.lost, if named { &*fallen.items } else { &[] });
            for one in fallen.items {
                assert_eq!(one.reason.code, stage.code);
                assert!(one.tool.is_some());
            }
            left = stage.left;
        }
    }
}

#[test]
fn the_cell_of_a_server_is_that_of_its_best_tool() {
    let (mut session, verdict) = opened(investigator());
    let all = |tools| {
        let filter = Filter {
            tools,
            ..Filter::default()
        };
        window(filter, 0, 100)
    };
    let servers = look(&mut session, all(false)).matrix.unwrap();
    let tools = look(&mut session, all(true)).matrix.unwrap();
    assert_eq!((servers.total, tools.total), (6, 9));
    for row in &servers.rows {
        assert_eq!(row.tool, None);
        for (number, cell) in row.cells.iter().enumerate() {
            let of_server = |tool: &&MatrixRow| tool.server == row.server;
            let mut cells = tools
                .rows
                .iter()
                .filter(of_server)
                .map(|tool| tool.cells[number]);
            let explanation = look(
                &mut session,
                Request {
                    explanation: Some(ExplanationRequest {
                        requirement: number as u32,
                        server: row.server.clone(),
                        tool: None,
                    }),
                    ..Request::default()
                },
            );
            let told_of = explanation.explanation.unwrap().tool.unwrap().name;
            let best = tools.rows.iter().filter(of_server);
            let mut best = best.filter(|tool| tool.tool.as_ref() == Some(&told_of));
            assert_eq!(best.next().map(|tool| tool.cells[number]), Some(*cell));
            let good = |cell: u16| cell == 0 || cell & MatrixRow::SELECTED != 0;
            assert_eq!(good(*cell), cells.any(good), "{}", row.server.id);
        }
    }
    // A filter of tools also finds them by their names.
    let named = Filter {
        id: "read_file".to_owned(),
        tools: true,
        ..Filter::default()
    };
    assert_eq!(
        look(&mut session, window(named, 0, 9))
            .matrix
            .unwrap()
            .total,
        1
    );
    assert_eq!(verdict.tools, Some(9));
}

/// The switch edits every form of a snapshot.
#[test]
fn health_is_switched_by_an_edit() {
    let cases = [
        ("", "UNHEALTHY"),
        ("repo-reader: UNHEALTHY\n", "HEALTHY"),
        ("repo-reader: 'HEALTHY' # so far", "UNHEALTHY"),
        ("# nothing yet\n", "HEALTHY"),
        ("free-search: HEALTHY", "HEALTHY"),
        ("{}", "HEALTHY"),
        ("{ \"free-search\": \"HEALTHY\" }\n", "HEALTHY"),
        ("{\n  \"repo-reader\": \"PROBATION\"\n}\n", "UNHEALTHY"),
    ];
    for (before, to) in cases {
        let (mut session, _) = opened(investigator().with(DocumentKind::Health, before));
        let explanation = explained_tool(&mut session, 2, "repo-reader", Some("read_file"));
        let switch = explanation.health.unwrap();
        assert_eq!(switch.to, to, "{before:?}");
        let [edit] = switch.edits.as_slice() else {
            panic!("{before:?}: {switch:?}");
        };
        let (start, end) = (
            offset(before, edit.place.start),
            offset(before, edit.place.end),
        );
        let after = format!("{}{}{}", &before[..start], edit.replacement, &before[end..]);
        let (mut session, verdict) =
            opened(investigator().with(DocumentKind::Health, after.clone()));
        let found: Vec<_> = verdict
            .diagnostics
            .iter()
            .filter(|it| it.code.name() != "UNSATISFIED")
            .collect();
        assert!(found.is_empty(), "{before:?} {after:?}: {found:?}");
        let explanation = explained_tool(&mut session, 2, "repo-reader", Some("read_file"));
        assert_eq!(
            explanation.health.unwrap().status.as_deref(),
            Some(to),
            "{after:?}"
        );
    }
}

#[test]
fn evaluation_contexts_with_errors_decide_nothing() {
    for (text, source) in [
        (
            Texts::default().with(DocumentKind::Task, "task_id: t"),
            DocumentKind::Task,
        ),
        (
            Texts::default().with(DocumentKind::Tenant, "tenants: []"),
            DocumentKind::Tenant,
        ),
        (
            Texts::default().with(DocumentKind::Health, "a: FINE"),
            DocumentKind::Health,
        ),
        (
            Texts::default().with(DocumentKind::Context, "["),
            DocumentKind::Context,
        ),
        (
            Texts(vec![(Texts::TENANT_ID, "nobody".to_owned())]),
            DocumentKind::Tenant,
        ),
    ] {
        let (mut session, _) = opened(investigator());
        let answer = session.answer(text, Request::default());
        let verdict = answer.verdict.unwrap();
        assert_eq!(
            (verdict.satisfied, verdict.lock),
            (None, None),
            "{source:?}"
        );
        assert_eq!(verdict.diagnostics[0].labels[0].place.source, source);
    }
}

/// Two tools of one name have a lock, but an agent can't get both.
#[test]
fn ambiguous_names_are_reported_beside_the_problems() {
    let mut texts = investigator();
    let mut take = |kind| texts.take(kind as u32).unwrap();
    let renamed = take(DocumentKind::Index).replace("post_message", "list_buckets");
    let task = take(DocumentKind::Task).replace("    load: on_demand\n", "");
    take(DocumentKind::Health);
    let texts = texts.with(DocumentKind::Index, renamed);
    let (_, verdict) = opened(texts.with(DocumentKind::Task, task));
    assert_eq!((verdict.satisfied, verdict.tokens), (Some(true), None));
    assert_eq!(verdict.diagnostics, []);
    let codes: Vec<_> = verdict
        .collisions
        .iter()
        .map(|found| found.code.name())
        .collect();
    assert_eq!(codes, ["STUB_COLLISION"]);
    assert!(verdict.lock.is_some());
}

#[test]
fn a_missing_scope_is_asked_for_at_its_own_place() {
    let (mut session, _) = opened(texts(MANIFEST, INDEX, None));
    let explanation = explained(&mut session, 0, name("gamma", "1.0.0"));
    let scopes = explanation.checks.iter();
    let scopes = scopes.filter(|check| check.code == Code::MissingScope);
    let asked: Vec<_> = scopes.filter_map(|it| it.asked_at).collect();
    // The server has the other one.
    assert_eq!(asked.len(), 1);
    assert_eq!(at(MANIFEST, &asked[0]), "write:audiences");
}
