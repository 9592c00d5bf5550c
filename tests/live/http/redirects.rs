//! Redirects: followed between http and https as the policy allows, and refused to other schemes.

use crate::live::server::{APACHE, CA, CADDY, NGINX};
use crate::live::tree::HELLO;
use crate::live::work_dir::{WorkDir, fetch};

#[track_caller]
fn assert_redirects_to(name: &str, bytes: &str) {
    fetch(&[&NGINX.http(&format!("/redir/{name}"))]).assert_success(bytes);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn every_redirect_status_is_followed() {
    for status in ["301", "302", "303", "307", "308"] {
        assert_redirects_to(status, HELLO);
        let json = ["-I", "--format", "json"].map(str::to_owned);
        let url = NGINX.http(&format!("/redir/{status}"));
        let text = fetch(&[&json[0], &json[1], &json[2], &url]).assert_exit(0).text();
        assert!(text.contains("\"hops\":1") && text.contains("/hello.txt\""), "{text}");
        fetch(&["--cacert", CA, &NGINX.https(&format!("/redir/{status}"))]).assert_success(HELLO);
    }
    fetch(&[&CADDY.http("/redir/302")]).assert_success(HELLO);
    fetch(&["--cacert", CA, &CADDY.https("/redir/302")]).assert_success(HELLO);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn every_form_of_location_is_resolved() {
    assert_redirects_to("relative", "path=pub/README\n");
    assert_redirects_to("fragment", HELLO);
    assert_redirects_to("network-path", HELLO);
    assert_redirects_to("spaces", "path=odd/with%20space/a%20file.txt\n");
    assert_redirects_to("to-http", HELLO);
    // It redirects to itself with another query: a loop from the second time on.
    fetch(&[&NGINX.http("/redir/query")]).assert_exit(47).assert_stderr_contains("/redir/query?x=1");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn redirect_chain_beyond_the_limit_exits_47() {
    for count in 1..=9 {
        assert_redirects_to(&format!("chain/{count}"), HELLO);
    }
    let chain = NGINX.http("/redir/chain/4");
    fetch(&["--max-redirs", "4", &chain]).assert_success(HELLO);
    fetch(&["--max-redirs", "3", &chain])
        .assert_exit(47)
        .assert_stderr_contains("more than 3")
        .assert_stdout("");
    fetch(&["--max-redirs", "0", &chain]).assert_exit(47);
    fetch(&["--no-location", "-i", &chain]).assert_exit(0).assert_stderr_omits("error");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn redirect_loop_exits_47() {
    fetch(&[&NGINX.http("/redir/loop")])
        .assert_exit(47)
        .assert_stderr_contains("redirect loop")
        .assert_stdout("");
    fetch(&["-I", &NGINX.http("/redir/loop")]).assert_exit(47);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn invalid_location_exits_8() {
    fetch(&[&NGINX.http("/redir/bad")]).assert_exit(8).assert_stderr_contains("not a URL").assert_stdout("");
    fetch(&[&NGINX.http("/redir/closed-port")]).assert_exit(7).assert_stderr_contains("17001");
    fetch(&[&NGINX.http("/redir/no-such-redirect")]).assert_exit(78);
}

/// RFC 9110 §15.4: the content is for the user.
#[test]
#[ignore = "needs the servers of docker/"]
fn redirect_without_location_delivers_its_body() {
    fetch(&[&NGINX.http("/redir/empty")])
        .assert_exit(0)
        .assert_stderr_contains("a redirect without a Location")
        .assert_stdout("no Location here\n");
}

/// No file is written and no server is contacted.
#[test]
#[ignore = "needs the servers of docker/"]
fn redirect_to_another_scheme_exits_90_without_a_file() {
    let dir = WorkDir::new();
    for scheme in ["data", "file", "ftp", "gopher", "mailto"] {
        let url = NGINX.http(&format!("/redir/to-{scheme}"));
        dir.fetch(&["-o", "here", &url]).assert_exit(90).assert_stderr_contains(&format!("to {scheme} "));
    }
    for scheme in ["data", "file", "ftp", "gopher", "mailto"] {
        let url = NGINX.https(&format!("/redir/to-{scheme}"));
        dir.fetch(&["--cacert", CA, "-o", "here", &url])
            .assert_exit(90)
            .assert_stderr_contains(&format!("to {scheme} "));
    }
    dir.fetch(&["-o", "here", &CADDY.http("/redir/to-gopher")]).assert_exit(90);
    dir.fetch(&["--cacert", CA, "-o", "here", &CADDY.https("/redir/to-gopher")]).assert_exit(90);
    dir.assert_entries(&[]);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn redirect_from_https_to_http_exits_90() {
    fetch(&["--cacert", CA, &NGINX.http("/redir/to-https")]).assert_success(HELLO);
    fetch(&["--cacert", CA, &NGINX.https("/redir/to-https")]).assert_success(HELLO);
    fetch(&["--cacert", CA, &NGINX.https("/redir/to-http")])
        .assert_exit(90)
        .assert_stderr_contains("https to http")
        .assert_stdout("");
    fetch(&["--cacert", CA, &NGINX.https("/redir/to-userinfo")])
        .assert_exit(90)
        .assert_stderr_omits("secret");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn redirect_to_an_expired_certificate_exits_60() {
    fetch(&["--cacert", CA, &NGINX.http("/redir/to-expired")])
        .assert_exit(60)
        .assert_stderr_contains("17444")
        .assert_stdout("");
}

/// `localhost` is another origin than `127.0.0.1`.
#[test]
#[ignore = "needs the servers of docker/"]
fn login_is_not_sent_to_another_origin() {
    let url = format!("http://alice:secret@{}/redir/other-origin", NGINX.authority());
    let received = fetch(&[&url]).assert_exit(0).text().to_ascii_lowercase();
    assert!(received.contains("host: localhost:17080"), "{received}");
    for field in ["authorization", "cookie", "referer"] {
        assert!(!received.contains(field), "{field} in\n{received}");
    }
    let url = format!("http://alice:secret@{}/headers", NGINX.authority());
    let received = fetch(&[&url]).assert_exit(0).text().to_ascii_lowercase();
    assert!(received.contains("authorization: basic ywxpy2u6c2vjcmv0"), "{received}");
}

/// After a redirect to another origin, a redirect back does not restore the login.
#[test]
#[ignore = "needs the servers of docker/"]
fn login_is_not_sent_after_a_redirect_back() {
    let url = format!("http://alice:secret@{}/redir/away", NGINX.authority());
    let received = fetch(&[&url]).assert_exit(0).text().to_ascii_lowercase();
    assert!(
        received.starts_with("get /headers ") && received.contains("host: 127.0.0.1:17080"),
        "{received}"
    );
    assert!(!received.contains("authorization"), "{received}");
}

/// A login in the Location is used for its target.
#[test]
#[ignore = "needs the servers of docker/"]
fn login_in_a_location_is_sent_to_its_target() {
    assert_redirects_to("to-userinfo", HELLO);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn remote_name_comes_from_the_first_url() {
    let dir = WorkDir::new();
    dir.fetch(&["-O", &NGINX.http("/redir/chain/2")]).assert_success("");
    dir.assert_entries(&["2"]);
    assert_eq!(dir.read("2"), HELLO.as_bytes());
    fetch(&["-r", "7-11", &NGINX.http("/redir/301")]).assert_success("world");
    let folder = APACHE.http("/pub");
    fetch(&["-v", &folder]).assert_exit(0).assert_stderr_contains(&APACHE.http("/pub/"));
}
