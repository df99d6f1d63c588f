//! Timing of functions.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Maximum total time of repetitions.
const PATIENCE: Duration = Duration::from_secs(3);

/// Returns the shortest time of several runs, the cost without interference.
pub(crate) fn shortest<T>(mut run: impl FnMut() -> T) -> Duration {
    shortest_from(|| (), |()| run())
}

/// Like [`shortest`], with a new input for each run, whose creation is not measured.
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
        // The measured time excludes freeing the result.
        drop(result);
        runs += 1;
    }
    shortest
}
