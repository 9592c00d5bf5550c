//! `nntps:` and `snews:` with TLS from the first byte, and STARTTLS by `--ssl` or `--ssl-reqd`.

use crate::live::nntp_server::{INN, INN_TLS, SN};
use crate::live::program::RunResult;
use crate::live::server::CA;
use crate::live::work_dir::{WorkDir, fetch, key};

fn tls(path: &str) -> String {
    format!("nntps://{INN_TLS}/{path}")
}

fn plain(path: &str) -> String {
    format!("nntp://localhost:{}/{path}", INN.port())
}

#[track_caller]
fn trusting(arguments: &[&str]) -> RunResult {
    fetch(&[&["--cacert", CA, "--format", "raw"], arguments].concat())
}

/// Each URL form over TLS, also without a server in the URL.
#[test]
#[ignore = "needs the servers of docker/"]
fn every_url_form_over_tls_gives_its_object() {
    let article = INN.nth("ARTICLE", "fetch.test", 12);
    let range = INN.those("ARTICLE", "fetch.test", 100..=120).concat();
    let overview = INN.block(&["GROUP fetch.test", "OVER 1-9999"]);
    let groups = INN.block(&["LIST ACTIVE"]);
    for (url, expected) in [
        (tls("fetch.test/12"), &article),
        (tls("fetch.test/100-120"), &range),
        (tls("fetch.test"), &overview),
        (format!("snews://{INN_TLS}/*"), &groups),
        (format!("snews://{INN_TLS}/fetch.test"), &overview),
        (format!("snews://{INN_TLS}/plain-0012@test.invalid"), &article),
        ("snews:*".to_owned(), &groups),
        ("snews:fetch.test".to_owned(), &overview),
        ("snews:plain-0012@test.invalid".to_owned(), &article),
        ("nntps:fetch.test/12".to_owned(), &article),
        ("nntps:fetch.test/100-120".to_owned(), &range),
    ] {
        trusting(&["--news-server", INN_TLS, &url]).assert_success(expected);
    }
}

#[test]
#[ignore = "needs the servers of docker/"]
fn ip_address_in_the_certificate_is_accepted() {
    let url = tls("fetch.test/12").replace("localhost", "127.0.0.1");
    trusting(&[&url]).assert_success(INN.nth("ARTICLE", "fetch.test", 12));
}

#[test]
#[ignore = "needs the servers of docker/"]
fn each_tls_version_fetches_the_article() {
    let expected = INN.nth("ARTICLE", "fetch.test", 12);
    for options in [&["--tls-max", "1.2"][..], &["--tlsv1.3"], &["--tlsv1.2"]] {
        trusting(&[options, &[&tls("fetch.test/12")]].concat()).assert_success(&expected);
        trusting(&[options, &["--ssl-reqd", &plain("fetch.test/12")]].concat()).assert_success(&expected);
    }
}

#[test]
#[ignore = "needs the servers of docker/"]
fn article_of_10_mib_over_tls_is_unchanged() {
    let expected = INN.block(&["ARTICLE <huge@test.invalid>"]);
    let result = trusting(&["--ssl-reqd", &format!("news://localhost:{}/huge@test.invalid", INN.port())])
        .assert_exit(0);
    assert!(result.out == expected, "{} octets instead of {}", result.out.len(), expected.len());
    let result = trusting(&[&format!("snews://{INN_TLS}/huge@test.invalid")]).assert_exit(0);
    assert!(result.out == expected, "{} octets instead of {}", result.out.len(), expected.len());
}

/// The name of a group is confidential: it is not sent before the certificate was verified.
#[test]
#[ignore = "needs the servers of docker/"]
fn untrusted_certificate_exits_60_without_a_command() {
    let (group, watch) = (key(), INN.watch());
    let dir = WorkDir::new();
    let wrong = |url: String| url.replace("localhost", "wrong.example");
    let to_here = ["17563", "17119"].map(|port| format!("wrong.example:{port}:127.0.0.1"));
    for url in [tls(&group), plain(&group)] {
        let own = ["--ssl-reqd", "-o", "here"];
        dir.fetch(&[&own[..], &[&url]].concat()).assert_exit(60);
        let resolve = ["--cacert", CA, "--resolve", &to_here[0], "--resolve", &to_here[1]];
        dir.fetch(&[&own[..], &resolve, &[&wrong(url)]].concat())
            .assert_exit(60)
            .assert_stderr_contains("wrong.example");
    }
    dir.assert_entries(&[]);
    let later = key();
    INN.reply(&[&format!("GROUP {later}")]);
    watch.commands_for(&later);
    assert_eq!(watch.sessions(&group), 0);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn insecure_option_accepts_an_untrusted_certificate() {
    let expected = INN.nth("ARTICLE", "fetch.test", 12);
    fetch(&["-k", &tls("fetch.test/12")]).assert_success(&expected);
    fetch(&["-k", "--ssl-reqd", &plain("fetch.test/12")]).assert_success(&expected);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn ssl_options_send_starttls_before_group() {
    let expected = INN.nth("ARTICLE", "fetch.test", 12);
    for option in ["--ssl", "--ssl-reqd"] {
        let result =
            trusting(&["-v", option, &plain("fetch.test/12")]).assert_exit(0).assert_stdout(&expected);
        let at = |line: &str| result.err.find(line).unwrap_or_else(|| panic!("no {line}: {}", result.err));
        assert!(at("> STARTTLS") < at("< 382 ") && at("< 382 ") < at("> GROUP"), "{}", result.err);
        assert_eq!(result.err.matches("< 382 ").count(), 1, "{}", result.err);
    }
    let overview = INN.block(&["GROUP fetch.test", "OVER 1-9999"]);
    trusting(&["--ssl-reqd", &plain("fetch.test")]).assert_success(overview);
    // By default STARTTLS is not sent.
    let result = fetch(&["-v", &plain("fetch.test/12")]).assert_exit(0).assert_stdout(&expected);
    result.assert_stderr_omits("STARTTLS");
}

/// A server without TLS: `--ssl` continues in plaintext, `--ssl-reqd` fails.
#[test]
#[ignore = "needs the servers of docker/"]
fn server_without_tls_exits_35_with_ssl_reqd() {
    let (group, watch) = (key(), SN.watch());
    fetch(&["--ssl", &SN.nth_url("fetch.test", 12)]).assert_success(SN.nth("ARTICLE", "fetch.test", 12));
    let dir = WorkDir::new();
    let result = dir.fetch(&["-v", "--ssl-reqd", "-o", "here", &SN.url(&group)]).assert_exit(35);
    result
        .assert_stderr_contains(&format!("({})", SN.reply(&["STARTTLS"]).line))
        .assert_stderr_omits("> GROUP");
    let tls_at_a_plain_port = SN.nth_url("fetch.test", 12).replace("nntp:", "nntps:");
    let result = dir.fetch(&["-k", "--connect-timeout", "3", "-m", "5", "-o", "here", &tls_at_a_plain_port]);
    assert!([28, 35].contains(&result.exit), "{} {}", result.exit, result.err);
    dir.assert_entries(&[]);
    let later = key();
    SN.reply(&[&format!("GROUP {later}")]);
    watch.commands_for(&later);
    assert_eq!(watch.sessions(&group), 0);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn missing_article_over_tls_exits_78() {
    for path in ["fetch.no-such-group", "fetch.test/9000"] {
        trusting(&[&tls(path)]).assert_exit(78).assert_stdout("").assert_stderr_contains("not found");
        trusting(&["--ssl-reqd", &plain(path)])
            .assert_exit(78)
            .assert_stdout("")
            .assert_stderr_contains("not found");
    }
}
