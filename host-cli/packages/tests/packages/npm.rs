//! Installing from a registry on loopback: real npm, real sandbox.

use crate::support::{registries, required, site};
use agent_packages::{Package, Registry as Kind, Store};
use agent_sandbox::{Command, Exit, Limits, Mount, Sandbox, Tier};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::{Value, json};
use sha2::{Digest, Sha512};
use std::fs;
use std::future;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

/// Returns an archive with files below `package`: blocks of 512 bytes, each file behind its header.
fn archive(files: &[(&str, &str)]) -> Vec<u8> {
    const BLOCK: usize = 512;
    let mut archive = Vec::new();
    for (name, content) in files {
        let mut header = [0_u8; BLOCK];
        let mut put = |at: usize, text: &str| {
            header[at..at + text.len()].copy_from_slice(text.as_bytes());
        };
        put(0, &format!("package/{name}"));
        put(100, "0000644");
        put(108, "0000000");
        put(116, "0000000");
        put(124, &format!("{:011o}", content.len()));
        put(136, "00000000000");
        put(148, "        ");
        put(156, "0");
        put(257, "ustar");
        put(263, "00");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        let sum = format!("{sum:06o}\0 ");
        header[148..156].copy_from_slice(sum.as_bytes());
        archive.extend(header);
        archive.extend(content.as_bytes());
        archive.resize(archive.len().next_multiple_of(BLOCK), 0);
    }
    archive.resize(archive.len() + 2 * BLOCK, 0);
    archive
}

/// A registry with `acme`, which needs `helper`. Both would run a script when they are installed.
struct Registry(u16);

impl Registry {
    fn start(change: impl Fn(&mut Value) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let scripts =
            json!({ "postinstall": "echo ran > ran.txt", "install": "echo ran > ran.txt" });
        let acme = json!({
            "name": "acme", "version": "1.0.0", "bin": { "acme": "start.js" },
            "dependencies": { "helper": "2.x" }, "scripts": scripts
        });
        let helper = json!({ "name": "helper", "version": "2.5.0", "scripts": scripts });
        let start = "console.log('started with', require('helper'))";
        let packages = [
            (acme, vec![("start.js", start)]),
            (helper, vec![("index.js", "module.exports = 'its helper'")]),
        ];
        let packages = packages.map(|(manifest, mut files)| {
            let text = manifest.to_string();
            files.push(("package.json", &text));
            let archive = archive(&files);
            let name = manifest["name"].as_str().unwrap().to_owned();
            let mut version = manifest.clone();
            let integrity = BASE64_STANDARD.encode(Sha512::digest(&archive));
            version["dist"] = json!({
                "tarball": format!("http://127.0.0.1:{port}/{name}.tgz"),
                "integrity": format!("sha512-{integrity}")
            });
            change(&mut version);
            let number = manifest["version"].as_str().unwrap();
            let document = json!({
                "name": name, "dist-tags": { "latest": number }, "versions": { number: version }
            });
            (name, document.to_string().into_bytes(), archive)
        });
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let packages = packages.clone();
                thread::spawn(move || serve(stream, &packages));
            }
        });
        Self(port)
    }
}

fn serve(mut stream: TcpStream, packages: &[(String, Vec<u8>, Vec<u8>)]) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            match reader.read_line(&mut head) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
        }
        let closes = head.contains("Connection: close\r\n");
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let found = packages.iter().find_map(|(name, document, archive)| {
            let is_archive = path == format!("/{name}.tgz");
            let is_document = path == format!("/{name}");
            match (is_document, is_archive) {
                (true, _) => Some(document),
                (_, true) => Some(archive),
                _ => None,
            }
        });
        let (status, body) = match found {
            Some(body) => ("200 OK", &body[..]),
            None => ("404 Not Found", &b"{}"[..]),
        };
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
        );
        if stream.write_all(head.as_bytes()).is_err() || stream.write_all(body).is_err() {
            return;
        }
        // The proxy passes one request on for each connection, and asks for its end.
        if closes {
            return;
        }
    }
}

