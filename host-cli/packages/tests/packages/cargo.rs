//! Crates of a sparse index on loopback: real cargo, real sandbox.

use crate::support::{closure, ran, registries, required, set_environment, site};
use agent_packages::{Registry, Requirement, Requirements, Store, Version};
use agent_sandbox::{Sandbox, Tier};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process;
use tempfile::TempDir;

/// A build script that would say so if it was run.
const BUILD: &str = "fn main() { std::fs::write(\"/tmp/built\", \"\").unwrap(); panic!() }\n";

/// Returns the archive of a crate.
fn archive(name: &str, version: &str, files: &[(&str, &str)]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let whole = format!("{name}-{version}");
    for (path, content) in files {
        let path = folder.path().join(&whole).join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    let tar = process::Command::new("tar")
        .current_dir(folder.path())
        // Two registries of a test have the same archives.
        .args(["--mtime=@0", "--sort=name", "-cz", &whole])
        .output();
    tar.unwrap().stdout
}

fn digest(archive: &[u8]) -> String {
    let digest = Sha256::digest(archive);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The files of a registry: `acme`, which needs `helper` for its feature `more`, and `built` with a build script.
/// Crates are downloaded from another port, if there is one.
fn registry(port: u16, downloads: u16) -> BTreeMap<String, Vec<u8>> {
    let manifest = |name: &str, version: &str, more: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"{version}\"\nedition = \"2021\"\n{more}")
    };
    let of_acme = "[dependencies]\nhelper = { version = \"2\", optional = true }\n\
                   [features]\nmore = [\"dep:helper\"]\n";
    let code = "pub fn name() -> String {\n\
                #[cfg(feature = \"more\")] return format!(\"acme with {}\", helper::NAME);\n\
                #[cfg(not(feature = \"more\"))] return \"acme\".to_owned();\n}\n";
    let crates = [
        ("acme", "1.0.0", of_acme, code, ""),
        (
            "helper",
            "2.0.0",
            "",
            "pub const NAME: &str = \"2.0.0\";",
            "",
        ),
        (
            "helper",
            "2.1.0",
            "",
            "pub const NAME: &str = \"2.1.0\";",
            "",
        ),
        ("built", "1.0.0", "", "", BUILD),
    ];
    let mut files = BTreeMap::new();
    for (name, version, more, code, build) in crates {
        let manifest = manifest(name, version, more);
        let mut content = vec![("Cargo.toml", &*manifest), ("src/lib.rs", code)];
        if !build.is_empty() {
            content.push(("build.rs", build));
        }
        let archive = archive(name, version, &content);
        let helper = json!({
            "name": "helper", "req": "^2", "features": [], "optional": true,
            "default_features": true, "target": null, "kind": "normal"
        });
        let is_acme = name == "acme";
        let line = json!({
            "name": name, "vers": version, "yanked": false,
            "cksum": digest(&archive),
            "deps": if is_acme { json!([helper]) } else { json!([]) },
            "features": {}, "v": 2,
            "features2": if is_acme { json!({ "more": ["dep:helper"] }) } else { json!({}) },
        });
        let entry = format!("index/{}/{}/{name}", &name[..2], &name[2..4]);
        let entry: &mut Vec<u8> = files.entry(entry).or_default();
        entry.extend(format!("{line}\n").bytes());
        files.insert(format!("crates/{name}/{version}/download"), archive);
    }
    let downloads = if downloads == 0 { port } else { downloads };
    let config = json!({ "dl": format!("http://127.0.0.1:{downloads}/crates") });
    files.insert("index/config.json".to_owned(), config.to_string().into());
    files
}

/// Uses a registry instead of crates.io, as the user's configuration of cargo does.
fn choose(port: u16) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let configuration = format!(
        "[source.crates-io]\nreplace-with = \"mirror\"\n\
         [source.mirror]\nregistry = \"sparse+http://127.0.0.1:{port}/index/\"\n"
    );
    fs::write(home.path().join("config.toml"), configuration).unwrap();
    set_environment([
        ("CARGO_HOME", home.path().to_str().unwrap()),
        ("CARGO_NET_RETRY", "0"),
    ]);
    home
}

