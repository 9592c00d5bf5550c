//! Logins to the NATS server, TLS, and secrets that must not be shown.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use fetch_url_tests::{CertFiles, HttpResponse, ServerCert};
use nkeys::KeyPair;

use super::nats::{NatsServer, wait_for};
use super::{Running, Site, content};
use crate::support::RunResult;

/// A site whose NATS server needs a login.
struct Guarded {
    site: Site,
    /// The options of the login.
    options: Vec<String>,
    /// The texts that must not be printed.
    secrets: Vec<String>,
}

impl Guarded {
    fn start(config: &str, options: &[&str], secrets: &[&str]) -> Option<Self> {
        let nats = NatsServer::start_with(&format!("jetstream {{}}\n{config}"))?;
        let site = Site::on(nats, |path| HttpResponse::new(200).body(content(path)));
        let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        Some(Self { site, options: texts(options), secrets: texts(secrets) })
    }

    /// Writes a file that other users cannot read.
    fn write_secret(&self, name: &str, text: &str) {
        let path = self.site.directory.path().join(name);
        fs::write(&path, text).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("set");
    }

    fn options(&self) -> Vec<&str> {
        self.options.iter().map(String::as_str).collect()
    }

    fn run(&self, arguments: &[&str]) -> RunResult {
        let result = self.site.run(&[arguments, &self.options()].concat());
        self.check_output(&result);
        result
    }

    fn check_output(&self, result: &RunResult) {
        for secret in &self.secrets {
            assert!(!result.stderr.contains(secret), "{secret} is printed: {}", result.stderr);
            assert!(!result.stdout_text().contains(secret), "{secret} is printed: {}", result.stdout_text());
        }
    }

    /// Runs every sub-command with the login. The workers print as much as they can, and write a trace.
    fn check_all_verbs(&self) {
        let list = self.site.list(&["a", "b"]);
        let queue = self.site.queue();
        self.run(&["add", &queue, "--input-file", list.to_str().expect("a path")]).assert_exit(0);
        let options = [&["-vvv", "--trace", "trace", "--events", "events"][..], &self.options()].concat();
        let worked = self.site.work(&options);
        worked.assert_exit(0);
        self.check_output(&worked);
        for log in ["trace", "events"] {
            let log = fs::read_to_string(self.site.directory.path().join(log)).expect("a log");
            assert!(!self.secrets.iter().any(|secret| log.contains(secret)), "{log}");
        }
        self.site.check_files(&["a", "b"]);
        let status = self.run(&["status", &queue]);
        assert!(
            status.assert_exit(0).text().starts_with("waiting 0  in flight 0  done 2"),
            "{}",
            status.text()
        );
        self.check_process_list();
        for verb in ["failed", "drop"] {
            self.run(&[verb, &queue]).assert_exit(0);
        }
    }

    /// Checks what other users see of a running worker.
    fn check_process_list(&self) {
        let worker = self.site.spawn_worker(&[&["--wait"][..], &self.options()].concat());
        let status = || self.run(&["status", &self.site.queue()]).text();
        wait_for(|| status().contains(&format!(":{}: ", worker.0.id())).then_some(()));
        check_command_line(&worker, &self.secrets);
    }

    /// Checks that another login is refused with this exit status and message.
    fn check_refused(&self, exit: i32, message: &str) {
        let queue = self.site.queue();
        for arguments in
            [&["status", &queue][..], &["drop", &queue], &["work", &queue, "--output-dir", "out", "-vvv"]]
        {
            let result = self.run(arguments);
            assert_eq!(result.exit, exit, "{arguments:?}: {}", result.stderr);
            assert!(result.stderr.contains(message), "{arguments:?}: {}", result.stderr);
        }
    }
}

/// Checks the command line that the system shows of a process.
fn check_command_line(worker: &Running, secrets: &[String]) {
    let Ok(line) = fs::read(Path::new("/proc").join(worker.0.id().to_string()).join("cmdline")) else {
        return;
    };
    let line = String::from_utf8_lossy(&line).into_owned();
    assert!(line.contains("work") && !secrets.iter().any(|secret| line.contains(secret)), "{line}");
}