/// Uses a registry. Each test runs in a separate process.
fn choose(registry: &Registry) {
    let url = format!("http://127.0.0.1:{}/", registry.0);
    for (name, value) in [
        ("npm_config_registry", &*url),
        ("npm_config_fetch_retries", "0"),
    ] {
        #[expect(unsafe_code, reason = "the process has no other thread that reads it")]
        // SAFETY: nextest runs each test in a separate process, and npm is not started yet.
        unsafe {
            std::env::set_var(name, value);
        }
    }
}

#[tokio::test]
async fn a_package_is_installed_once_without_its_scripts() {
    let registry = Registry::start(|_| {});
    choose(&registry);
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path().join("packages"));
    let sandbox = Sandbox::best().await.unwrap();
    let package = Package::parse("pkg:npm/acme@1.0.0").unwrap();
    assert_eq!(store.installed(&package).unwrap(), None);
    let installed = store
        .install(&package, &sandbox, &registries([]))
        .await
        .unwrap();

    let closure: Vec<_> = installed
        .closure
        .iter()
        .map(|item| format!("{} {}", item.path, item.version))
        .collect();
    assert_eq!(
        closure,
        ["node_modules/acme 1.0.0", "node_modules/helper 2.5.0"]
    );
    let digests = |it: &agent_packages::Item| it.integrity.starts_with("sha512-");
    assert!(installed.closure.iter().all(digests));
    let root = &installed.read[0];
    for name in ["acme", "helper"] {
        let ran = root.join("node_modules").join(name).join("ran.txt");
        assert!(!ran.exists(), "a script of {name} was run");
    }

    // It starts in the sandbox, without a network, from a folder that it can only read.
    let [program, start] = installed.command.clone();
    let mut command = Command::new(program);
    command.arguments = vec![start.into()];
    command.read.clone_from(&installed.read);
    command.env.clone_from(&installed.env);
    let limits = Limits {
        memory_bytes: 2 << 30,
        ..Limits::default()
    };
    let ended = sandbox.run(command, Vec::new(), limits, future::pending());
    let ended = ended.await.unwrap();
    assert_eq!(ended.exit, Exit::Code(0), "{:?}", ended.stderr);
    assert_eq!(ended.stdout, b"started with its helper\n");

    // Nothing is fetched again: the registry is gone.
    choose(&Registry(1));
    let again = store
        .install(&package, &sandbox, &registries([]))
        .await
        .unwrap();
    assert_eq!(again, installed);
}

#[tokio::test]
async fn a_package_is_looked_up_before_it_is_installed() {
    let version = |number: &str, user: Value| json!({ "name": "@acme/a", "version": number, "author": "Acme", "_npmUser": user });
    let document = json!({
        "name": "@acme/a",
        "dist-tags": { "latest": "1.9.0", "next": "2.0.0-rc.1" },
        "time": { "1.9.0": "2025-03-01T10:00:00.000Z" },
        "versions": {
            "1.10.0": version("1.10.0", json!({ "name": "bob", "email": "bob@acme.example" })),
            "1.9.0": version("1.9.0", json!({ "name": "ann", "email": "ann@acme.example" })),
            "0.1.0": version("0.1.0", Value::Null),
            "2.0.0-rc.1": version("2.0.0-rc.1", Value::Null)
        }
    });
    let files = [("@acme%2fa".to_owned(), document.to_string().into_bytes())];
    choose(&Registry(site(|_| files.into())));
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("packages");
    let store = Store::new(&root);
    let sandbox = Sandbox::best().await.unwrap();
    let network = registries([]);
    let date = Some("2025-03-01");
    for (wanted, version, publisher, published) in [
        (None, "1.9.0", "ann", date),
        (Some("^1"), "1.9.0", "ann", date),
        (Some("0.1.0"), "0.1.0", "Acme", None),
        (Some("next"), "2.0.0-rc.1", "Acme", None),
    ] {
        let facts = store.look_up(Kind::Npm, "@acme/a", wanted, &sandbox, &network);
        let facts = facts.await.unwrap();
        assert_eq!(facts.version, version, "{wanted:?}");
        assert_eq!(facts.publisher.as_deref(), Some(publisher), "{wanted:?}");
        assert_eq!(facts.published.as_deref(), published, "{wanted:?}");
    }
    for (registry, name, wanted, why) in [
        (
            Kind::Npm,
            "@acme/a",
            Some("3"),
            "npm can't look up `@acme/a 3`",
        ),
        (
            Kind::Go,
            "a.example/b",
            None,
            "a server is a package of npm or PyPI",
        ),
    ] {
        let refused = store.look_up(registry, name, wanted, &sandbox, &network);
        let refused = refused.await.unwrap_err().to_string();
        assert!(refused.contains(why), "{refused}");
    }
    assert_eq!(fs::read_dir(root).unwrap().count(), 0, "nothing is left");
}