#[tokio::test]
async fn an_app_is_built_from_the_crates_that_were_resolved() {
    let _home = choose(site(|port| registry(port, 0)));
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("packages");
    let store = Store::new(&root);
    let sandbox = Sandbox::of(Tier::Bubblewrap).await.unwrap();
    let network = registries([]);

    let mut acme = Requirement::new("acme", Version::Range("1".to_owned()));
    acme.extras = vec!["more".to_owned()];
    let list = || Requirements::new(Registry::CratesIo, vec![acme.clone()]).unwrap();
    let resolved = store.resolve(list(), &sandbox, &network).await.unwrap();
    assert_eq!(closure(&resolved), ["acme 1.0.0", "helper 2.1.0"]);
    let staged = fs::read_dir(&root).unwrap().next().unwrap().unwrap();
    assert!(!staged.path().join("vendor").exists());
    let app = store.install_resolved(resolved, &sandbox, &network);
    let app = app.await.unwrap();
    let crates = &app.folders[Path::new("/crates")];
    let lock = fs::read_to_string(crates.join("Cargo.lock")).unwrap();
    for gone in ["home", "asking"] {
        assert!(!crates.join(gone).exists(), "{gone}");
    }

    // A lock file of the app decides the version.
    let older = lock.replace("2.1.0", "2.0.0");
    let older: Vec<_> = older
        .lines()
        .filter(|line| !line.starts_with("checksum"))
        .collect();
    let locked = list().with_lock(Some(older.join("\n")));
    let resolved = store.resolve(locked, &sandbox, &network).await.unwrap();
    assert_eq!(closure(&resolved), ["acme 1.0.0", "helper 2.0.0"]);

    let source = tempfile::tempdir().unwrap();
    let manifest = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\
                    [dependencies]\nacme = { version = \"1\", features = [\"more\"] }\n";
    fs::create_dir(source.path().join("src")).unwrap();
    fs::write(source.path().join("Cargo.toml"), manifest).unwrap();
    let main = "fn main() { println!(\"{}\", acme::name()) }\n";
    fs::write(source.path().join("src/main.rs"), main).unwrap();
    fs::write(source.path().join("Cargo.lock"), lock).unwrap();
    let run = ["--config", "/crates/config.toml", "run", "--quiet"];
    let printed = ran(&app, &sandbox, source.path(), run, []).await;
    assert_eq!(printed.as_deref(), Ok("acme with 2.1.0\n"));

    // A changed crate is not used.
    fs::write(crates.join("vendor/helper-2.1.0/src/lib.rs"), "").unwrap();
    let resolved = store.resolve(list(), &sandbox, &network).await.unwrap();
    let refused = store.install_resolved(resolved, &sandbox, &network).await;
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("was changed since"), "{refused}");
}

#[tokio::test]
async fn build_scripts_are_not_run_by_the_installation() {
    let _home = choose(site(|port| registry(port, 0)));
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path().join("packages"));
    let sandbox = Sandbox::of(Tier::Bubblewrap).await.unwrap();
    let network = registries([]);
    let wanted = required(Registry::CratesIo, [("built", Some("1.0.0"))]);
    let resolved = store.resolve(wanted, &sandbox, &network).await.unwrap();
    let app = store.install_resolved(resolved, &sandbox, &network);
    let app = app.await.unwrap();
    let vendored = app.folders[Path::new("/crates")].join("vendor/built-1.0.0/build.rs");
    assert_eq!(fs::read_to_string(vendored).unwrap(), BUILD);

    let missing = required(Registry::CratesIo, [("built", Some("1.0.1"))]);
    let refused = store.resolve(missing, &sandbox, &network).await;
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.contains("cargo can't install `built@1.0.1`"),
        "{refused}"
    );
}

#[tokio::test]
async fn an_index_leads_to_no_address_of_its_own() {
    let other = site(|port| registry(port, 0));
    let _home = choose(site(|port| registry(port, other)));
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("packages");
    let store = Store::new(&root);
    let sandbox = Sandbox::of(Tier::Bubblewrap).await.unwrap();
    let wanted = || required(Registry::CratesIo, [("helper", None)]);
    let network = registries([]);
    let resolved = store.resolve(wanted(), &sandbox, &network).await.unwrap();
    let refused = store.install_resolved(resolved, &sandbox, &network).await;
    let refused = refused.unwrap_err().to_string();
    let host = format!("127.0.0.1:{other}");
    assert!(
        refused.contains(&format!("network: `{host}` is not listed")),
        "{refused}"
    );
    // The user can list it.
    let network = registries([host]);
    let resolved = store.resolve(wanted(), &sandbox, &network).await.unwrap();
    let installed = store.install_resolved(resolved, &sandbox, &network).await;
    assert!(installed.is_ok(), "{installed:?}");
    assert_eq!(fs::read_dir(root).unwrap().count(), 1);
}

#[tokio::test]
async fn crates_of_the_public_registry_are_vendored() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path().join("packages"));
    let sandbox = Sandbox::of(Tier::Bubblewrap).await.unwrap();
    let network = registries([]);
    let wanted = required(Registry::CratesIo, [("itoa", Some("1.0.11"))]);
    let resolved = store.resolve(wanted, &sandbox, &network).await.unwrap();
    assert_eq!(closure(&resolved), ["itoa 1.0.11"]);
    let app = store.install_resolved(resolved, &sandbox, &network);
    let app = app.await.unwrap();
    let vendored = app.folders[Path::new("/crates")].join("vendor/itoa-1.0.11/src/lib.rs");
    assert!(fs::metadata(vendored).unwrap().len() > 0);
}