#[test]
fn token_logs_in_and_a_wrong_one_is_refused_without_being_printed() {
    let config = "authorization { token: \"t0ken-s3cret\" }\n";
    let secrets = ["t0ken-s3cret", "an0ther-t0ken"];
    let Some(guarded) = Guarded::start(config, &["--nats-token-file", "token"], &secrets) else { return };
    guarded.write_secret("token", "t0ken-s3cret\n");
    guarded.check_all_verbs();
    guarded.write_secret("token", "an0ther-t0ken\n");
    guarded.check_refused(67, "the NATS server refuses the login");
    let without = guarded.site.run(&["status", &guarded.site.queue()]);
    without.assert_exit(67).assert_stderr_contains("the NATS server refuses the login");
}

#[test]
fn user_and_password_log_in_and_a_wrong_password_is_refused_without_being_printed() {
    let config = "authorization { users: [ { user: me, password: \"p4ss-s3cret\" } ] }\n";
    let options = ["--nats-user", "me", "--nats-password-file", "password"];
    let secrets = ["p4ss-s3cret", "wr0ng-pass"];
    let Some(guarded) = Guarded::start(config, &options, &secrets) else { return };
    guarded.write_secret("password", "p4ss-s3cret\n");
    guarded.check_all_verbs();
    guarded.write_secret("password", "wr0ng-pass\n");
    guarded.check_refused(67, "the NATS server refuses the login");
}

#[test]
fn user_of_the_address_logs_in_with_the_password_file() {
    let config = "authorization { users: [ { user: me, password: \"p4ss-s3cret\" } ] }\n";
    let Some(guarded) = Guarded::start(config, &["--nats-password-file", "password"], &["p4ss-s3cret"])
    else {
        return;
    };
    guarded.write_secret("password", "p4ss-s3cret\n");
    let list = guarded.site.list(&["a"]);
    let queue = guarded.site.queue().replace("nats://", "nats://me@");
    guarded.run(&["add", &queue, "--input-file", list.to_str().expect("a path")]).assert_exit(0);
    guarded.run(&["status", &queue]).assert_exit(0);
}

/// The keys of an operator, its accounts and a user, and what they have signed.
struct SignedLogin {
    /// The configuration of the server.
    config: String,
    jwt: String,
    seed: String,
}

