//! The tree that `docker/common/make-tree.pl` creates and all servers serve.

/// The SHA-256 of `big.bin`, 64 MiB.
pub(crate) const BIG: &str = "b3f22401aa939271e2ec0246c850bb7bd880c7e86450705a4a2b8bb7dae9efcd";
/// The modification time of all files: 1994-12-01 12:34:56 UTC.
pub(crate) const MODIFIED: u64 = 786_285_296;
pub(crate) const HELLO: &str = "Hello, world\n";

/// `range.txt`: 80,000 bytes, line N begins at N * 8.
pub(crate) fn range() -> Vec<u8> {
    (0..10_000).map(|number| format!("{number:07}\n")).collect::<String>().into_bytes()
}

/// The plain files: URL path and content.
pub(crate) fn files() -> Vec<(&'static str, Vec<u8>)> {
    let lines = |what: &str| (1..=100).map(|line| format!("line {line} of {what}")).collect::<String>();
    vec![
        ("/hello.txt", HELLO.into()),
        ("/link.txt", HELLO.into()),
        ("/empty.bin", Vec::new()),
        ("/one-byte.bin", vec![0]),
        ("/lf.txt", lines("LF text\n").into()),
        ("/crlf.txt", lines("CRLF text\r\n").into()),
        ("/mixed.txt", b"lone LF\nCRLF\r\nlone CR\rno end of line at end".into()),
        ("/latin1.txt", b"na\xefve caf\xe9 \xff end\n".into()),
        ("/all-bytes.bin", (0..=255).collect::<Vec<u8>>().repeat(16)),
        ("/range.txt", range()),
        ("/pub/README", "path=pub/README\n".into()),
        ("/link-dir/README", "path=pub/README\n".into()),
        ("/pub/a/b/c/deep.txt", "path=pub/a/b/c/deep.txt\n".into()),
        ("/etc/motd", "motd of the served tree, not of the host\n".into()),
        ("/many/f4999.txt", "4999\n".into()),
    ]
}

/// The names under `odd/`, with reserved, unsafe and unusual bytes.
const ODD: [&[u8]; 31] = [
    b" leading space",
    b"trailing space ",
    b"with space/a file.txt",
    b"semi;colon/f.txt",
    b"name;type=a",
    b"hash#dir/f#1.txt",
    b"ques?tion/f.txt",
    b"100%/f.txt",
    b"%41.txt",
    b"amp&and=eq+plus.txt",
    b"colon:at@.txt",
    b"~tilde/f.txt",
    b"-dash/-file.txt",
    b"-la",
    b"*",
    b"[a-b].txt",
    b"{x,y}.txt",
    b"quote\"d/f.txt",
    b"apos's.txt",
    b"back\\slash.txt",
    b"...",
    b".hidden",
    b"tab\there.txt",
    b"new\nline/f.txt",
    b"cr\rname.txt",
    b"\x01ctl.txt",
    b"\x7fdel.txt",
    b"\xc3\xbcn\xc3\xafc\xc3\xb6de/\xc5\xbelu\xc5\xa5.txt",
    b"caf\xe9/r\xe9sum\xe9.txt",
    b"iac\xff.txt",
    b"iac\xff\xff2.txt",
];

/// URL path and content of the odd names, with every character escaped that may be.
pub(crate) fn odd_files() -> Vec<(String, String)> {
    let long = [&[b'a'; 200][..], b".txt"].concat();
    let names = ODD.into_iter().chain([&long[..]]);
    let row = |name: &[u8]| {
        let path = format!("odd/{}", escaped(name));
        (format!("/{path}"), format!("path={path}\n"))
    };
    names.map(row).collect()
}

/// Percent-encodes a name as the content of the files shows it.
fn escaped(name: &[u8]) -> String {
    let byte = |&byte: &u8| match byte {
        b'-' | b'.' | b'_' | b'~' | b'/' => char::from(byte).to_string(),
        _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    name.iter().map(byte).collect()
}
