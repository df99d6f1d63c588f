//! Modules of a proxy on loopback: real Go, real sandbox. `cargo xtask test` runs these with Debian's toolchain in
//! `PATH`.

mod go_apps {
    use crate::support::{self, closure, registries_at, set_environment, site};
    use agent_packages::{
        AppPackages, Network, Registry, Requirement, Requirements, Store, Version,
    };
    use agent_sandbox::{Sandbox, Tier};
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::Path;
    use std::process;

    /// The host of the proxy. Go asks no proxy of a client for addresses of loopback.
    const HOST: &str = "modules.example";

    /// Returns the archive of a module.
    fn archive(module: &str, version: &str, files: &[(&str, &str)]) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let whole = format!("{module}@{version}");
        for (path, content) in files {
            let path = folder.path().join(&whole).join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let zip = "import os, sys, zipfile
with zipfile.ZipFile('archive.zip', 'w') as archive:
    for folder, _, files in sorted(os.walk(sys.argv[1])):
        for file in sorted(files):
            archive.write(os.path.join(folder, file))
";
        let zipped = process::Command::new("/usr/bin/python3")
            .current_dir(folder.path())
            .args(["-c", zip, module.split('/').next().unwrap()])
            .status();
        assert!(zipped.unwrap().success());
        fs::read(folder.path().join("archive.zip")).unwrap()
    }

    /// The files of a proxy: `acme`, which has an independent package and one that needs `helper`.
    fn proxy() -> BTreeMap<String, Vec<u8>> {
        let acme = "module a.example/acme\n\ngo 1.17\n\nrequire a.example/helper v1.0.0\n";
        let helper = "module a.example/helper\n\ngo 1.17\n";
        let more = "package more\nimport \"a.example/helper\"\n\
                    func Name() string { return \"more with \" + helper.Name }\n";
        let name = |version: &str| format!("package helper\nconst Name = \"{version}\"\n");
        let (older, newer) = (name("1.0.0"), name("1.1.0"));
        let modules = [
            (
                "a.example/acme",
                "v1.2.3",
                acme,
                vec![
                    ("acme.go", "package acme\nconst Name = \"acme\"\n"),
                    ("more/more.go", more),
                ],
            ),
            (
                "a.example/helper",
                "v1.0.0",
                helper,
                vec![("helper.go", &*older)],
            ),
            (
                "a.example/helper",
                "v1.1.0",
                helper,
                vec![("helper.go", &*newer)],
            ),
        ];
        let mut files = BTreeMap::<String, Vec<u8>>::new();
        for (module, version, manifest, mut content) in modules {
            content.push(("go.mod", manifest));
            let folder = format!("{module}/@v");
            let list = files.entry(format!("{folder}/list")).or_default();
            list.extend(format!("{version}\n").bytes());
            let info = format!("{{\"Version\":\"{version}\"}}");
            files.insert(format!("{folder}/{version}.info"), info.into());
            files.insert(format!("{folder}/{version}.mod"), manifest.into());
            files.insert(
                format!("{folder}/{version}.zip"),
                archive(module, version, &content),
            );
        }
        files
    }

    /// Uses a proxy as the user's configuration of Go names it. Returns the network to it.
    fn choose(files: BTreeMap<String, Vec<u8>>) -> Network {
        let port = site(|_| files);
        let proxies = format!("http://{HOST}:{port},direct");
        set_environment([("GOPROXY", &proxies), ("GOSUMDB", "off"), ("GOENV", "off")]);
        registries_at(HOST)
    }

    fn required<const N: usize>(list: [(&str, Version); N]) -> Requirements {
        let list = list.map(|(name, version)| Requirement::new(name, version));
        Requirements::new(Registry::Go, list.into()).unwrap()
    }

    fn exact(version: &str) -> Version {
        Version::Exact(version.to_owned())
    }

    fn least(version: &str) -> Version {
        Version::Range(version.to_owned())
    }

    /// Runs an app. Returns what it prints, or its errors.
    async fn ran(app: &AppPackages, sandbox: &Sandbox, folder: &Path) -> Result<String, String> {
        let variables = [
            ("GOCACHE", "/tmp/build"),
            ("GOPATH", "/tmp/go"),
            ("GO111MODULE", "auto"),
        ];
        support::ran(app, sandbox, folder, ["run", "."], variables).await
    }

