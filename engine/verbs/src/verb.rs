//! The verbs, and their versions \[2, 1\].

use super::failure::{ErrorCode, Failure, quoted};
use agent_syntax::json::Writer;
use std::fmt;

/// A verb of the daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DaemonVerb {
    /// `plan.create`
    PlanCreate,
    /// `fs.apply`
    FsApply,
    /// `run.start`
    RunStart,
    /// `httpcheck.assert`
    HttpcheckAssert,
    /// `report.finish`
    ReportFinish,
}

impl DaemonVerb {
    /// Every verb, in the order of the specification.
    pub const ALL: [Self; 5] = [
        Self::PlanCreate,
        Self::FsApply,
        Self::RunStart,
        Self::HttpcheckAssert,
        Self::ReportFinish,
    ];

    /// Returns the name without a version.
    pub fn name(self) -> &'static str {
        match self {
            Self::PlanCreate => "plan.create",
            Self::FsApply => "fs.apply",
            Self::RunStart => "run.start",
            Self::HttpcheckAssert => "httpcheck.assert",
            Self::ReportFinish => "report.finish",
        }
    }

    /// Returns what the verb does, in a sentence for the users of its MCP tool.
    pub fn about(self) -> &'static str {
        match self {
            Self::PlanCreate => "Opens a task, and plans the files of a web service for a prompt.",
            Self::FsApply => "Writes and patches files of a task, all of them or none.",
            Self::RunStart => "Starts the app of a task in a sandbox, and waits until it is ready.",
            Self::HttpcheckAssert => {
                "Sends requests to the app of a task, and compares the responses with what is expected."
            }
            Self::ReportFinish => "Lists the artifacts of a task and the URLs of its app.",
        }
    }
}

/// A minor release of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Release {
    major: u32,
    minor: u32,
}

impl Release {
    const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor }
    }
}

/// The release of this program.
const RELEASE: Release = Release::new(0, 1);

/// A version of a verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Version<V> {
    verb: V,
    /// The number after `@v`.
    number: u32,
    /// The first release with it.
    since: Release,
    /// The first release without it.
    dropped: Option<Release>,
}

const fn first(verb: DaemonVerb) -> Version<DaemonVerb> {
    Version {
        verb,
        number: 1,
        since: RELEASE,
        dropped: None,
    }
}

/// Every version that a release had. A row stays when its version is dropped.
const VERSIONS: [Version<DaemonVerb>; 5] = [
    first(DaemonVerb::PlanCreate),
    first(DaemonVerb::FsApply),
    first(DaemonVerb::RunStart),
    first(DaemonVerb::HttpcheckAssert),
    first(DaemonVerb::ReportFinish),
];

/// The versions of some verbs.
struct Versions<'t, V>(&'t [Version<V>]);

impl<V: Copy + PartialEq> Versions<'_, V> {
    /// Returns the versions of a release, in order.
    fn live(&self, release: Release) -> impl Iterator<Item = &Version<V>> {
        let is_live = move |version: &&Version<V>| {
            version.since <= release && version.dropped.is_none_or(|it| release < it)
        };
        self.0.iter().filter(is_live)
    }

    /// Returns the latest live version of a verb, or the one of a number.
    fn find(&self, verb: V, number: Option<u32>, release: Release) -> Option<&Version<V>> {
        let of_verb = self.live(release).filter(|it| it.verb == verb);
        match number {
            Some(number) => of_verb.into_iter().find(|it| it.number == number),
            None => of_verb.max_by_key(|it| it.number),
        }
    }
}

/// A verb with its version, as a client named it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VersionedVerb {
    /// The verb.
    pub verb: DaemonVerb,
    /// The number after `@v`.
    pub version: u32,
}

