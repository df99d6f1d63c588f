//! Request targets: what they may contain, and where they lead.

use crate::limits::{TARGET_BYTES, TASK_ID_BYTES};
use crate::refusal::Refusal;
use crate::tasks::Log;

/// Where a path leads at the gateway's own port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route<'b> {
    /// `/`
    Index,
    /// `/style.css`
    Style,
    /// `/tasks/<id>/log` and `/tasks/<id>/probes`
    Log(&'b str, Log),
    /// `/apps/<id>` without the slash, with its query
    App(&'b str, &'b str),
    /// `/apps/<id>/_health`
    Health(&'b str),
    /// `/apps/<id>/*`: the task, and what its app gets
    Path(&'b str, &'b str),
    Nothing,
}

impl<'b> Route<'b> {
    /// Finds where a checked target leads.
    pub(crate) fn of(target: &'b str) -> Self {
        let path = target.split('?').next().unwrap_or_default();
        if let Some(rest) = target.strip_prefix("/apps/") {
            let end = rest.find(['/', '?']).unwrap_or(rest.len());
            let (task, rest) = rest.split_at(end);
            return match rest {
                _ if !is_id(task) => Self::Nothing,
                "" => Self::App(task, ""),
                query if query.starts_with('?') => Self::App(task, query),
                _ if path.ends_with("/_health") && path.len() == 14 + task.len() => {
                    Self::Health(task)
                }
                _ => Self::Path(task, rest),
            };
        }
        if let Some(rest) = path.strip_prefix("/tasks/") {
            return match rest.split_once('/') {
                Some((task, "log")) if is_id(task) => Self::Log(task, Log::Run),
                Some((task, "probes")) if is_id(task) => Self::Log(task, Log::Probes),
                _ => Self::Nothing,
            };
        }
        match path {
            "/" => Self::Index,
            "/style.css" => Self::Style,
            _ => Self::Nothing,
        }
    }
}

/// Returns whether a segment can be the id of a task. An id has nothing that a path or a page would have to escape.
fn is_id(segment: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=TASK_ID_BYTES).contains(&segment.len()) && segment.bytes().all(is_plain)
}

/// Returns the path and query of a target in origin form or absolute form. `host` is the value of `Host`.
///
/// # Errors
///
/// When the target has another form, names another host, or has characters or segments that are refused.
pub(crate) fn check<'b>(target: &'b str, host: &str) -> Result<&'b str, Refusal> {
    if target.len() > TARGET_BYTES {
        return Err(Refusal::new(414, "the request target is too long"));
    }
    let target = if target.starts_with('/') {
        target
    } else {
        of_absolute(target, host)?
    };
    let bytes = target.as_bytes();
    let (mut place, mut segment) = (0, Segment::default());
    let mut is_path = true;
    while let Some(&byte) = bytes.get(place) {
        place += 1;
        let decoded = match byte {
            b'%' => {
                let digits = bytes.get(place..place + 2).and_then(hex_pair);
                place += 2;
                match digits {
                    None => {
                        return Err(Refusal::bad(
                            "the request target has a bad percent-encoding",
                        ));
                    }
                    Some(0) => return Err(Refusal::bad("the request target contains U+0000")),
                    Some(byte) => byte,
                }
            }
            b'?' if is_path => {
                segment.end()?;
                is_path = false;
                continue;
            }
            // What browsers send of a query without encoding it.
            b'\\' | b'`' if !is_path => byte,
            b'"' | b'#' | b'`' | b'<' | b'>' | b'\\' | 0..=0x20 | 0x7f.. => {
                return Err(Refusal::bad(
                    "the request target has a character that must be encoded",
                ));
            }
            _ => byte,
        };
        if is_path {
            segment.add(decoded)?;
        }
    }
    if is_path {
        segment.end()?;
    }
    Ok(target)
}

/// The segment of a path that is being read, after decoding it once.
#[derive(Default)]
struct Segment {
    length: usize,
    has_only_dots: bool,
}

impl Segment {
    /// Adds a byte. An encoded separator separates too: apps decode it before they look.
    fn add(&mut self, byte: u8) -> Result<(), Refusal> {
        if byte == b'/' || byte == b'\\' {
            self.end()?;
            *self = Self::default();
            return Ok(());
        }
        if byte == b';' {
            // Some servers drop parameters of a segment before they look.
            self.end()?;
        }
        self.has_only_dots = byte == b'.' && (self.length == 0 || self.has_only_dots);
        self.length += 1;
        Ok(())
    }

