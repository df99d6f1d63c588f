//! Counters and histograms, in the text format of Prometheus \[exposition format 0.0.4\].

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Maximum number of series of one family. What belongs to a further one is counted under [`OTHER`].
const SERIES: usize = 1024;

/// The value of every label of the series that counts what has no series of its own.
const OTHER: &str = "_OTHER";

/// The upper bounds of a histogram, in milliseconds.
const BOUNDS: [u64; 12] = [
    1, 5, 10, 25, 50, 100, 250, 500, 1_000, 5_000, 30_000, 120_000,
];

/// A family of series: its name, what it counts, and the names of its labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Family {
    /// The name, in the form of Prometheus.
    pub name: &'static str,
    /// What it counts, in a sentence.
    pub help: &'static str,
    /// The names of the labels.
    pub labels: &'static [&'static str],
}

/// The present values of a family, each with its labels.
pub type Gauge = (Family, Vec<(Vec<String>, u64)>);

/// Returns the number of open sessions of clients as a gauge, whose name begins with the program's prefix.
#[must_use]
pub fn client_sessions(name: &'static str, sessions: usize) -> Gauge {
    let family = Family {
        name,
        help: "Open sessions of clients over HTTP.",
        labels: &[],
    };
    (family, vec![(Vec::new(), sessions as u64)])
}

/// Counters and histograms of a program.
#[derive(Debug, Default)]
pub struct Metrics(Mutex<MetricsState>);

#[derive(Debug, Default)]
struct MetricsState {
    counters: BTreeMap<Family, BTreeMap<Vec<String>, u64>>,
    histograms: BTreeMap<Family, BTreeMap<Vec<String>, Histogram>>,
}

#[derive(Debug, Default)]
struct Histogram {
    /// How many were at most as long as each bound, and not as the one before.
    buckets: [u64; BOUNDS.len()],
    count: u64,
    sum: Duration,
}

impl Metrics {
    /// Counts one more.
    pub fn count(&self, family: Family, labels: &[&str]) {
        let mut state = self.state();
        *series(state.counters.entry(family).or_default(), labels) += 1;
    }

    /// Counts something that took a time.
    pub fn observe(&self, family: Family, labels: &[&str], time: Duration) {
        let mut state = self.state();
        let histogram = series(state.histograms.entry(family).or_default(), labels);
        let ms = u64::try_from(time.as_micros().div_ceil(1000)).unwrap_or(u64::MAX);
        if let Some(at) = BOUNDS.iter().position(|bound| ms <= *bound) {
            histogram.buckets[at] += 1;
        }
        histogram.count += 1;
        histogram.sum += time;
    }

    /// Returns everything as text, then the present values of `gauges`.
    #[must_use]
    pub fn text(&self, gauges: &[Gauge]) -> String {
        let mut out = String::new();
        let state = self.state();
        for (family, counters) in &state.counters {
            head(&mut out, *family, "counter");
            for (labels, value) in counters {
                line(&mut out, *family, "", labels, None, &value.to_string());
            }
        }
        for (family, histograms) in &state.histograms {
            head(&mut out, *family, "histogram");
            for (labels, histogram) in histograms {
                let mut sum = 0;
                for (bound, bucket) in BOUNDS.iter().zip(histogram.buckets) {
                    sum += bucket;
                    let bound = seconds(Duration::from_millis(*bound));
                    line(
                        &mut out,
                        *family,
                        "_bucket",
                        labels,
                        Some(&bound),
                        &sum.to_string(),
                    );
                }
                let count = histogram.count.to_string();
                line(&mut out, *family, "_bucket", labels, Some("+Inf"), &count);
                line(
                    &mut out,
                    *family,
                    "_sum",
                    labels,
                    None,
                    &seconds(histogram.sum),
                );
                line(&mut out, *family, "_count", labels, None, &count);
            }
        }
        for (family, values) in gauges {
            head(&mut out, *family, "gauge");
            for (labels, value) in values {
                line(&mut out, *family, "", labels, None, &value.to_string());
            }
        }
        out
    }

