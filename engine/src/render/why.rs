//! The whole story of a server or of a category.

use super::discover::write_server;
use super::report::{File, Files, write_place};
use super::styled::{Part, Style, Styled};
use super::summary::{nearest, reasons_and_fixes, requirement, write_near, write_requirement};
use super::tools;
use crate::decide::Resolution;
use crate::explain::{
    Check, Story, Subject, Verdict, check_name, lost, story, subject, tool_story,
};
use crate::model::{Name, ServerView};
use crate::syntax::json::Writer;

/// How many rejected servers are told of for a category.
const REJECTED: usize = 10;

/// The whole story of a server (`id` or `id@version`), of every requirement of a category, or of
/// both. None if there is neither. A source that `files` doesn't name is named by its usual file
/// name.
pub fn why(resolution: &Resolution, name: &str, files: &[File]) -> Option<Vec<Part>> {
    let files = Files(files);
    let Subject {
        servers,
        requirements,
        tools,
        capabilities,
    } = subject(resolution, name)?;
    let matching = resolution.matching();
    let mut out = Styled::default();
    let mut first = true;
    let mut gap = |out: &mut Styled| {
        if !std::mem::take(&mut first) {
            out.end();
        }
    };
    for number in requirements {
        gap(&mut out);
        tell_requirement(&mut out, resolution, number);
    }
    for number in capabilities {
        gap(&mut out);
        tools::requirement(&mut out, matching, number);
        tools::rejected(&mut out, matching, number, REJECTED);
    }
    for server in servers {
        gap(&mut out);
        tell_server(&mut out, resolution, server, files);
        tools::tell_server(&mut out, matching, server, files);
    }
    for tool in tools {
        gap(&mut out);
        tools::tell_tool(&mut out, matching, tool, files);
    }
    Some(out.finish())
}

fn tell_requirement(out: &mut Styled, resolution: &Resolution, number: usize) {
    requirement(out, resolution, number);
    if resolution.selected(number).is_none() {
        // The nearest ones were told already.
        return;
    }
    let rejected = resolution.nearest(number, REJECTED);
    if !rejected.is_empty() {
        out.end()
            .put(Style::Heading, "  rejected, nearest first")
            .end();
    }
    for near in &rejected {
        nearest(out, near);
    }
}

fn tell_server(
    out: &mut Styled,
    resolution: &Resolution,
    server: ServerView<'_>,
    files: Files<'_>,
) {
    out.put(Style::Heading, server.id())
        .plain(format!(" {}", server.version()))
        .dim(format!("  {}", files.at(&server.place())))
        .end()
        .plain(format!("  {}", server.endpoint()))
        .end();
    for number in 0..resolution.manifest().requirements.len() {
        let story = story(resolution, number, server);
        let category = &resolution.manifest().requirements[number].category;
        let (style, mark, verdict) = match &story.verdict {
            Verdict::Selected => (Style::Accepted, "✓ ", "selected".to_owned()),
            Verdict::Eligible(lost_on) => (
                Style::Accepted,
                "· ",
                format!("eligible, and {}", lost(*lost_on)),
            ),
            Verdict::Rejected(_) => (Style::Rejected, "✗ ", "rejected".to_owned()),
        };
        out.end()
            .plain("  ")
            .put(style, mark)
            .put(Style::Heading, category.value.as_str())
            .plain(": ")
            .put(style, verdict)
            .dim(format!(
                "  {}",
                files.at(&resolution.manifest().text.place(category.span))
            ))
            .end();
        for check in &story.checks {
            tell_check(out, check, files);
        }
        if let Verdict::Rejected(near) = &story.verdict {
            reasons_and_fixes(out, near);
        }
    }
}

/// One check and the values that were compared.
pub(super) fn tell_check(out: &mut Styled, check: &Check, files: Files<'_>) {
    let (style, mark) = if check.passed {
        (Style::Accepted, "✓")
    } else {
        (Style::Rejected, "✗")
    };
    let name = check_name(check.code);
    out.plain("    ").put(style, mark).plain(format!(
        " {name:<12} {}; offered: {}",
        match &check.required {
            Some(required) => format!("required: {required}"),
            None => "nothing required".to_owned(),
        },
        if check.offered.is_empty() {
            "nothing"
        } else {
            &check.offered
        }
    ));
    if let Some(place) = &check.asked_at {
        out.dim(format!("  {}", files.at(place)));
    }
    out.end();
}

/// As [`why`], as JSON that ends with a newline.
pub fn why_json(resolution: &Resolution, name: &str) -> Option<String> {
    let Subject {
        servers,
        requirements,
        tools,
        capabilities,
    } = subject(resolution, name)?;
    let matching = resolution.matching();
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("capabilities").array(|w| {
            for number in capabilities {
                w.object(|w| {
                    w.key("answer")
                        .object(|w| tools::write_requirement(w, matching, number));
                    w.key("rejected").array(|w| {
                        for near in matching.nearest(number, REJECTED) {
                            w.object(|w| tools::write_near(w, &near));
                        }
                    });
                });
            }
        });
        w.key("requirements").array(|w| {
            for number in requirements {
                w.object(|w| {
                    w.key("answer")
                        .object(|w| write_requirement(w, resolution, number));
                    w.key("rejected").array(|w| {
                        for near in resolution.nearest(number, REJECTED) {
                            w.object(|w| write_near(w, &near));
                        }
                    });
                });
            }
        });
        w.key("servers").array(|w| {
            for server in servers {
                w.object(|w| {
                    w.key("server").object(|w| write_server(w, server));
                    w.key("stories").array(|w| {
                        for number in 0..resolution.manifest().requirements.len() {
                            let story = story(resolution, number, server);
                            w.object(|w| write_story(w, resolution, &story));
                        }
                    });
                    w.key("tools").array(|w| {
                        for number in 0..matching.len() {
                            for tool in server.tools() {
                                let story = tool_story(matching, number, tool);
                                w.object(|w| tools::write_story(w, matching, &story));
                            }
                        }
                    });
                });
            }
        });
        w.key("tools").array(|w| {
            for tool in tools {
                w.object(|w| tools::write_tool(w, matching, tool));
            }
        });
    });
    Some(w.finish())
}

fn write_story(w: &mut Writer, resolution: &Resolution, story: &Story<'_>) {
    let requirement = &resolution.manifest().requirements[story.requirement];
    w.key("category")
        .string(requirement.category.value.as_str());
    w.key("checks").array(|w| {
        for check in &story.checks {
            w.object(|w| write_check(w, check));
        }
    });
    w.key("lostOn").optional(match &story.verdict {
        Verdict::Eligible(lost_on) => Some(lost_on.name()),
        Verdict::Selected | Verdict::Rejected(_) => None,
    });
    w.key("rejected");
    match &story.verdict {
        Verdict::Rejected(near) => w.object(|w| write_near(w, near)),
        Verdict::Selected | Verdict::Eligible(_) => w.null(),
    }
    w.key("requirement").number(story.requirement as u32);
    w.key("verdict").string(match &story.verdict {
        Verdict::Selected => "selected",
        Verdict::Eligible(_) => "eligible",
        Verdict::Rejected(_) => "rejected",
    });
}

/// The members of a check.
pub(super) fn write_check(w: &mut Writer, check: &Check) {
    w.key("askedAt");
    match &check.asked_at {
        Some(place) => w.object(|w| write_place(w, place)),
        None => w.null(),
    }
    w.key("code").string(check.code.name());
    w.key("offered").string(&check.offered);
    w.key("passed").bool(check.passed);
    w.key("required").optional(check.required.as_deref());
}
