//! Redirects: followed between http and https as the policy allows, and refused to other schemes.

use crate::live::server::{APACHE, CA, CADDY, NGINX};
use crate::live::tree::HELLO;
use crate::live::work_dir::{WorkDir, fetch};

#[track_caller]
fn leads_to(name: &str, bytes: &str) {
    fetch(&[&NGINX.http(&format!("/redir/{name}"))]).gives(bytes);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn every_redirect_status_is_followed() {
    for status in ["301", "302", "303", "307", "308"] {
        leads_to(status, HELLO);
        let json = ["-I", "--format", "json"].map(str::to_owned);
        let url = NGINX.http(&format!("/redir/{status}"));
        let text = fetch(&[&json[0], &json[1], &json[2], &url]).exits(0).text();
        assert!(text.contains("\"hops\":1") && text.contains("/hello.txt\""), "{text}");
        fetch(&["--cacert", CA, &NGINX.https(&format!("/redir/{status}"))]).gives(HELLO);
    }
    fetch(&[&CADDY.http("/redir/302")]).gives(HELLO);
    fetch(&["--cacert", CA, &CADDY.https("/redir/302")]).gives(HELLO);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn every_form_of_location_is_resolved() {
    leads_to("relative", "path=pub/README\n");
    leads_to("fragment", HELLO);
    leads_to("network-path", HELLO);
    leads_to("spaces", "path=odd/with%20space/a%20file.txt\n");
    leads_to("to-http", HELLO);
    // It redirects to itself with another query: a loop from the second time on.
    fetch(&[&NGINX.http("/redir/query")]).exits(47).says("/redir/query?x=1");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn redirect_chain_beyond_the_limit_exits_47() {
    for count in 1..=9 {
        leads_to(&format!("chain/{count}"), HELLO);
    }
    let chain = NGINX.http("/redir/chain/4");
    fetch(&["--max-redirs", "4", &chain]).gives(HELLO);
    fetch(&["--max-redirs", "3", &chain]).exits(47).says("limit 3").writes("");
    fetch(&["--max-redirs", "0", &chain]).exits(47);
    fetch(&["--no-location", "-i", &chain]).exits(0).hides("error");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn redirect_loop_exits_47() {
    fetch(&[&NGINX.http("/redir/loop")]).exits(47).says("redirect loop").writes("");
    fetch(&["-I", &NGINX.http("/redir/loop")]).exits(47);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn invalid_location_exits_8() {
    fetch(&[&NGINX.http("/redir/bad")]).exits(8).says("not a URL").writes("");
    fetch(&[&NGINX.http("/redir/closed-port")]).exits(7).says("17001");
    fetch(&[&NGINX.http("/redir/no-such-redirect")]).exits(78);
}

/// RFC 9110 §15.4: the content is for the user.
#[test]
#[ignore = "needs the servers of docker/"]
fn redirect_without_location_is_an_answer() {
    fetch(&[&NGINX.http("/redir/empty")]).exits(0).says("where to").writes("no Location here\n");
}

/// No file is written and no server is contacted.
#[test]
#[ignore = "needs the servers of docker/"]
fn redirect_to_another_scheme_exits_90_without_a_file() {
    let dir = WorkDir::new();
    for scheme in ["data", "file", "ftp", "gopher", "mailto"] {
        let url = NGINX.http(&format!("/redir/to-{scheme}"));
        dir.fetch(&["-o", "here", &url]).exits(90).says(&format!("to {scheme} "));
    }
    for scheme in ["data", "file", "ftp", "gopher", "mailto"] {
        let url = NGINX.https(&format!("/redir/to-{scheme}"));
        dir.fetch(&["--cacert", CA, "-o", "here", &url]).exits(90).says(&format!("to {scheme} "));
    }
    dir.fetch(&["-o", "here", &CADDY.http("/redir/to-gopher")]).exits(90);
    dir.fetch(&["--cacert", CA, "-o", "here", &CADDY.https("/redir/to-gopher")]).exits(90);
    dir.assert_entries(&[]);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn redirect_from_https_to_http_exits_90() {
    fetch(&["--cacert", CA, &NGINX.http("/redir/to-https")]).gives(HELLO);
    fetch(&["--cacert", CA, &NGINX.https("/redir/to-https")]).gives(HELLO);
    fetch(&["--cacert", CA, &NGINX.https("/redir/to-http")]).exits(90).says("https to http").writes("");
    fetch(&["--cacert", CA, &NGINX.https("/redir/to-userinfo")]).exits(90).hides("secret");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn redirect_to_an_expired_certificate_exits_60() {
    fetch(&["--cacert", CA, &NGINX.http("/redir/to-expired")]).exits(60).says("17444").writes("");
}

/// `localhost` is another origin than `127.0.0.1`.
#[test]
#[ignore = "needs the servers of docker/"]
fn login_is_not_sent_to_another_origin() {
    let url = format!("http://alice:secret@{}/redir/other-origin", NGINX.authority());
    let seen = fetch(&[&url]).exits(0).text().to_ascii_lowercase();
    assert!(seen.contains("host: localhost:17080"), "{seen}");
    for field in ["authorization", "cookie", "referer"] {
        assert!(!seen.contains(field), "{field} in\n{seen}");
    }
    let url = format!("http://alice:secret@{}/headers", NGINX.authority());
    let seen = fetch(&[&url]).exits(0).text().to_ascii_lowercase();
    assert!(seen.contains("authorization: basic ywxpy2u6c2vjcmv0"), "{seen}");
}

/// After a redirect to another origin, a redirect back does not restore the login.
#[test]
#[ignore = "needs the servers of docker/"]
fn login_is_not_sent_after_a_redirect_back() {
    let url = format!("http://alice:secret@{}/redir/away", NGINX.authority());
    let seen = fetch(&[&url]).exits(0).text().to_ascii_lowercase();
    assert!(seen.starts_with("get /headers ") && seen.contains("host: 127.0.0.1:17080"), "{seen}");
    assert!(!seen.contains("authorization"), "{seen}");
}

/// A login in the Location is used for its target.
#[test]
#[ignore = "needs the servers of docker/"]
fn login_in_a_location_is_sent_to_its_target() {
    leads_to("to-userinfo", HELLO);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn remote_name_comes_from_the_first_url() {
    let dir = WorkDir::new();
    dir.fetch(&["-O", &NGINX.http("/redir/chain/2")]).gives("");
    dir.assert_entries(&["2"]);
    assert_eq!(dir.read("2"), HELLO.as_bytes());
    fetch(&["-r", "7-11", &NGINX.http("/redir/301")]).gives("world");
    let folder = APACHE.http("/pub");
    fetch(&["-v", &folder]).exits(0).says(&APACHE.http("/pub/"));
}
