//! Differences of evidence from the most similar text.

use super::SHOWN;
use agent_answer::Piece;

/// Minimum length of a common run between two differences. Shorter runs would only confuse.
const TOGETHER: usize = 3;

/// Returns two texts piece by piece, in an order in which each can be read. Empty if one of them is
/// longer than [`SHOWN`].
pub(super) fn pieces(evidence: &str, payload: &str) -> Vec<Piece> {
    let a: Vec<char> = evidence.chars().take(SHOWN + 1).collect();
    let b: Vec<char> = payload.chars().take(SHOWN + 1).collect();
    if a.len() > SHOWN || b.len() > SHOWN {
        return Vec::new();
    }
    let mut pieces = Vec::new();
    let mut add = |text: &[char], piece: fn(String) -> Piece| {
        if !text.is_empty() {
            pieces.push(piece(text.iter().collect()));
        }
    };
    let (mut i, mut j) = (0, 0);
    for (left, right, count) in common(&a, &b).into_iter().chain([(a.len(), b.len(), 0)]) {
        add(&a[i..left], Piece::Evidence);
        add(&b[j..right], Piece::Payload);
        add(&a[left..left + count], Piece::Both);
        (i, j) = (left + count, right + count);
    }
    pieces
}

/// Returns the runs of a longest common subsequence: the start of each in both texts, and its length.
fn common(a: &[char], b: &[char]) -> Vec<(usize, usize, usize)> {
    // The length of the common subsequence of each pair of rests.
    let width = b.len() + 1;
    let mut rest = vec![0_u16; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            rest[i * width + j] = match a[i] == b[j] {
                true => rest[(i + 1) * width + j + 1] + 1,
                false => rest[(i + 1) * width + j].max(rest[i * width + j + 1]),
            };
        }
    }
    let mut runs: Vec<(usize, usize, usize)> = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            match runs.last_mut() {
                Some((left, right, count)) if *left + *count == i && *right + *count == j => {
                    *count += 1;
                }
                _ => runs.push((i, j, 1)),
            }
            (i, j) = (i + 1, j + 1);
        } else if rest[(i + 1) * width + j] >= rest[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    runs.retain(|(left, right, count)| {
        let at_an_end =
            (*left == 0 && *right == 0) || (left + count == a.len() && right + count == b.len());
        at_an_end || *count >= TOGETHER
    });
    runs
}

#[cfg(test)]
mod tests {
    use super::{Piece, SHOWN, pieces};

    /// Writes pieces of the evidence as `[-…-]`, and those of the payload as `{+…+}`.
    fn shown(evidence: &str, payload: &str) -> String {
        let pieces = pieces(evidence, payload);
        let (mut left, mut right, mut shown) = (String::new(), String::new(), String::new());
        for piece in &pieces {
            match piece {
                Piece::Both(text) => {
                    left += text;
                    right += text;
                    shown += text;
                }
                Piece::Evidence(text) => {
                    left += text;
                    shown += &format!("[-{text}-]");
                }
                Piece::Payload(text) => {
                    right += text;
                    shown += &format!("{{+{text}+}}");
                }
            }
        }
        assert_eq!((&*left, &*right), (evidence, payload));
        shown
    }

    #[test]
    fn differences_are_between_common_pieces() {
        for (evidence, payload, expected) in [
            ("31,977 members", "31977 members", "31[-,-]977 members"),
            ("the delivery", "The delivery", "[-t-]{+T+}he delivery"),
            ("“late”", "\"late\"", "[-“-]{+\"+}late[-”-]{+\"+}"),
            ("by 3 days", "by three days", "by [-3-]{+three+} days"),
            ("same", "same", "same"),
            ("", "new", "{+new+}"),
            ("old", "", "[-old-]"),
            ("naïve 𝄞", "naive 𝄞", "na[-ï-]{+i+}ve 𝄞"),
        ] {
            assert_eq!(shown(evidence, payload), expected);
        }
    }

    #[test]
    fn single_common_letters_are_no_common_piece() {
        assert_eq!(shown("x cat y", "z dog w"), "[-x cat y-]{+z dog w+}");
    }

    #[test]
    fn long_texts_are_not_compared() {
        let long = "x".repeat(SHOWN);
        assert_eq!(pieces(&long, &long), [Piece::Both(long.clone())]);
        assert_eq!(pieces(&(long.clone() + "x"), &long), []);
        assert_eq!(pieces(&long, &(long.clone() + "x")), []);
    }
}