#[tokio::test]
async fn an_archive_with_another_digest_is_refused_and_leaves_nothing() {
    let registry = Registry::start(|version| {
        version["dist"]["integrity"] = json!(format!("sha512-{}==", "A".repeat(86)));
    });
    choose(&registry);
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path().join("packages"));
    let sandbox = Sandbox::best().await.unwrap();
    let package = Package::parse("pkg:npm/acme@1.0.0").unwrap();
    let refused = store
        .install(&package, &sandbox, &registries([]))
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("EINTEGRITY"), "{refused}");
    let left = fs::read_dir(folder.path().join("packages")).unwrap();
    assert_eq!(left.count(), 0);
}

#[tokio::test]
async fn a_package_that_the_registry_does_not_have_is_named() {
    let registry = Registry::start(|_| {});
    choose(&registry);
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path().join("packages"));
    let sandbox = Sandbox::best().await.unwrap();
    let package = Package::parse("pkg:npm/acme@1.0.1").unwrap();
    let refused = store
        .install(&package, &sandbox, &registries([]))
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("acme@1.0.1"), "{refused}");
}

#[tokio::test]
async fn an_archive_from_another_host_is_refused_until_the_host_is_allowed() {
    let other = Registry::start(|_| {});
    let port = other.0;
    let registry = Registry::start(move |version| {
        let name = version["name"].as_str().unwrap().to_owned();
        version["dist"]["tarball"] = json!(format!("http://127.0.0.1:{port}/{name}.tgz"));
    });
    choose(&registry);
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path().join("packages"));
    let sandbox = Sandbox::of(Tier::Bubblewrap).await.unwrap();
    let package = Package::parse("pkg:npm/acme@1.0.0").unwrap();
    let refused = store.install(&package, &sandbox, &registries([])).await;
    let refused = refused.unwrap_err();
    let host = format!("127.0.0.1:{port}");
    let line = format!("network: `{host}` is not listed");
    assert!(refused.to_string().contains(&line), "{refused}");
    assert!(refused.help().unwrap().contains("--allow-host"));
    let allowed = registries([host]);
    store.install(&package, &sandbox, &allowed).await.unwrap();
}

#[tokio::test]
async fn a_file_that_was_changed_since_the_installation_is_found() {
    let registry = Registry::start(|_| {});
    choose(&registry);
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path().join("packages"));
    let sandbox = Sandbox::best().await.unwrap();
    let package = Package::parse("pkg:npm/acme@1.0.0").unwrap();
    let installed = store.install(&package, &sandbox, &registries([])).await;
    let root = installed.unwrap().read.pop().unwrap();
    let helper = root.join("node_modules/helper/index.js");
    let before = fs::read(&helper).unwrap();
    fs::write(&helper, "module.exports = 'another'").unwrap();
    let refused = store.installed(&package).unwrap_err();
    assert!(
        refused.to_string().contains("was changed since"),
        "{refused}"
    );
    fs::write(&helper, before).unwrap();
    assert!(store.installed(&package).unwrap().is_some());
}

