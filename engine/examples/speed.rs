use agent_engine::*;
use std::time::Instant;
fn t<T>(n: &str, mut f: impl FnMut() -> T) -> T {
    let mut best = f64::MAX;
    let mut out = None;
    for _ in 0..7 {
        let s = Instant::now();
        let o = f();
        best = best.min(s.elapsed().as_secs_f64());
        out = Some(o);
    }
    println!("{n:30} {:9.3} ms", best * 1e3);
    out.unwrap()
}
#[derive(serde::Deserialize)]
#[allow(dead_code, non_snake_case)]
struct Doc {
    servers: Vec<Srv>,
}
#[derive(serde::Deserialize)]
#[allow(dead_code, non_snake_case)]
struct Srv {
    id: String,
    version: String,
    endpoint: String,
    categories: Vec<String>,
    scopes: Vec<String>,
    data: Data,
    trust: Trust,
    policy: Option<Pol>,
}
#[derive(serde::Deserialize)]
#[serde(untagged)]
#[allow(dead_code)]
enum Res {
    One(String),
    Many(Vec<String>),
}
#[derive(serde::Deserialize)]
#[allow(dead_code, non_snake_case)]
struct Data {
    residency: Res,
    maxSensitivity: String,
}
#[derive(serde::Deserialize)]
#[allow(dead_code)]
struct Trust {
    signed: bool,
    publisher: String,
}
#[derive(serde::Deserialize)]
#[allow(dead_code, non_snake_case)]
struct Pol {
    rateLimitPerMin: Option<f64>,
}
fn main() {
    let a = std::env::args().nth(1).unwrap();
    let md = std::fs::read(format!("{a}.md")).unwrap();
    let js = std::fs::read(format!("{a}.json")).unwrap();
    println!("{} bytes", js.len());
    t("serde_json typed", || {
        let d: Doc = serde_json::from_slice(&js).unwrap();
        d.servers.len()
    });
    t("manifest", || lower::manifest(md.clone()).unwrap());
    t("index", || lower::index(js.clone()).unwrap().value.len());
    t("bytes->lock", || {
        let m = lower::manifest(md.clone()).unwrap().value;
        let i = lower::index(js.clone()).unwrap().value;
        let r = decide::Resolution::new(m.into(), i.into());
        r.lock().map(|l| render::lock(&l)).map(|l| l.len())
    });
    let m = std::sync::Arc::new(lower::manifest(md.clone()).unwrap().value);
    let i = std::sync::Arc::new(lower::index(js.clone()).unwrap().value);
    let r = t("resolve", || decide::Resolution::new(m.clone(), i.clone()));
    println!(
        "satisfied {}",
        r.outcomes()
            .iter()
            .filter(|o| matches!(o, decide::Outcome::Selected(_)))
            .count()
    );
    t("lock", || r.lock().map(|l| render::lock(&l)));
    let c = t("compact", || render::compact(&r));
    println!("{} bytes", c.len());
    t("summary", || render::summary(&r).len());
    t("full", || {
        render::resolution(&r)
            .map(|s| s.len())
            .map_err(|e| e.message)
    });
}