impl SignedLogin {
    fn new() -> Self {
        let operator = KeyPair::new_operator();
        let (system, account, user) = (KeyPair::new_account(), KeyPair::new_account(), KeyPair::new_user());
        let unlimited = r#""subs":-1,"conn":-1,"leaf":-1,"imports":-1,"exports":-1,"data":-1,"payload":-1,"wildcards":true"#;
        let storage = r#""mem_storage":-1,"disk_storage":-1,"streams":-1,"consumer":-1"#;
        let operator_jwt = sign(&operator, &operator, r#"{"type":"operator","version":2}"#);
        let account_jwt = |key: &KeyPair, limits: &str| {
            sign(&operator, key, &format!(r#"{{"limits":{{{limits}}},"type":"account","version":2}}"#))
        };
        let system_jwt = account_jwt(&system, unlimited);
        let accounts = account_jwt(&account, &format!("{unlimited},{storage}"));
        let config = format!(
            "operator: {operator_jwt}\nsystem_account: {}\nresolver: MEMORY\nresolver_preload: {{ {}: {system_jwt}, {}: {accounts} }}\n",
            system.public_key(),
            system.public_key(),
            account.public_key(),
        );
        let permissions = r#"{"pub":{},"sub":{},"subs":-1,"data":-1,"payload":-1,"type":"user","version":2}"#;
        let jwt = sign(&account, &user, permissions);
        Self { config, jwt, seed: user.seed().expect("a seed") }
    }

    fn credentials(jwt: &str, seed: &str) -> String {
        format!(
            "-----BEGIN NATS USER JWT-----\n{jwt}\n------END NATS USER JWT------\n\n\
             -----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
        )
    }
}

/// Returns a JWT about `subject`, signed by `issuer`.
fn sign(issuer: &KeyPair, subject: &KeyPair, claims: &str) -> String {
    let body = format!(
        r#"{{"jti":"{subject}","iat":1600000000,"iss":"{}","name":"{subject}","sub":"{subject}","nats":{claims}}}"#,
        issuer.public_key(),
        subject = subject.public_key(),
    );
    let header = URL_SAFE_NO_PAD.encode(r#"{"typ":"JWT","alg":"ed25519-nkey"}"#);
    let text = format!("{header}.{}", URL_SAFE_NO_PAD.encode(body));
    let signature = issuer.sign(text.as_bytes()).expect("signed");
    format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))
}

#[test]
fn credentials_file_logs_in_and_the_seed_of_another_user_is_refused_without_being_printed() {
    let login = SignedLogin::new();
    let other = KeyPair::new_user().seed().expect("a seed");
    let options = ["--nats-creds", "user.creds"];
    let secrets = [login.seed.as_str(), login.jwt.as_str(), other.as_str()];
    let Some(guarded) = Guarded::start(&login.config, &options, &secrets) else { return };
    guarded.write_secret("user.creds", &SignedLogin::credentials(&login.jwt, &login.seed));
    guarded.check_all_verbs();
    guarded.write_secret("user.creds", &SignedLogin::credentials(&login.jwt, &other));
    guarded.check_refused(67, "the NATS server refuses the login");
    guarded.write_secret("user.creds", &other);
    guarded.check_refused(2, "no JWT and seed");
}

fn path(path: &Path) -> String {
    path.display().to_string()
}

/// Returns the configuration of a server that wants certificates of clients.
fn tls_config(server: &CertFiles, clients: &CertFiles) -> String {
    format!(
        "tls {{ cert_file: \"{}\", key_file: \"{}\", ca_file: \"{}\", verify: true }}\n",
        path(&server.cert),
        path(&server.key),
        path(&clients.ca)
    )
}

fn files(cert: &ServerCert) -> CertFiles {
    cert.write_files().expect("the files of a certificate")
}

#[test]
fn tls_with_client_certificate_is_used_and_wrong_certificates_are_refused() {
    let cert = ServerCert::good().expect("a certificate");
    let client = ServerCert::client_only().expect("a certificate");
    let (server, own) = (files(&cert), files(&client));
    let tls = |authority: &Path, identity: &CertFiles| {
        let (cert, key) = (path(&identity.cert), path(&identity.key));
        ["--nats-cacert", &path(authority), "--nats-cert", &cert, "--nats-key", &key].map(str::to_owned)
    };
    let key_lines: Vec<&str> = client.key_pem().lines().filter(|line| !line.starts_with('-')).collect();
    let Some(mut guarded) = Guarded::start(&tls_config(&server, &own), &[], &key_lines) else { return };
    guarded.options = tls(&server.ca, &own).to_vec();
    guarded.check_all_verbs();
    let queue = guarded.site.queue().replace("nats://", "tls://");
    guarded.run(&["status", &queue]).assert_exit(78).assert_stderr_contains("there is no queue");

    // The server is of an authority that is not trusted.
    let stranger = files(&ServerCert::client_only().expect("a certificate"));
    guarded.options = tls(&stranger.ca, &own).to_vec();
    guarded.check_refused(60, "certificate");
    // The client is of an authority that the server does not trust, and has none.
    guarded.options = tls(&server.ca, &stranger).to_vec();
    guarded.check_refused(35, "refuses the client certificate");
    guarded.options = vec!["--nats-cacert".to_owned(), path(&server.ca)];
    guarded.check_refused(35, "refuses the client certificate");
}

#[test]
fn server_without_tls_is_refused_if_the_address_requires_it() {
    let Some(nats) = NatsServer::start() else { return };
    let queue = nats.queue("corpus").replace("nats://", "tls://");
    let directory = tempfile::tempdir().expect("a directory");
    let result = super::run_queue(directory.path(), &["status", &queue]);
    result.assert_exit(35).assert_stderr_contains("does not answer with TLS");
}

/// Accepts a connection as a NATS server without TLS does. Returns what the client sends.
fn receive_without_tls(listener: &std::net::TcpListener) -> Vec<u8> {
    use std::io::{Read as _, Write as _};
    let (mut client, _) = listener.accept().expect("a client");
    let info = r#"{"server_id":"x","version":"2.9.10","max_payload":1048576,"proto":1,"headers":true,"jetstream":true,"host":"127.0.0.1","port":1}"#;
    client.write_all(format!("INFO {info}\r\n").as_bytes()).expect("sent");
    let mut buffer = vec![0; 4096];
    // A client without TLS sends its login at once, and one with TLS waits for an answer.
    client.set_read_timeout(Some(std::time::Duration::from_secs(20))).expect("a timeout");
    let count = client.read(&mut buffer).expect("received");
    client.write_all(b"-ERR 'Unknown Protocol Operation'\r\n").expect("sent");
    buffer.truncate(count);
    buffer
}

#[test]
fn password_is_not_sent_without_tls_if_a_certificate_is_given() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let queue = format!("nats://me@{}/corpus", listener.local_addr().expect("an address"));
    let directory = tempfile::tempdir().expect("a directory");
    let password = directory.path().join("password");
    fs::write(&password, "p4ss-s3cret\n").expect("written");
    fs::set_permissions(&password, fs::Permissions::from_mode(0o600)).expect("set");
    let certificates = files(&ServerCert::good().expect("a certificate"));
    let authority = path(&certificates.ca);
    let server = std::thread::spawn(move || receive_without_tls(&listener));
    let options = ["status", &queue, "--nats-password-file", "password", "--nats-cacert", &authority];
    super::run_queue(directory.path(), &options).assert_exit(35);
    let received = server.join().expect("ended");
    // The client begins with a TLS handshake.
    assert_eq!(received.first(), Some(&22), "{}", String::from_utf8_lossy(&received));
}

#[test]
fn tls_file_that_is_missing_or_malformed_is_named() {
    let directory = tempfile::tempdir().expect("a directory");
    let (one, other) = (ServerCert::client_only(), ServerCert::client_only());
    let (one, other) = (files(&one.expect("a certificate")), files(&other.expect("a certificate")));
    fs::write(directory.path().join("junk"), "junk").expect("written");
    let (cert, key, other_key) = (path(&one.cert), path(&one.key), path(&other.key));
    for (options, name) in [
        (["--nats-cacert", "missing"].as_slice(), "missing: "),
        (&["--nats-cacert", "junk"], "junk: "),
        (&["--nats-cert", "junk", "--nats-key", &key], "junk: "),
        (&["--nats-cert", &cert, "--nats-key", "missing"], "missing: "),
        (&["--nats-cert", &cert, "--nats-key", "junk"], "junk: "),
        (&["--nats-cert", &cert, "--nats-key", &other_key], &format!("{other_key}: ")),
    ] {
        // Nothing listens at this port.
        let result =
            super::run_queue(directory.path(), &[&["status", "nats://127.0.0.1:1/c"], options].concat());
        result.assert_exit(2).assert_stderr_contains(name);
    }
}

#[test]
fn worker_whose_password_was_changed_ends_with_auth_needed() {
    let config = |password: &str| {
        format!("jetstream {{}}\nauthorization {{ users: [ {{ user: me, password: \"{password}\" }} ] }}\n")
    };
    let options = ["--nats-user", "me", "--nats-password-file", "password"];
    let Some(nats) = NatsServer::start_with(&config("p4ss-s3cret")) else { return };
    let site = Site::on(nats, |path| HttpResponse::new(200).body(content(path)));
    let mut guarded = Guarded { site, options: Vec::new(), secrets: vec!["p4ss-s3cret".to_owned()] };
    guarded.options = options.map(str::to_owned).to_vec();
    guarded.write_secret("password", "p4ss-s3cret\n");
    let (list, queue) = (guarded.site.list(&["a"]), guarded.site.queue());
    guarded.run(&["add", &queue, "--input-file", list.to_str().expect("a path")]).assert_exit(0);
    let errors = fs::File::create(guarded.site.directory.path().join("errors")).expect("created");
    let mut worker = guarded.site.worker(&[&["--wait"][..], &options].concat());
    let mut worker = Running(worker.stderr(errors).spawn().expect("it starts"));
    wait_for(|| guarded.site.out().join("a").exists().then_some(()));
    guarded.site.nats.stop();
    guarded.site.nats.write_config(&config("an0ther"));
    guarded.site.nats.start_again();
    assert_eq!(worker.wait(), Some(67));
    let errors = fs::read_to_string(guarded.site.directory.path().join("errors")).expect("text");
    assert!(errors.contains("refuses the login") && !errors.contains("p4ss-s3cret"), "{errors}");
}
