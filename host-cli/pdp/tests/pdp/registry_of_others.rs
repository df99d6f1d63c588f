//! Bundles in the registry of Debian's `docker-registry`, which `cargo xtask test` unpacks.

use super::bundle::{END, folder, make, run};
use super::support::Folder;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// A running registry, which is killed at last.
struct Registry {
    child: Child,
    port: u16,
    storage: PathBuf,
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Registry {
    fn start(folder: &Folder) -> Self {
        let program = std::env::var("AGENT_TEST_REGISTRY").expect("`cargo xtask test` names it");
        // Nobody takes the port in between, as long as no other test asks for this one.
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let storage = folder.path("storage");
        folder.write(
            "registry.yml",
            &format!(
                "version: 0.1\nlog: {{ level: error, accesslog: {{ disabled: true }} }}\n\
                 storage: {{ filesystem: {{ rootdirectory: {} }} }}\n\
                 http: {{ addr: '127.0.0.1:{port}' }}\n",
                storage.display()
            ),
        );
        let child = Command::new(program)
            .arg("serve")
            .arg(folder.path("registry.yml"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let registry = Self {
            child,
            port,
            storage,
        };
        let mut looks = 0;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            looks += 1;
            assert!(looks < 200, "the registry does not listen");
            sleep(Duration::from_millis(50));
        }
        registry
    }

    fn reference(&self, name: &str) -> String {
        format!("127.0.0.1:{}/{name}", self.port)
    }

    /// Returns the files of blobs with a text.
    fn blobs(&self, text: &str) -> Vec<PathBuf> {
        fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => walk(&path, found),
                    false => found.push(path),
                }
            }
        }
        let mut found = Vec::new();
        walk(&self.storage, &mut found);
        found.retain(|it| fs::read(it).is_ok_and(|it| String::from_utf8_lossy(&it).contains(text)));
        found
    }
}

#[test]
fn a_bundle_comes_back_as_it_was_sent() {
    let folder = folder();
    let registry = Registry::start(&folder);
    let place = registry.reference("fleet/support:live");
    make(&folder, "one", "7", END);
    let seventh = fs::read(folder.path("support.json")).unwrap();
    let (code, text) = run(&folder, &["bundle", "push", "support.json", &place]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains(&format!("pushed {place}")), "{text}");
    let pull = |place: &str| run(&folder, &["bundle", "pull", place, "--out", "pulled.json"]);
    let (code, text) = pull(&place);
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(fs::read(folder.path("pulled.json")).unwrap(), seventh);
    // A tag moves to the next one.
    make(&folder, "one", "8", END);
    let (code, text) = run(&folder, &["bundle", "push", "support.json", &place]);
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = pull(&place);
    assert_eq!(code, Some(0), "{text}");
    let eighth = fs::read(folder.path("support.json")).unwrap();
    assert_eq!(fs::read(folder.path("pulled.json")).unwrap(), eighth);
    let (code, text) = pull(&registry.reference("fleet/support:gone"));
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("fleet/support:gone"), "{text}");
    // A registry that changes a byte is found out.
    let blobs = registry.blobs("\"policy.rego\": ");
    assert_eq!(blobs.len(), 2);
    for blob in blobs {
        let text = fs::read_to_string(&blob).unwrap();
        fs::write(&blob, text.replacen("package", "Package", 1)).unwrap();
    }
    let (code, text) = pull(&place);
    assert_eq!(code, Some(2), "{text}");
    assert_eq!(fs::read(folder.path("pulled.json")).unwrap(), eighth);
}

#[test]
fn only_bundles_are_sent_and_fetched() {
    let folder = folder();
    let registry = Registry::start(&folder);
    let place = registry.reference("fleet/support:live");
    folder.write("other.json", "{}");
    let (code, text) = run(&folder, &["bundle", "push", "other.json", &place]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("BUNDLE_INVALID"), "{text}");
    for (reference, why) in [
        ("", "does not name a bundle in a registry"),
        ("127.0.0.1:1/A B", "does not name a bundle in a registry"),
        ("127.0.0.1:1/fleet:live", "127.0.0.1:1/fleet:live"),
    ] {
        let (code, text) = run(
            &folder,
            &["bundle", "pull", reference, "--out", "pulled.json"],
        );
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains(why), "{text}");
    }
    // Another artifact at the place is none.
    make(&folder, "one", "7", END);
    let (code, text) = run(&folder, &["bundle", "push", "support.json", &place]);
    assert_eq!(code, Some(0), "{text}");
    for manifest in registry.blobs("\"artifactType\"") {
        let text = fs::read_to_string(&manifest).unwrap();
        let of_image = text.replace("agent-engine.bundle.v1+json", "oci.image.layer.v1.tar");
        fs::write(&manifest, of_image).unwrap();
    }
    let (code, text) = run(&folder, &["bundle", "pull", &place, "--out", "pulled.json"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(!folder.path("pulled.json").exists());
}