impl VersionedVerb {
    /// Returns the verb of a name, with or without a version: `plan.create` and `plan.create@v1`.
    ///
    /// # Errors
    /// `E_PLAN`: there is no such verb, or no such version.
    pub fn named(name: &str) -> Result<Self, Failure> {
        let (base, version) = match name.split_once("@v") {
            Some((base, version)) => (base, Some(version)),
            None => (name, None),
        };
        let verb = DaemonVerb::ALL.into_iter().find(|verb| verb.name() == base);
        let Some(verb) = verb else {
            let names: Vec<_> = DaemonVerb::ALL.map(DaemonVerb::name).into();
            let message = format!("{} is not a verb", quoted(name));
            let hint = format!("call one of {}", names.join(", "));
            return Err(Failure::new(ErrorCode::Plan, message).hint(hint));
        };
        let number = version.map(number).unwrap_or(Some(None));
        let found = number.and_then(|number| Versions(&VERSIONS).find(verb, number, RELEASE));
        let found = found.ok_or_else(|| {
            let live = Versions(&VERSIONS);
            let live = live.live(RELEASE).filter(|it| it.verb == verb);
            let live: Vec<_> = live.map(|it| format!("{base}@v{}", it.number)).collect();
            let message = format!("{} is not a version of `{base}`", quoted(name));
            Failure::new(ErrorCode::Plan, message).hint(format!("call {}", live.join(" or ")))
        })?;
        Ok(Self {
            verb,
            version: found.number,
        })
    }

    /// Returns every live version, in the order of the specification.
    pub fn live() -> Vec<Self> {
        let all = Versions(&VERSIONS);
        let live = all.live(RELEASE).map(|it| Self {
            verb: it.verb,
            version: it.number,
        });
        live.collect()
    }

    /// Returns the version in JSON, such as `v1`.
    pub fn version_name(self) -> String {
        format!("v{}", self.version)
    }
}

impl fmt::Display for VersionedVerb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@v{}", self.verb.name(), self.version)
    }
}

/// Returns the number of a version, as nothing else is written.
fn number(digits: &str) -> Option<Option<u32>> {
    let number: u32 = digits.parse().ok()?;
    (number.to_string() == digits).then_some(Some(number))
}

/// Returns the discovery object \[2, 1\] as JSON that ends with a newline.
pub fn discovery() -> String {
    let mut w = Writer::dense();
    w.object(|w| {
        w.key("capabilities").array(|w| {
            for it in VersionedVerb::live() {
                w.object(|w| {
                    w.key("verb").string(it.verb.name());
                    w.key("version").string(&it.version_name());
                });
            }
        });
        w.key("name").string("assertlang-mcpd");
        w.key("version").string(env!("CARGO_PKG_VERSION"));
    });
    w.finish()
}

#[cfg(test)]
mod tests {
    use super::{
        DaemonVerb, RELEASE, Release, VERSIONS, Version, VersionedVerb, Versions, discovery,
    };
    use crate::failure::ErrorCode;

    #[test]
    fn the_discovery_object_is_that_of_the_specification() {
        assert_eq!(
            discovery(),
            "{\"capabilities\":[{\"verb\":\"plan.create\",\"version\":\"v1\"},\
             {\"verb\":\"fs.apply\",\"version\":\"v1\"},{\"verb\":\"run.start\",\"version\":\"v1\"},\
             {\"verb\":\"httpcheck.assert\",\"version\":\"v1\"},\
             {\"verb\":\"report.finish\",\"version\":\"v1\"}],\
             \"name\":\"assertlang-mcpd\",\"version\":\"0.1.0\"}\n"
        );
    }

    #[test]
    fn a_verb_is_named_with_and_without_its_version() {
        for verb in DaemonVerb::ALL {
            for name in [verb.name().to_owned(), format!("{}@v1", verb.name())] {
                let found = VersionedVerb::named(&name).expect("a verb");
                assert_eq!((found.verb, found.version), (verb, 1), "{name}");
                assert_eq!(found.to_string(), format!("{}@v1", verb.name()));
            }
        }
        for (name, hint) in [
            ("plan.create@v2", "call plan.create@v1"),
            ("plan.create@v01", "call plan.create@v1"),
            ("plan.create@v", "call plan.create@v1"),
            ("plan.create@v+1", "call plan.create@v1"),
        ] {
            let failure = VersionedVerb::named(name).expect_err(name);
            assert_eq!(failure.code, ErrorCode::Plan);
            assert_eq!(failure.hints, [hint], "{name}");
        }
        for name in ["", "plan", "plan.create@1", "PLAN.CREATE", "plan.create "] {
            let failure = VersionedVerb::named(name).expect_err(name);
            assert!(
                failure.hints[0].starts_with("call one of plan.create, "),
                "{name}"
            );
        }
    }

