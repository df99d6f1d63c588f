//! `go.sum` of Go.

use super::Reader;
use crate::failure::quoted;
use std::collections::BTreeMap;

/// What to do about a file that can't be read.
const AGAIN: &str = "make the file again with `go mod tidy`";

/// The algorithm of the digests.
const DIGEST: &str = "h1:";

/// Length of a digest without its algorithm: 32 bytes in base64.
const DIGEST_LENGTH: usize = 44;

/// Returns the digests of modules, a line each.
pub(super) fn read(text: &str, reader: &mut Reader<'_>) -> Option<String> {
    let mut sums = String::new();
    let mut seen = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        let words: Vec<_> = line.split_whitespace().collect();
        match words[..] {
            [] => {}
            [name, version, digest] if version.starts_with('v') && is_digest(digest) => {
                if *seen.entry((name, version)).or_insert(digest) != digest {
                    let message =
                        format!("{} has two digests", quoted(&format!("{name} {version}")));
                    reader.refuse(number + 1, message, AGAIN);
                }
                sums.push_str(&words.join(" "));
                sums.push('\n');
            }
            _ => {
                let message = format!("{} is no module with its digest", quoted(line.trim()));
                reader.refuse(number + 1, message, AGAIN);
            }
        }
    }
    Some(sums)
}

fn is_digest(text: &str) -> bool {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b"+/=".contains(&b);
    text.strip_prefix(DIGEST)
        .is_some_and(|it| it.len() == DIGEST_LENGTH && it.bytes().all(fits))
}

#[cfg(test)]
mod tests {
    use crate::declared::tests::read;
    use crate::language::Language;

    #[test]
    fn a_file_has_digests_of_modules() {
        let sum = |text: &str| {
            let files = [("go.mod", "module app\n"), ("go.sum", text)];
            let read = read(Language::Go, &files);
            read.map(|it| it.lock).map_err(|it| it.message)
        };
        let digest = format!("h1:{}=", "a".repeat(43));
        let lines = format!("a.b/c v1.0.0 {digest}\na.b/c v1.0.0/go.mod {digest}\n");
        let spaced = lines.replace(' ', "  ").replace('\n', "\r\n\n");
        assert_eq!(sum(&spaced), Ok(Some(lines.clone())));
        assert_eq!(sum(""), Ok(Some(String::new())));
        let two = format!("{lines}a.b/c v1.0.0 h1:{}=\n", "b".repeat(43));
        let message = "`go.sum`, line 3: `a.b/c v1.0.0` has two digests";
        assert_eq!(sum(&two), Err(message.to_owned()));
        for line in [
            "a.b/c v1.0.0",
            "a.b/c v1.0.0 h1:short",
            "a.b/c 1.0.0 h1:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=",
            "a.b/c v1.0.0 h2:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=",
            "<<<<<<< HEAD",
        ] {
            let message = format!("`go.sum`, line 2: `{line}` is no module with its digest");
            assert_eq!(sum(&format!("\n{line}\n")), Err(message));
        }
    }
}
