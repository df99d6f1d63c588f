//! Installing a wheel that pip finds in a folder: real pip, real sandbox, an index on loopback.

use crate::support::{registries, required};
use agent_packages::{Package, Registry, Requirement, Requirements, Resolved, Store, Version};
use agent_sandbox::{Command, Exit, Limits, Mount, Sandbox, Tier};
use std::fs;
use std::future;
use std::path::Path;
use std::process;
use tempfile::TempDir;

/// Makes the wheels of `acme-server`, whose program prints its module, and of `acme-extra`, which its extra needs, and
/// a source archive of `built`, which would run code when it is built.
const MAKE: &str = r#"
import io, sys, tarfile, zipfile
folder = sys.argv[1]
def wheel(name, more, files):
    info = name + '-1.0.0.dist-info/'
    files = {
      name + '.py': "def main():\n    print('started', __name__)\n",
      info + 'METADATA': 'Metadata-Version: 2.1\nName: ' + name + '\nVersion: 1.0.0\n' + more,
      info + 'WHEEL': 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
      **{info + path: text for path, text in files.items()},
    }
    files[info + 'RECORD'] = ''.join(path + ',,\n' for path in [*files, info + 'RECORD'])
    with zipfile.ZipFile(folder + '/' + name + '-1.0.0-py3-none-any.whl', 'w') as archive:
        for path, text in files.items():
            archive.writestr(path, text)
wheel('acme_server', 'Author-email: Acme <a@acme.example>\nProvides-Extra: extra\nRequires-Dist: acme-extra; extra == "extra"\n',
      {'entry_points.txt': '[console_scripts]\nacme-server = acme_server:main\n'})
wheel('acme_extra', '', {})
sources = {'setup.py': 'raise SystemExit("code of the package")',
           'PKG-INFO': 'Metadata-Version: 2.1\nName: built\nVersion: 1.0.0\n'}
with tarfile.open(folder + '/built-1.0.0.tar.gz', 'w:gz') as archive:
    for name, text in sources.items():
        member = tarfile.TarInfo('built-1.0.0/' + name)
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text.encode()))
"#;

/// Makes the archives in a folder.
fn make(folder: &Path) {
    let made = process::Command::new("python3")
        .args(["-I", "-c", MAKE])
        .arg(folder)
        .status();
    assert!(made.unwrap().success());
}

/// Makes a folder with the archives, and an index of them that pip of this process asks.
fn place() -> (TempDir, index::Index) {
    let folder = tempfile::tempdir().unwrap();
    let links = folder.path().join("links");
    fs::create_dir(&links).unwrap();
    make(&links);
    let index = index::Index::serve(&links);
    for (name, value) in [("PIP_INDEX_URL", &*index.url()), ("PIP_RETRIES", "0")] {
        #[expect(unsafe_code, reason = "the process has no other thread that reads it")]
        // SAFETY: nextest runs each test in a separate process, and pip is not started yet.
        unsafe {
            std::env::set_var(name, value);
        }
    }
    (folder, index)
}

#[tokio::test]
async fn a_wheel_is_installed_and_its_program_starts() {
    let (folder, _index) = place();
    let root = folder.path().join("packages");
    let store = Store::new(&root);
    let sandbox = Sandbox::best().await.unwrap();

    let package = Package::parse("pkg:pypi/acme-server@1.0.0").unwrap();
    let installed = store
        .install(&package, &sandbox, &registries([]))
        .await
        .unwrap();
    assert_eq!(installed.closure.len(), 1);
    assert!(installed.closure[0].integrity.starts_with("sha256="));

    let [program, start] = installed.command.clone();
    let mut command = Command::new(program);
    command.arguments = vec![start.into()];
    command.read.clone_from(&installed.read);
    command.env.clone_from(&installed.env);
    let ended = sandbox.run(command, Vec::new(), Limits::default(), future::pending());
    let ended = ended.await.unwrap();
    assert_eq!(ended.exit, Exit::Code(0), "{:?}", ended.stderr);
    assert_eq!(ended.stdout, b"started acme_server\n");

    // A package without a wheel would run its code to be installed.
    let package = Package::parse("pkg:pypi/built@1.0.0").unwrap();
    let refused = store.install(&package, &sandbox, &registries([])).await;
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.contains("pip can't install `built@1.0.0`"),
        "{refused}"
    );
    assert!(!refused.contains("code of the package"), "{refused}");
    assert_eq!(fs::read_dir(root).unwrap().count(), 1);
}

#[tokio::test]
async fn a_package_is_looked_up_before_it_is_installed() {
    let (folder, _index) = place();
    let root = folder.path().join("packages");
    let store = Store::new(&root);
    let sandbox = Sandbox::best().await.unwrap();
    let network = registries([]);
    for version in [None, Some("<2")] {
        let facts = store.look_up(Registry::PyPi, "acme_server", version, &sandbox, &network);
        let facts = facts.await.unwrap();
        assert_eq!(facts.version, "1.0.0");
        assert_eq!(facts.publisher.as_deref(), Some("Acme"));
        assert_eq!(facts.published, None);
    }
    let refused = store.look_up(Registry::PyPi, "built", None, &sandbox, &network);
    let refused = refused.await.unwrap_err().to_string();
    assert!(refused.contains("pip can't look up `built`"), "{refused}");
    assert!(!refused.contains("code of the package"), "{refused}");
    assert_eq!(fs::read_dir(root).unwrap().count(), 0, "nothing is left");
}

