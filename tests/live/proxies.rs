//! Real servers behind real proxies: microsocks (SOCKS 5), tinyproxy and squid (HTTP). The proxies resolve the names of
//! the services of `docker/`, which nothing else does, so a direct connection or a host lookup here would fail.

use std::process::Command;

use super::server::CA;
use super::tree::{HELLO, range};
use super::work_dir::{WorkDir, fetch};

const SOCKS: &str = "socks5h://127.0.0.1:17180";
const SOCKS_WITH_LOGIN: &str = "socks5h://127.0.0.1:17181";
const TINYPROXY: &str = "http://127.0.0.1:17182";
const SQUID: &str = "http://127.0.0.1:17183";

/// The options of each tunnel.
const TUNNELS: [&[&str]; 3] = [&["-x", SOCKS], &["-p", "-x", TINYPROXY], &["-p", "-x", SQUID]];

/// Runs fetch-url through each tunnel.
#[track_caller]
fn check_through_each_tunnel(arguments: &[&str], expected: impl AsRef<[u8]>) {
    for tunnel in TUNNELS {
        let result = fetch(&[tunnel, &["--cacert", CA], arguments].concat());
        assert_eq!(result.exit, 0, "{tunnel:?} {arguments:?}: {}", result.err);
        result.assert_success(expected.as_ref());
    }
}

#[test]
#[ignore = "needs the servers of docker/"]
fn ftp_is_fetched_through_each_tunnel() {
    check_through_each_tunnel(&["ftp://vsftpd:17121/range.txt"], range());
    check_through_each_tunnel(&["-u", "alice:secret", "ftp://vsftpd:17121/tree/range.txt"], range());
    check_through_each_tunnel(&["--disable-epsv", "ftp://vsftpd:17121/hello.txt"], HELLO);
}

/// vsftpd requires that the data connection resumes the TLS session of the control connection. The certificates are for
/// localhost, so the name of the service is not trusted.
#[test]
#[ignore = "needs the servers of docker/"]
fn tls_inside_a_tunnel_checks_the_name_of_the_server() {
    check_through_each_tunnel(&["-k", "--ssl-reqd", "ftp://vsftpd:17121/range.txt"], range());
    check_through_each_tunnel(&["-k", "https://nginx:17443/range.txt"], range());
    for tunnel in TUNNELS {
        for url in ["gophers://gophernicus:17170/0/about.txt", "https://nginx:17443/hello.txt"] {
            fetch(&[tunnel, &["--cacert", CA, url]].concat()).assert_exit(60).assert_stdout("");
        }
        let options: &[&str] = &["--cacert", CA, "--ssl-reqd", "ftp://vsftpd:17121/hello.txt"];
        fetch(&[tunnel, options].concat()).assert_exit(60).assert_stdout("");
    }
}

#[test]
#[ignore = "needs the servers of docker/"]
fn gopher_and_http_are_fetched_through_each_tunnel() {
    check_through_each_tunnel(&["http://nginx:17080/range.txt"], range());
    // gophernicus sends texts with CR LF, and no line of one dot, which is a note.
    check_through_each_tunnel(&["-s", "gopher://gophernicus:17070/0/hello.txt"], "Hello, world\r\n");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn interrupted_download_is_resumed_through_each_tunnel() {
    for tunnel in TUNNELS {
        let dir = WorkDir::new();
        let url = "ftp://vsftpd:17121/range.txt";
        dir.fetch(&[tunnel, &["-r", "100-199", "-o", "part", url]].concat()).assert_exit(0);
        assert_eq!(dir.read("part"), &range()[100..200], "{tunnel:?}");
    }
}

#[test]
#[ignore = "needs the servers of docker/"]
fn login_of_the_socks_proxy_is_required_and_hidden() {
    let url = "ftp://vsftpd:17121/hello.txt";
    fetch(&["-x", SOCKS_WITH_LOGIN, "-U", "alice:secret", url]).assert_success(HELLO);
    for login in [&[][..], &["-U", "alice:wrong-secret"]] {
        let result = fetch(&[&["-v", "-x", SOCKS_WITH_LOGIN], login, &[url]].concat());
        let result = result.assert_exit(67).assert_stdout("");
        assert!(!result.err.contains("wrong-secret"), "{}", result.err);
    }
}

#[test]
#[ignore = "needs the servers of docker/"]
fn squid_fetches_ftp_urls_itself() {
    // Without the typecode that fetch-url adds, squid would change the line ends of a text.
    fetch(&["-x", SQUID, "ftp://vsftpd:17121/range.txt"]).assert_success(range());
    fetch(&["-x", SQUID, "ftp://alice:secret@vsftpd:17121/tree/range.txt"]).assert_success(range());
    fetch(&["-x", SQUID, "ftp://vsftpd:17121/missing.txt"]).assert_exit(78).assert_stdout("");
    // A directory is what the proxy makes of it: an HTML page.
    let page = fetch(&["-x", SQUID, "ftp://vsftpd:17121/"]).assert_exit(0).text();
    assert!(page.contains("hello.txt") && page.to_ascii_lowercase().contains("<html"), "{page}");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn server_that_the_proxy_cannot_reach_is_an_error() {
    for tunnel in TUNNELS {
        for url in ["gopher://gophernicus:17001/0/a", "ftp://no-such-service:2121/a"] {
            let result = fetch(&[tunnel, &[url]].concat()).assert_stdout("");
            assert!([7, 92].contains(&result.exit), "{tunnel:?} {url}: {} {}", result.exit, result.err);
        }
    }
}

/// curl, where it is installed, gets the same file with the same options.
#[test]
#[ignore = "needs the servers of docker/"]
fn curl_gets_the_same_file_with_the_same_options() {
    for tunnel in TUNNELS {
        let mut command = Command::new("curl");
        command.args(["-sS", "--max-time", "20"]).args(tunnel).arg("ftp://vsftpd:17121/range.txt");
        let Ok(output) = command.output() else { return };
        assert_eq!(output.stdout, range(), "{tunnel:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