    /// Writes an app that prints something of a package of a module, and of its own package.
    fn app(manifest: Option<&str>) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let main = "package main\nimport (\n\"fmt\"\n\"a.example/acme/more\"\n\"mine/own\"\n)\n\
                    func main() { fmt.Println(more.Name(), own.Name) }\n";
        fs::write(folder.path().join("main.go"), main).unwrap();
        fs::create_dir(folder.path().join("own")).unwrap();
        let own = "package own\nconst Name = \"and its own\"\n";
        fs::write(folder.path().join("own/own.go"), own).unwrap();
        if let Some(manifest) = manifest {
            fs::write(folder.path().join("go.mod"), manifest).unwrap();
        }
        folder
    }

    #[tokio::test]
    async fn an_app_is_built_from_the_modules_that_were_resolved() {
        let network = choose(proxy());
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().join("packages"));
        let sandbox = Sandbox::of(Tier::Bubblewrap).await.unwrap();
        let module = || Some("module mine\n".to_owned());

        // A package of a module, in a version; the app has no `go.mod`.
        let wanted = required([("a.example/acme/more", exact("v1.2.3"))]);
        let wanted = wanted.with_manifest(module());
        let resolved = store.resolve(wanted, &sandbox, &network).await.unwrap();
        assert_eq!(
            closure(&resolved),
            ["a.example/acme v1.2.3", "a.example/helper v1.0.0"]
        );
        let items = resolved.closure().iter();
        assert!(items.clone().all(|it| it.integrity.starts_with("h1:")));
        let older = store.install_resolved(resolved, &sandbox, &network);
        let older = older.await.unwrap();
        let bare = app(None);
        let printed = ran(&older, &sandbox, bare.path()).await.unwrap();
        assert_eq!(printed, "more with 1.0.0 and its own\n");
        assert!(!bare.path().join("go.mod").exists());
        let modules = &older.folders[Path::new("/modules")];
        for gone in ["home", "asking"] {
            assert!(!modules.join(gone).exists(), "{gone}");
        }

        // The app's own file names the least versions, and the newest of another module is wanted.
        let wanted = || {
            let list = [
                ("a.example/acme", least("v1.2.3")),
                ("a.example/helper", Version::Any),
            ];
            required(list).with_manifest(module())
        };
        let resolved = store.resolve(wanted(), &sandbox, &network).await.unwrap();
        assert_eq!(
            closure(&resolved),
            ["a.example/acme v1.2.3", "a.example/helper v1.1.0"]
        );
        let newer = store.install_resolved(resolved, &sandbox, &network);
        let newer = newer.await.unwrap();
        let declared = app(Some("module mine\n\nrequire a.example/acme v1.2.3\n"));
        let printed = ran(&newer, &sandbox, declared.path()).await.unwrap();
        assert_eq!(printed, "more with 1.1.0 and its own\n");

        // Another app with the same modules has another name.
        let other = wanted().with_manifest(Some("module other\n".to_owned()));
        let resolved = store.resolve(other, &sandbox, &network).await.unwrap();
        let other = store.install_resolved(resolved, &sandbox, &network);
        let errors = ran(&other.await.unwrap(), &sandbox, bare.path()).await;
        assert!(errors.unwrap_err().contains("mine/own"));

        // A changed manifest is not used.
        let modules = &newer.folders[Path::new("/modules")];
        fs::write(modules.join("go.sum"), "").unwrap();
        let resolved = store.resolve(wanted(), &sandbox, &network).await.unwrap();
        let refused = store.install_resolved(resolved, &sandbox, &network).await;
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("was changed since"), "{refused}");
    }

    #[tokio::test]
    async fn a_module_has_the_digest_of_the_lock_file() {
        let network = choose(proxy());
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().join("packages"));
        let sandbox = Sandbox::of(Tier::Bubblewrap).await.unwrap();
        let wanted = || required([("a.example/helper", least("v1.0.0"))]);
        let resolved = store.resolve(wanted(), &sandbox, &network).await.unwrap();
        let digest = resolved.closure()[0].integrity.clone();
        let line = |digest: &str| Some(format!("a.example/helper v1.0.0 {digest}\n"));
        let locked = wanted().with_lock(line(&digest));
        assert!(store.resolve(locked, &sandbox, &network).await.is_ok());
        let other = format!("h1:{}=", "a".repeat(43));
        let locked = wanted().with_lock(line(&other));
        let refused = store.resolve(locked, &sandbox, &network).await.unwrap_err();
        assert!(
            refused.to_string().contains("checksum mismatch"),
            "{refused}"
        );
    }

    #[tokio::test]
    async fn modules_come_from_proxies_alone() {
        let network = choose(proxy());
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().join("packages"));
        let sandbox = Sandbox::of(Tier::Bubblewrap).await.unwrap();
        let missing = required([("b.example/none", exact("v1.0.0"))]);
        let refused = store.resolve(missing, &sandbox, &network).await;
        let refused = refused.unwrap_err().to_string();
        assert!(
            refused.contains("go can't install `b.example/none@v1.0.0`"),
            "{refused}"
        );
        assert!(refused.contains("404"), "{refused}");
        set_environment([("GOPROXY", "direct")]);
        let helper = || required([("a.example/helper", Version::Any)]);
        let refused = store.resolve(helper(), &sandbox, &network).await;
        let refused = refused.unwrap_err().to_string();
        assert_eq!(refused, "Go's configuration names no module proxy");

        // A folder is a proxy, too.
        let files = tempfile::tempdir().unwrap();
        for (path, content) in proxy() {
            let path = files.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let url = format!("file://{}", files.path().display());
        set_environment([("GOPROXY", &*url)]);
        let resolved = store.resolve(helper(), &sandbox, &network).await.unwrap();
        assert_eq!(closure(&resolved), ["a.example/helper v1.1.0"]);
    }

    #[tokio::test]
    async fn a_module_that_needs_no_other_has_a_name() {
        let network = choose(proxy());
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().join("packages"));
        let sandbox = Sandbox::of(Tier::Bubblewrap).await.unwrap();
        let wanted = required([]).with_manifest(Some("module mine\n".to_owned()));
        let resolved = store.resolve(wanted, &sandbox, &network).await.unwrap();
        assert_eq!(resolved.closure(), []);
        let installed = store.install_resolved(resolved, &sandbox, &network);
        let installed = installed.await.unwrap();
        let app = app(None);
        let main = "package main\nimport \"mine/own\"\nfunc main() { print(own.Name) }\n";
        fs::write(app.path().join("main.go"), main).unwrap();
        let ran = ran(&installed, &sandbox, app.path()).await;
        assert_eq!(ran.as_deref(), Ok(""));
    }
}
