//! The bench's own Gopher server: packaged servers start a process for each request, and the cost of that would be
//! measured. It has one thread per connection, and the kernel copies the files.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Result};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// The maximum length of a request.
const MAX_LINE_BYTES: u64 = 1024;

/// A running server.
pub(super) struct Gopher {
    pub(super) authority: String,
    is_over: Arc<AtomicBool>,
}

impl Gopher {
    /// Serves the files of `folder` by their names.
    pub(super) fn local(folder: &Path) -> Result<Self> {
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
                // An error of one connection does not stop the server.
                thread::spawn(move || serve(stream, &folder));
            }
        });
        Ok(Self { authority, is_over })
    }
}

impl Drop for Gopher {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Wakes the thread that waits for the next connection.
        let _ = TcpStream::connect(&self.authority);
    }
}

fn serve(mut stream: TcpStream, folder: &Path) -> Result<()> {
    let mut line = String::new();
    BufReader::new(&stream).take(MAX_LINE_BYTES).read_line(&mut line)?;
    io::copy(&mut File::open(path(folder, line.trim_end()))?, &mut stream)?;
    stream.shutdown(Shutdown::Write)
}

fn path(folder: &Path, selector: &str) -> PathBuf {
    folder.join(selector.trim_start_matches('/'))
}