    /// Number of minor releases for which a version of a verb stays after the next one came \[2, 1\].
    const RELEASES_KEPT: u32 = 2;

    /// Returns the least number of minor releases from one to another. The number of those before a major
    /// release is unknown, so they don't count.
    fn between(earlier: Release, later: Release) -> u32 {
        match earlier.major == later.major {
            true => later.minor.saturating_sub(earlier.minor),
            false => later.minor,
        }
    }

    /// Returns whether a version is dropped before the next one is old enough.
    fn is_dropped_early<V: Copy + PartialEq>(versions: &[Version<V>]) -> bool {
        versions.iter().any(|it| {
            let Some(dropped) = it.dropped else {
                return false;
            };
            let mut next = versions.iter();
            let next = next.find(|next| next.verb == it.verb && next.number == it.number + 1);
            next.is_none_or(|next| between(next.since, dropped) < RELEASES_KEPT)
        })
    }

    const fn row(number: u32, since: u32, dropped: Option<u32>) -> Version<&'static str> {
        Version {
            verb: "test.echo",
            number,
            since: Release::new(0, since),
            dropped: match dropped {
                Some(minor) => Some(Release::new(0, minor)),
                None => None,
            },
        }
    }

    #[test]
    fn no_version_is_dropped_early() {
        assert!(!is_dropped_early(&VERSIONS));
        assert!(VERSIONS.iter().all(|it| it.since <= RELEASE));
        let release = env!("CARGO_PKG_VERSION").split('.');
        let release: Vec<u32> = release.take(2).filter_map(|it| it.parse().ok()).collect();
        assert_eq!(release, [RELEASE.major, RELEASE.minor]);
        // Of a test verb, whose second version came with 0.4.
        for (rows, early) in [
            (vec![row(1, 1, None), row(2, 4, None)], false),
            (vec![row(1, 1, Some(6)), row(2, 4, None)], false),
            (vec![row(1, 1, Some(5)), row(2, 4, None)], true),
            (vec![row(1, 1, Some(4)), row(2, 4, None)], true),
            (vec![row(1, 1, Some(9))], true),
        ] {
            assert_eq!(is_dropped_early(&rows), early, "{rows:?}");
        }
        let next_major = |minor| Version {
            dropped: Some(Release::new(1, minor)),
            ..row(1, 1, None)
        };
        assert!(is_dropped_early(&[next_major(1), row(2, 4, None)]));
        assert!(!is_dropped_early(&[next_major(2), row(2, 4, None)]));
    }

    #[test]
    fn two_versions_of_a_test_verb_are_live_at_once() {
        let rows = [row(1, 1, Some(6)), row(2, 4, None)];
        let versions = Versions(&rows);
        for (minor, live, latest) in [
            (0, vec![], None),
            (1, vec![1], Some(1)),
            (3, vec![1], Some(1)),
            (4, vec![1, 2], Some(2)),
            (5, vec![1, 2], Some(2)),
            (6, vec![2], Some(2)),
        ] {
            let release = Release::new(0, minor);
            let found: Vec<_> = versions.live(release).map(|it| it.number).collect();
            assert_eq!(found, live, "0.{minor}");
            let found = versions.find("test.echo", None, release);
            assert_eq!(found.map(|it| it.number), latest, "0.{minor}");
            let first = versions.find("test.echo", Some(1), release);
            assert_eq!(first.is_some(), live.contains(&1), "0.{minor}");
        }
    }
}
