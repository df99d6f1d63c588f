use agent_engine::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let m = lower::manifest(std::fs::read(&a[1]).unwrap());
    let i = lower::index(std::fs::read(&a[2]).unwrap());
    let mut bad = vec![];
    if let Err(d) = &m {
        bad.extend(d.clone());
    }
    if let Err(d) = &i {
        bad.extend(d.clone());
    }
    println!("{}", render::report(render::Format::Github, &bad, &[]));
    let (Ok(m), Ok(i)) = (m, i) else {
        println!("{}", render::report(render::Format::Json, &bad, &[]));
        return;
    };
    for w in i.warnings.iter().chain(&m.warnings) {
        println!("{w:?}");
    }
    let r = decide::Resolution::new(m.value.into(), i.value.into());
    for p in render::summary(&r) {
        print!("{}", p.text);
    }
    if let Some(l) = r.lock() {
        print!("{}", render::lock(&l));
    }
    let full = render::resolution(&r).unwrap();
    print!("{full}");
    let c = render::compact(&r);
    print!("{c}");
    assert_eq!(render::expand(c.into_bytes()).unwrap(), full);
    for p in render::why(&r, a.get(3).map_or("gamma", |s| s)).unwrap() {
        print!("{}", p.text);
    }
}
