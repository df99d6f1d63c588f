//! How long something takes.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Nothing is repeated for longer than this.
const PATIENCE: Duration = Duration::from_secs(3);

/// The shortest of several runs: what it costs when nothing else gets in the way.
pub(crate) fn shortest<T>(mut run: impl FnMut() -> T) -> Duration {
    shortest_from(|| (), |()| run())
}

/// As [`shortest`], each run with an input of its own, whose making is not measured.
pub(crate) fn shortest_from<I, T>(
    mut input: impl FnMut() -> I,
    mut run: impl FnMut(I) -> T,
) -> Duration {
    let begun = Instant::now();
    let mut shortest = Duration::MAX;
    let mut runs = 0;
    while runs < 3 || (runs < 50 && begun.elapsed() < PATIENCE) {
        let input = input();
        let start = Instant::now();
        let result = black_box(run(input));
        shortest = shortest.min(start.elapsed());
        // Freeing the result is no part of making it.
        drop(result);
        runs += 1;
    }
    shortest
}