    fn state(&self) -> MutexGuard<'_, MetricsState> {
        // A panic while it was held leaves whole counts.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn series<'s, T: Default>(all: &'s mut BTreeMap<Vec<String>, T>, labels: &[&str]) -> &'s mut T {
    let mut key: Vec<_> = labels.iter().map(|it| (*it).to_owned()).collect();
    if all.len() >= SERIES && !all.contains_key(&key) {
        key.fill(OTHER.to_owned());
    }
    all.entry(key).or_default()
}

// Writing into a string can't fail.
fn head(out: &mut String, family: Family, kind: &str) {
    let Family { name, help, .. } = family;
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn line(
    out: &mut String,
    family: Family,
    end: &str,
    labels: &[String],
    bound: Option<&str>,
    value: &str,
) {
    let named = family
        .labels
        .iter()
        .copied()
        .zip(labels.iter().map(String::as_str));
    let named = named.chain(bound.map(|bound| ("le", bound)));
    let named: Vec<_> = named
        .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)))
        .collect();
    let named = match named.is_empty() {
        true => String::new(),
        false => format!("{{{}}}", named.join(",")),
    };
    let _ = writeln!(out, "{}{end}{named} {value}", family.name);
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

fn seconds(time: Duration) -> String {
    let text = format!("{}.{:06}", time.as_secs(), time.subsec_micros());
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Family, Metrics, SERIES};
    use std::time::Duration;

    const CALLS: Family = Family {
        name: "calls_total",
        help: "Calls.",
        labels: &["code"],
    };

    const TIMES: Family = Family {
        name: "call_seconds",
        help: "Times of calls.",
        labels: &["server"],
    };

    #[test]
    fn metrics_are_text() {
        let metrics = Metrics::default();
        metrics.count(CALLS, &["A"]);
        metrics.count(CALLS, &["A"]);
        metrics.count(CALLS, &["q\"\\\n"]);
        for ms in [1, 30, 600_000] {
            metrics.observe(TIMES, &["s"], Duration::from_millis(ms));
        }
        let up = Family {
            name: "up",
            help: "Up.",
            labels: &[],
        };
        let text = metrics.text(&[(up, vec![(Vec::new(), 1)])]);
        let expected = "\
# HELP calls_total Calls.
# TYPE calls_total counter
calls_total{code=\"A\"} 2
calls_total{code=\"q\\\"\\\\\\n\"} 1
# HELP call_seconds Times of calls.
# TYPE call_seconds histogram
call_seconds_bucket{server=\"s\",le=\"0.001\"} 1
call_seconds_bucket{server=\"s\",le=\"0.005\"} 1
call_seconds_bucket{server=\"s\",le=\"0.01\"} 1
call_seconds_bucket{server=\"s\",le=\"0.025\"} 1
call_seconds_bucket{server=\"s\",le=\"0.05\"} 2
call_seconds_bucket{server=\"s\",le=\"0.1\"} 2
call_seconds_bucket{server=\"s\",le=\"0.25\"} 2
call_seconds_bucket{server=\"s\",le=\"0.5\"} 2
call_seconds_bucket{server=\"s\",le=\"1\"} 2
call_seconds_bucket{server=\"s\",le=\"5\"} 2
call_seconds_bucket{server=\"s\",le=\"30\"} 2
call_seconds_bucket{server=\"s\",le=\"120\"} 2
call_seconds_bucket{server=\"s\",le=\"+Inf\"} 3
call_seconds_sum{server=\"s\"} 600.031
call_seconds_count{server=\"s\"} 3
# HELP up Up.
# TYPE up gauge
up 1
";
        assert_eq!(text, expected);
    }

    #[test]
    fn series_are_bounded() {
        let metrics = Metrics::default();
        for number in 0..SERIES + 7 {
            metrics.count(CALLS, &[&number.to_string()]);
        }
        let text = metrics.text(&[]);
        assert_eq!(text.matches("\ncalls_total{").count(), SERIES + 1);
        assert!(text.contains("calls_total{code=\"_OTHER\"} 7\n"));
    }
}