#[tokio::test]
async fn an_app_is_given_what_was_resolved_before_it_is_installed() {
    let (folder, _index) = place();
    let links = folder.path().join("links");
    let root = folder.path().join("packages");
    let store = Store::new(&root);
    let sandbox = Sandbox::of(Tier::Bubblewrap).await.unwrap();
    let network = registries([]);
    let exact = || required(Registry::PyPi, [("acme-server", Some("1.0.0"))]);
    let mut list = Requirement::new("acme_server", Version::Range("<2,>=1".to_owned()));
    list.extras = vec!["extra".to_owned()];
    let list = Requirements::new(Registry::PyPi, vec![list]).unwrap();

    // The extra needs a second package.
    let resolved = store.resolve(list, &sandbox, &network);
    let resolved = resolved.await.unwrap();
    let closure = |resolved: &Resolved| {
        let items = resolved.closure().iter();
        let items = items.map(|it| format!("{} {}", it.name(), it.version));
        items.collect::<Vec<_>>()
    };
    assert_eq!(
        closure(&resolved),
        ["acme-extra 1.0.0", "acme-server 1.0.0"]
    );
    drop(resolved);
    let resolved = store.resolve(exact(), &sandbox, &network).await.unwrap();
    assert_eq!(closure(&resolved), ["acme-server 1.0.0"]);
    let app = store.install_resolved(resolved, &sandbox, &network);
    let app = app.await.unwrap();

    let mut command = Command::new(&app.program);
    command.arguments = ["-c", "import acme_server; acme_server.main()"]
        .map(Into::into)
        .into();
    let env = app.env.iter();
    command.env = env
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    command.read.extend(app.runtime.clone());
    for (inside, folder) in &app.folders {
        let (folder, writable) = (folder.clone(), false);
        command
            .mounts
            .insert(inside.clone(), Mount { folder, writable });
    }
    let ended = sandbox.run(command, Vec::new(), Limits::default(), future::pending());
    let ended = ended.await.unwrap();
    assert_eq!(ended.stdout, b"started acme_server\n", "{:?}", ended.stderr);

    // The archive of the same version is another one by the time of the installation.
    let resolved = store.resolve(exact(), &sandbox, &network);
    let resolved = resolved.await.unwrap();
    let file = app.folders.values().next().unwrap().join("acme_server.py");
    fs::write(&file, "print('changed')").unwrap();
    let refused = store.install_resolved(resolved, &sandbox, &network).await;
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("was changed since"), "{refused}");
    fs::remove_dir_all(file.parent().unwrap().parent().unwrap()).unwrap();
    let resolved = store.resolve(exact(), &sandbox, &network);
    let resolved = resolved.await.unwrap();
    let changed = MAKE.replace("'started'", "'another'");
    let made = process::Command::new("python3")
        .args(["-I", "-c", &changed])
        .arg(&links)
        .status();
    assert!(made.unwrap().success());
    let refused = store.install_resolved(resolved, &sandbox, &network).await;
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("DO NOT MATCH THE HASHES"), "{refused}");

    // A package without a wheel would run its code to be resolved.
    let refused = store
        .resolve(
            required(Registry::PyPi, [("built", None)]),
            &sandbox,
            &network,
        )
        .await;
    let refused = refused.unwrap_err().to_string();
    assert!(!refused.contains("code of the package"), "{refused}");
    assert_eq!(fs::read_dir(root).unwrap().count(), 0, "nothing is left");
}

/// A simple index (PEP 503) on loopback.
mod index {
    use std::fs;
    use std::io::{BufRead, BufReader, Write};
    use std::net::{TcpListener, TcpStream};
    use std::path::{Path, PathBuf};
    use std::thread;

    pub(crate) struct Index(u16);

    impl Index {
        /// Serves the archives in a folder.
        pub(crate) fn serve(folder: &Path) -> Self {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let port = listener.local_addr().unwrap().port();
            let folder = folder.to_owned();
            thread::spawn(move || {
                for stream in listener.incoming().flatten() {
                    let folder = folder.clone();
                    thread::spawn(move || answer(stream, &folder));
                }
            });
            Self(port)
        }

        pub(crate) fn url(&self) -> String {
            format!("http://127.0.0.1:{}/simple", self.0)
        }
    }

    fn answer(mut stream: TcpStream, folder: &Path) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            match reader.read_line(&mut head) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
        }
        let path = PathBuf::from(head.split(' ').nth(1).unwrap());
        let (media_type, body) = match path.strip_prefix("/files") {
            Ok(name) => ("application/zip", fs::read(folder.join(name)).unwrap()),
            Err(_) => {
                let wanted = path
                    .file_name()
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .replace('-', "_");
                let names = fs::read_dir(folder)
                    .unwrap()
                    .map(|it| it.unwrap().file_name());
                let names = names.map(|it| it.into_string().unwrap());
                let links = names
                    .filter(|name| name.starts_with(&wanted))
                    .map(|name| format!("<a href=\"/files/{name}\">{name}</a>"));
                let page = format!(
                    "<!DOCTYPE html><html><body>{}</body></html>",
                    links.collect::<String>()
                );
                ("text/html", page.into_bytes())
            }
        };
        let length = body.len();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {media_type}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
        );
        let _ = stream.write_all(head.as_bytes());
        let _ = stream.write_all(&body);
    }
}