    fn end(&self) -> Result<(), Refusal> {
        if self.has_only_dots && self.length <= 2 {
            return Err(Refusal::bad("the request target has a dot segment"));
        }
        Ok(())
    }
}

fn of_absolute<'b>(target: &'b str, host: &str) -> Result<&'b str, Refusal> {
    let form = "the request target must be a path, such as `/`";
    let scheme = target
        .get(..7)
        .filter(|it| it.eq_ignore_ascii_case("http://"));
    let Some(rest) = scheme.and_then(|_| target.get(7..)) else {
        return Err(Refusal::bad(form));
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    if !authority.eq_ignore_ascii_case(host) {
        return Err(Refusal::bad(
            "the request target names another host than `Host`",
        ));
    }
    if path.starts_with('/') {
        Ok(path)
    } else {
        Err(Refusal::bad(form))
    }
}

fn hex_pair(digits: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let value = digit(*digits.first()?)? << 4 | digit(*digits.get(1)?)?;
    u8::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::{Route, check};
    use crate::tasks::Log;

    #[test]
    fn paths_lead_to_tasks() {
        assert_eq!(Route::of("/?a"), Route::Index);
        assert_eq!(Route::of("/apps/ab12cd"), Route::App("ab12cd", ""));
        assert_eq!(Route::of("/apps/ab12cd?x=/"), Route::App("ab12cd", "?x=/"));
        assert_eq!(Route::of("/apps/a/"), Route::Path("a", "/"));
        assert_eq!(Route::of("/apps/a//b?c"), Route::Path("a", "//b?c"));
        assert_eq!(Route::of("/apps/a/_health?x"), Route::Health("a"));
        assert_eq!(
            Route::of("/apps/a/b/_health"),
            Route::Path("a", "/b/_health")
        );
        assert_eq!(
            Route::of("/apps/a/?/_health"),
            Route::Path("a", "/?/_health")
        );
        assert_eq!(Route::of("/tasks/a/probes"), Route::Log("a", Log::Probes));
        for nothing in ["/apps/", "/apps//x", "/apps/a%20/", "/tasks/a", "/x"] {
            assert_eq!(Route::of(nothing), Route::Nothing, "{nothing}");
        }
    }

    #[test]
    fn dot_segments_are_refused_however_they_are_encoded() {
        for target in [
            "/..",
            "/a/../b",
            "/a/.",
            "/./a",
            "/a/%2e%2E/b",
            "/a/.%2e?x",
            "/a/..%2fb",
            "/a%2F..",
            "/a/..%5cb",
            "/a/..;b/",
        ] {
            assert!(check(target, "h").is_err(), "{target}");
        }
        for target in [
            "/...",
            "/a/..b",
            "/a?x=/../b",
            "/.well-known/x",
            "/a%2fb",
            "/%252e%252e/",
        ] {
            assert_eq!(check(target, "h"), Ok(target));
        }
    }

    #[test]
    fn only_characters_of_urls_pass() {
        for target in [
            "/\u{e4}", "/a b", "/a\\b", "/<", "/#a", "/%0", "/%zz", "/%00", "a", "*", "h:80",
        ] {
            assert!(check(target, "h:80").is_err(), "{target}");
        }
        assert_eq!(check("/a|b[]?q={x}^`\\", "h"), Ok("/a|b[]?q={x}^`\\"));
    }

    #[test]
    fn what_passes_is_read_by_hyper_too() {
        for byte in 0..=0x7f_u8 {
            for start in ["/a", "/?a"] {
                let target = format!("{start}{}b", char::from(byte));
                let is_uri = hyper::Uri::try_from(&target).is_ok();
                assert!(check(&target, "h").is_err() || is_uri, "{target:?}");
            }
        }
    }

    #[test]
    fn an_absolute_target_names_the_host() {
        assert_eq!(check("HTTP://H:80/a?b", "h:80"), Ok("/a?b"));
        for target in [
            "http://other/",
            "https://h/",
            "http://h",
            "http://u@h/",
            "http://h?x",
            "http://",
        ] {
            assert!(check(target, "h").is_err(), "{target}");
        }
    }
}