#[tokio::test]
async fn the_tier_without_a_network_of_its_own_installs_nothing_from_registries_alone() {
    let registry = Registry::start(|_| {});
    choose(&registry);
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path().join("packages"));
    let sandbox = Sandbox::of(Tier::Landlock).await.unwrap();
    let package = Package::parse("pkg:npm/acme@1.0.0").unwrap();
    let refused = store.install(&package, &sandbox, &registries([])).await;
    let refused = refused.unwrap_err();
    assert!(
        refused.help().unwrap().contains("--network host"),
        "{refused}"
    );
}

#[tokio::test]
async fn an_app_is_given_what_was_resolved_before_it_is_installed() {
    let registry = Registry::start(|_| {});
    choose(&registry);
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("packages");
    let store = Store::new(&root);
    let sandbox = Sandbox::of(Tier::Bubblewrap).await.unwrap();
    let network = registries([]);
    let resolve = || {
        let requirements = required(Kind::Npm, [("acme", None)]);
        store.resolve(requirements, &sandbox, &network)
    };
    let resolved = resolve().await.unwrap();
    let closure: Vec<_> = resolved
        .closure()
        .iter()
        .map(|item| format!("{} {}", item.name(), item.version))
        .collect();
    assert_eq!(closure, ["acme 1.0.0", "helper 2.5.0"]);
    let staged = fs::read_dir(&root).unwrap().next().unwrap().unwrap();
    assert!(!staged.path().join("node_modules").exists());
    drop(resolved);
    assert_eq!(fs::read_dir(&root).unwrap().count(), 0);

    let resolved = resolve().await.unwrap();
    let app = store.install_resolved(resolved, &sandbox, &network);
    let app = app.await.unwrap();
    let mut command = Command::new(&app.program);
    command.arguments = ["-e", "console.log(require('helper'))"]
        .map(Into::into)
        .into();
    for (inside, folder) in &app.folders {
        assert!(!folder.join("helper/ran.txt").exists());
        let (folder, writable) = (folder.clone(), false);
        command
            .mounts
            .insert(inside.clone(), Mount { folder, writable });
    }
    let limits = Limits {
        memory_bytes: 2 << 30,
        ..Limits::default()
    };
    let ended = sandbox.run(command, Vec::new(), limits, future::pending());
    let ended = ended.await.unwrap();
    assert_eq!(ended.stdout, b"its helper\n", "{:?}", ended.stderr);

    // The same closure is not installed twice.
    let resolved = resolve().await.unwrap();
    choose(&Registry(1));
    let again = store.install_resolved(resolved, &sandbox, &network);
    assert_eq!(again.await.unwrap(), app);
}

#[tokio::test]
async fn a_package_has_its_own_name_and_comes_from_the_registry() {
    let needs = |place: fn(&str) -> Value| {
        move |version: &mut Value| {
            if version["name"] == "acme" {
                let archive = version["dist"]["tarball"].as_str().unwrap();
                version["dependencies"] = place(&archive.replace("acme.tgz", "helper.tgz"));
            }
        }
    };
    let sandbox = Sandbox::of(Tier::Bubblewrap).await.unwrap();
    let network = registries([]);
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path().join("packages"));
    let resolve = || store.resolve(required(Kind::Npm, [("acme", None)]), &sandbox, &network);

    // A package that calls another one as it likes hides nothing.
    let registry = Registry::start(needs(|_| json!({ "express": "npm:helper@2.x" })));
    choose(&registry);
    let resolved = resolve().await.unwrap();
    let names: Vec<_> = resolved.closure().iter().map(|it| it.name()).collect();
    assert_eq!(names, ["acme", "helper"]);

    let registry = Registry::start(needs(|archive| json!({ "express": archive })));
    choose(&registry);
    let refused = resolve().await.unwrap_err().to_string();
    assert!(
        refused.contains("needs `express` from `http://"),
        "{refused}"
    );
}
