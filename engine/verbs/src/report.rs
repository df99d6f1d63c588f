//! `report.finish`: the artifacts of a task, and its verdict \[2, 2.5\].

use super::document::{text_of, texts_of, with_document};
use super::failure::{ErrorCode, Failure, Problems, quoted};
use super::path::check_path;
use super::schemas::SchemaOf;
use super::verb::DaemonVerb;
use agent_syntax::json::Writer;
use std::collections::BTreeSet;

/// The artifacts that every report lists, if they exist, in this order.
const ARTIFACTS: [&str; 3] = ["manifest.json", "run.log", "probes.log"];

/// Whether a task did what it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It did.
    Pass,
    /// It did not.
    Fail,
}

impl Verdict {
    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
        }
    }
}

/// The input of `report.finish`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportFinish {
    /// The files and folders to list beside the artifacts, below the folder of the task.
    pub include: Vec<String>,
    /// The verdict.
    pub verdict: Option<Verdict>,
}

/// Where a report and its application are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportPlace {
    /// The folder of the task.
    pub artifact_dir: String,
    /// The URL through the gateway; `None` without a gateway.
    pub url: Option<String>,
    /// The URL of the leased port; `None` if the application does not run.
    pub direct_url: Option<String>,
}

impl ReportFinish {
    /// Reads the input.
    ///
    /// # Errors
    /// `E_PLAN`: the input violates its schema. `E_FS`: a path leads out of the task.
    pub fn read(input: &[u8]) -> Result<Self, Failure> {
        with_document(SchemaOf::Input(DaemonVerb::ReportFinish), input, |root| {
            let include = texts_of(root, "include");
            let mut problems = Problems::new();
            for (number, path) in include.iter().enumerate() {
                check_path(path, &format!("/include/{number}"), &mut problems);
            }
            problems.finish(ErrorCode::Fs)?;
            let verdict = text_of(root, "verdict").map(|it| match it {
                "pass" => Verdict::Pass,
                _ => Verdict::Fail,
            });
            Ok(Self { include, verdict })
        })
    }

    /// Returns the files of the report, given all files of the task: its artifacts, then the included ones in the
    /// order of the request. An included folder stands for the files below it.
    ///
    /// # Errors
    /// `E_FS`: an included file does not exist.
    pub fn files(&self, present: &[String]) -> Result<Vec<String>, Failure> {
        let folders: Vec<_> = self.include.iter().map(|it| format!("{it}/")).collect();
        let ordered: BTreeSet<&str> = present.iter().map(String::as_str).collect();
        let mut files: Vec<&str> = Vec::new();
        let artifacts = ARTIFACTS.iter().filter(|it| ordered.contains(**it));
        files.extend(artifacts);
        let mut listed: BTreeSet<&str> = files.iter().copied().collect();
        let mut problems = Problems::new();
        for (path, folder) in self.include.iter().zip(&folders) {
            let below = ordered
                .range(&**folder..)
                .take_while(|it| it.starts_with(&**folder));
            let mut found = ordered.get(&**path).into_iter().chain(below).peekable();
            if found.peek().is_none() {
                problems.add(
                    format!("the task has no file {}", quoted(path)),
                    "include files of the task's folder, such as `source/app.py`",
                );
            }
            files.extend(found.filter(|it| listed.insert(it)));
        }
        problems.finish(ErrorCode::Fs)?;
        Ok(files.into_iter().map(str::to_owned).collect())
    }

    /// Returns `data` of the response as JSON that ends with a newline.
    pub fn data(&self, place: &ReportPlace, files: &[String]) -> String {
        let mut w = Writer::dense();
        w.object(|w| {
            w.key("artifact_dir").string(&place.artifact_dir);
            w.key("direct_url").optional(place.direct_url.as_deref());
            w.key("files").strings(files.iter().map(String::as_str));
            w.key("url").optional(place.url.as_deref());
            if let Some(verdict) = self.verdict {
                w.key("verdict").string(verdict.name());
            }
        });
        w.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::{ReportFinish, ReportPlace, Verdict};
    use crate::document::with_document;
    use crate::envelope::success;
    use crate::failure::{ErrorCode, Failure};
    use crate::schemas::SchemaOf;
    use crate::verb::DaemonVerb;

    const PRESENT: [&str; 7] = [
        "manifest.json",
        "patches/0001.json",
        "plan.json",
        "run.log",
        "source/a/b.py",
        "source/app.py",
        "source2",
    ];

    fn files(input: &str) -> Result<Vec<String>, Failure> {
        let present = PRESENT.map(str::to_owned);
        ReportFinish::read(input.as_bytes())?.files(&present)
    }

    #[test]
    fn files_are_those_of_the_task() {
        for (input, expected) in [
            ("{}", "manifest.json run.log"),
            (r#"{"include": []}"#, "manifest.json run.log"),
            (
                r#"{"include": ["plan.json", "run.log"]}"#,
                "manifest.json run.log plan.json",
            ),
            (
                r#"{"include": ["source", "source/app.py"]}"#,
                "manifest.json run.log source/a/b.py source/app.py",
            ),
        ] {
            let found = files(input).expect(input);
            assert_eq!(found.join(" "), expected, "{input}");
        }
        for (input, code, message) in [
            (
                r#"{"include": ["../x"]}"#,
                ErrorCode::Fs,
                "`/include/0` has a segment of dots: `../x`",
            ),
            (
                r#"{"include": ["/etc/passwd"]}"#,
                ErrorCode::Fs,
                "`/include/0` is absolute",
            ),
            (
                r#"{"include": ["x", "sourc"]}"#,
                ErrorCode::Fs,
                "the task has no file `x`; the task has no file `sourc`",
            ),
            (r#"{"verdict": "maybe"}"#, ErrorCode::Plan, "`/verdict` "),
            (r#"{"verdict": null}"#, ErrorCode::Plan, "`/verdict` "),
            ("[]", ErrorCode::Plan, "the document "),
        ] {
            let failure = files(input).expect_err(input);
            assert_eq!(failure.code, code, "{input}");
            assert!(
                failure.message.starts_with(message),
                "{input}\n{}",
                failure.message
            );
        }
    }

    #[test]
    fn answers_obey_their_schema() {
        let read = ReportFinish::read(br#"{"verdict": "pass"}"#).expect("an input");
        assert_eq!(read.verdict, Some(Verdict::Pass));
        let mut place = ReportPlace {
            artifact_dir: ".mcpd/ab12cd/".to_owned(),
            url: Some("http://127.0.0.1:23456/apps/ab12cd/".to_owned()),
            direct_url: Some("http://127.0.0.1:61842/".to_owned()),
        };
        let data = read.data(&place, &["manifest.json".to_owned()]);
        assert_eq!(
            data,
            "{\"artifact_dir\":\".mcpd/ab12cd/\",\"direct_url\":\"http://127.0.0.1:61842/\",\
             \"files\":[\"manifest.json\"],\"url\":\"http://127.0.0.1:23456/apps/ab12cd/\",\
             \"verdict\":\"pass\"}\n"
        );
        place.url = None;
        let output = SchemaOf::Output(DaemonVerb::ReportFinish);
        for data in [data, read.data(&place, &[])] {
            assert_eq!(
                with_document(output, success(&data).as_bytes(), |_| Ok(())),
                Ok(())
            );
        }
    }
}
