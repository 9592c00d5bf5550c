//! A Gopher server for the bench, of ours: those that are packaged start a process for each request, and that
//! would be measured. A thread for each connection; the kernel copies.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Result};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// The longest request.
const LINE_BYTES: u64 = 1024;

/// A running one.
pub(super) struct Gopher {
    pub(super) authority: String,
    is_over: Arc<AtomicBool>,
}

impl Gopher {
    /// Serves the files of `folder` by their names.
    pub(super) fn here(folder: &Path) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let authority = listener.local_addr()?.to_string();
        let is_over = Arc::new(AtomicBool::new(false));
        let (folder, over) = (folder.to_owned(), is_over.clone());
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                let folder = folder.clone();
                // A client that goes away is none of the server's business.
                thread::spawn(move || serve(stream, &folder));
            }
        });
        Ok(Self { authority, is_over })
    }
}

impl Drop for Gopher {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Wakes whoever waits for the next connection.
        let _ = TcpStream::connect(&self.authority);
    }
}

fn serve(mut stream: TcpStream, folder: &Path) -> Result<()> {
    let mut line = String::new();
    BufReader::new(&stream).take(LINE_BYTES).read_line(&mut line)?;
    io::copy(&mut File::open(path(folder, line.trim_end()))?, &mut stream)?;
    stream.shutdown(Shutdown::Write)
}

fn path(folder: &Path, selector: &str) -> PathBuf {
    folder.join(selector.trim_start_matches('/'))
}
