//! ASCII and image transfers: line ends are converted only in ASCII transfers.

use crate::live::ftp_server::{FtpServer, PROFTPD, VSFTPD, each_ftp_server};
use crate::live::tree::files;
use crate::live::work_dir::{WorkDir, fetch};

each_ftp_server![
    ascii_transfer_converts_line_ends_to_lf,
    ascii_transfer_keeps_carriage_returns_of_the_file,
    image_transfer_is_unchanged,
    unknown_typecode_exits_3,
    ascii_range_exits_33,
    ascii_transfer_fails_require_complete,
];

fn file(name: &str) -> Vec<u8> {
    files().into_iter().find(|(path, _)| *path == name).expect("a file of the tree").1
}

fn ascii_transfer_converts_line_ends_to_lf(server: FtpServer) {
    for path in ["/lf.txt", "/hello.txt", "/empty.bin", "/all-bytes.bin", "/latin1.txt"] {
        // LF is the only byte that ends a line, also in a file of all byte values.
        fetch(&[&server.url(&format!("{path};type=a"))]).assert_success(file(path));
        fetch(&[&server.url(&format!("{path};type=A"))]).assert_success(file(path));
        fetch(&["-B", &server.url(path)]).assert_success(file(path));
        fetch(&["--use-ascii", &server.url(path)]).assert_success(file(path));
    }
    let dir = WorkDir::new();
    dir.fetch(&["-B", "-o", "here", &server.url("/range.txt")]).assert_success("");
    assert_eq!(dir.read("here"), file("/range.txt"));
}

/// vsftpd and proftpd send CR LF unchanged, which is one line end; the others send CR CR LF.
fn ascii_transfer_keeps_carriage_returns_of_the_file(server: FtpServer) {
    let converts_lf_only = [VSFTPD.name, PROFTPD.name].contains(&server.name);
    let crlf = String::from_utf8(file("/crlf.txt")).expect("text");
    let crlf = if converts_lf_only { crlf.replace("\r\n", "\n") } else { crlf };
    fetch(&[&server.url("/crlf.txt;type=a")]).assert_success(crlf);
    let mixed = String::from_utf8(file("/mixed.txt")).expect("text");
    let mixed = if converts_lf_only { mixed.replace("\r\n", "\n") } else { mixed };
    fetch(&[&server.url("/mixed.txt;type=a")]).assert_success(mixed);
}

fn image_transfer_is_unchanged(server: FtpServer) {
    for path in ["/crlf.txt", "/lf.txt", "/mixed.txt"] {
        fetch(&[&server.url(path)]).assert_success(file(path));
        fetch(&[&server.url(&format!("{path};type=i"))]).assert_success(file(path));
        // The type in the URL takes precedence over the option.
        fetch(&["-B", &server.url(&format!("{path};type=i"))]).assert_success(file(path));
    }
}

fn unknown_typecode_exits_3(server: FtpServer) {
    for path in ["/hello.txt;type=x", "/hello.txt;type=", "/hello.txt;type=ai"] {
        fetch(&[&server.url(path)]).assert_exit(3).assert_stdout("");
    }
    fetch(&[&server.url("/odd/name%3Btype=a")]).assert_success("path=odd/name%3Btype%3Da\n");
}

/// The server counts the bytes of its file, not the transferred bytes, so offsets would be wrong.
fn ascii_range_exits_33(server: FtpServer) {
    fetch(&["-r", "8-15", &server.url("/range.txt;type=a")]).assert_exit(33).assert_stdout("");
    fetch(&["-C", "8", &server.url("/range.txt;type=a")]).assert_exit(33).assert_stdout("");
}

/// Without a size, the reply 226 is the only sign of completeness.
fn ascii_transfer_fails_require_complete(server: FtpServer) {
    for path in ["/lf.txt", "/empty.bin"] {
        fetch(&["--require-complete", &server.url(path)]).assert_success(file(path));
        let dir = WorkDir::new();
        let text = server.url(&format!("{path};type=a"));
        dir.fetch(&["--require-complete", "-o", "here", &text]).assert_exit(18);
        assert!(!dir.path("here").exists());
    }
}
