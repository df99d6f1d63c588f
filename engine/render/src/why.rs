//! The whole story of a server or of a category.

use super::discover::write_server;
use super::report::{File, Files};
use super::story::{tell_check, tell_reasons, tell_verdict, write_checks};
use super::styled::{Style, Styled, StyledSpan};
use super::summary::{nearest, requirement, write_near, write_requirement};
use super::tools;
use agent_decide::Resolution;
use agent_explain::{Story, Subject, lost, story, subject, tool_story};
use agent_model::{Name, ServerView};
use agent_syntax::json::Writer;

/// How many rejected servers are told of for a category.
const REJECTED: usize = 10;

/// The whole story of a server (`id` or `id@version`), of every requirement of a category, or of
/// both. None if there is neither. A source that `files` doesn't name is named by its usual file
/// name.
pub fn why(resolution: &Resolution, name: &str, files: &[File]) -> Option<Vec<StyledSpan>> {
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
        let place = resolution.manifest().text.place(category.span);
        tell_verdict(
            out,
            &story.verdict,
            (category.value.as_str(), None),
            lost,
            files.at(&place),
        );
        for check in &story.checks {
            tell_check(out, check, files);
        }
        if let Some(near) = story.verdict.rejected() {
            tell_reasons(out, &near.reasons, &near.fixes);
        }
    }
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
    w.key("checks").array(|w| write_checks(w, &story.checks));
    let lost_on = story.verdict.lost_on();
    w.key("lostOn").optional(lost_on.map(|rule| rule.name()));
    w.key("rejected");
    match story.verdict.rejected() {
        Some(near) => w.object(|w| write_near(w, near)),
        None => w.null(),
    }
    w.key("requirement").number(story.requirement as u32);
    w.key("verdict").string(story.verdict.name());
}
