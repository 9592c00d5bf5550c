//! The server of a round. Its faults depend on the seed, the file and the number of the request, not on time.

use std::collections::HashMap;
use std::io::Result;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fastrand::Rng;
use fetch_url_tests::{
    ContentCoding, Ending, FileHeaders, FtpAction, FtpConfig, FtpRule, FtpServer, HttpRequest, HttpResponse,
    HttpServer, RangeSupport, encode, file_handler, percent_encode,
};

use super::content::{SiteFile, http_date, index_page};
use super::lock;
use super::plan::{Plan, Protocol};

/// A running server with the files of a plan in `/d/`.
pub(super) struct Site {
    server: Server,
    state: Arc<SiteState>,
}

enum Server {
    Http(HttpServer),
    Ftp(FtpServer),
}

/// What the handler of the HTTP server knows.
struct SiteState {
    seed: u64,
    files: Vec<SiteFile>,
    fault_percent: u32,
    has_faults: AtomicBool,
    version: AtomicUsize,
    /// Requests until the next version; `u64::MAX` for never.
    update_after: AtomicU64,
    /// The number of requests for each path.
    requests: Mutex<HashMap<String, u64>>,
    checksums: String,
    /// The files of each version in the content coding gzip, which the server sends if the client accepts it.
    encoded: HashMap<(String, usize), Vec<u8>>,
}

impl Site {
    /// Starts the server, with faults. `checksums` is the content of `/d/SHA256SUMS`, if any.
    pub(super) fn start(plan: &Plan, checksums: String) -> Result<Self> {
        let state = Arc::new(SiteState {
            seed: plan.seed,
            files: plan.files.clone(),
            fault_percent: plan.fault_percent,
            has_faults: AtomicBool::new(true),
            version: AtomicUsize::new(0),
            update_after: AtomicU64::new(u64::MAX),
            requests: Mutex::default(),
            checksums,
            encoded: encoded_files(plan)?,
        });
        let server = match plan.protocol {
            Protocol::Ftp => Server::Ftp(FtpServer::start(ftp_config(&state))?),
            Protocol::Http => {
                let state = Arc::clone(&state);
                Server::Http(HttpServer::start(move |request| state.respond(request))?)
            }
        };
        Ok(Self { server, state })
    }

    /// Returns the URL of a file of the directory; of the directory itself for an empty name.
    pub(super) fn url(&self, name: &str) -> String {
        let name = percent_encode(name.as_bytes(), b"");
        match &self.server {
            Server::Http(server) => server.url(&format!("/d/{name}")),
            Server::Ftp(server) => server.url(&format!("/d/{name}")),
        }
    }

    /// Gives the site its next version after this many requests.
    pub(super) fn update_after(&self, requests: Option<u64>) {
        self.state.update_after.store(requests.unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub(super) fn end_faults(&self) {
        self.update_after(None);
        self.state.has_faults.store(false, Ordering::Relaxed);
        if let Server::Ftp(server) = &self.server {
            server.disable_rules();
        }
    }

    pub(super) fn version(&self) -> usize {
        self.state.version.load(Ordering::Relaxed)
    }
}

impl SiteState {
    fn respond(&self, request: &HttpRequest) -> HttpResponse {
        let path = request.path();
        let name = path.strip_prefix("/d/").unwrap_or(&path);
        self.count_for_update();
        let Some(mut rng) = self.fault(name) else { return self.serve(name, request, RangeSupport::Correct) };
        match rng.u32(..9) {
            0 => HttpResponse::new(503).header("Retry-After", "0"),
            1 => HttpResponse::new([403, 404, 429, 500, 502][rng.usize(..5)]).body("an error page"),
            2 => HttpResponse::raw(""),
            3 => self.serve(name, request, RangeSupport::Correct).cut_at(rng.u64(..90)).then_reset(),
            4 => self.serve(name, request, RangeSupport::Ignored),
            5 => self.serve(name, request, RangeSupport::IfRangeIgnored),
            6 => self.serve(name, request, RangeSupport::WrongOffset),
            7 => self.serve(name, request, RangeSupport::Correct).drip(9000, Duration::from_millis(1)),
            _ => {
                let cut = self.serve(name, request, RangeSupport::Correct).cut_body_at(rng.u64(..300_000));
                if rng.bool() { cut.then_reset() } else { cut }
            }
        }
    }

    /// Counts a request; the last one before an update gives the site its next version.
    fn count_for_update(&self) {
        let count_down = |left: u64| (left != u64::MAX).then(|| left.wrapping_sub(1));
        let counted = self.update_after.fetch_update(Ordering::Relaxed, Ordering::Relaxed, count_down);
        let last = self.files.first().map_or(0, |file| file.sizes.len() - 1);
        if counted == Ok(0) && self.version.load(Ordering::Relaxed) < last {
            self.version.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns a source of random numbers if this request meets a fault.
    fn fault(&self, name: &str) -> Option<Rng> {
        let mut requests = lock(&self.requests);
        let number = requests.entry(name.to_owned()).or_default();
        *number += 1;
        let mut rng = rng_of(self.seed, name, *number);
        (self.has_faults.load(Ordering::Relaxed) && rng.u32(..100) < self.fault_percent).then_some(rng)
    }

    fn serve(&self, name: &str, request: &HttpRequest, ranges: RangeSupport) -> HttpResponse {
        let version = self.version.load(Ordering::Relaxed);
        if name.is_empty() {
            return HttpResponse::new(200)
                .header("Content-Type", "text/html")
                .body(index_page(&self.files, version));
        }
        if name == "SHA256SUMS" {
            return HttpResponse::new(200).body(self.checksums.clone());
        }
        let Some(file) = self.files.iter().find(|file| file.url_name() == name) else {
            return HttpResponse::new(404);
        };
        if let Some(encoded) = self.encoded_file(file, version, request) {
            return encoded;
        }
        let headers = FileHeaders {
            etag: Some(format!("\"{name}-{version}\"")),
            last_modified: Some(http_date(version)),
            ranges,
        };
        file_handler(file.content(version), headers)(request)
    }

    /// Returns a file in the content coding gzip, as nginx sends it, if the client accepts it and requests no range.
    fn encoded_file(&self, file: &SiteFile, version: usize, request: &HttpRequest) -> Option<HttpResponse> {
        let is_conditional = ["range", "if-none-match", "if-modified-since"]
            .iter()
            .any(|field| request.header(field).is_some());
        let accepted = request.header_text("accept-encoding").is_some_and(|codings| codings.contains("gzip"));
        let bytes =
            self.encoded.get(&(file.name.clone(), version)).filter(|_| accepted && !is_conditional)?;
        let response = HttpResponse::new(200)
            .header("Content-Encoding", "gzip")
            .header("ETag", format!("W/\"{}-{version}\"", file.url_name()))
            .header("Last-Modified", http_date(version));
        Some(response.chunked(bytes.chunks(20_000).map(<[u8]>::to_vec).collect()))
    }
}

/// Returns the encoded files of a plan whose requests accept that.
fn encoded_files(plan: &Plan) -> Result<HashMap<(String, usize), Vec<u8>>> {
    let mut encoded = HashMap::new();
    for file in plan.files.iter().filter(|_| plan.options.contains(&"--compressed")) {
        for version in 0..file.sizes.len() {
            let bytes = encode(ContentCoding::Gzip, &file.content(version))?;
            encoded.insert((file.name.clone(), version), bytes);
        }
    }
    Ok(encoded)
}

/// Returns a source of random numbers for one request.
fn rng_of(seed: u64, name: &str, number: u64) -> Rng {
    let name = name.bytes().fold(0, |sum: u64, byte| sum.wrapping_mul(131).wrapping_add(u64::from(byte)));
    Rng::with_seed(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ name.rotate_left(32) ^ number)
}

/// Returns a server whose faults are rules for the first commands.
fn ftp_config(state: &SiteState) -> FtpConfig {
    let mut config = FtpConfig::new().dir("/d");
    if !state.checksums.is_empty() {
        config = config.file("/d/SHA256SUMS", state.checksums.clone());
    }
    for file in &state.files {
        let path = format!("/d/{}", file.name);
        config = config.file(&path, file.content(0)).modified(&path, "20260101000000");
    }
    let names = state.files.iter().map(|file| format!("RETR {}", file.name));
    let commands = names.chain(["PASV", "EPSV", "CWD", "MLSD", "USER"].map(str::to_owned));
    for (command, number) in commands.flat_map(|command| (1..4).map(move |number| (command.clone(), number)))
    {
        let mut rng = rng_of(state.seed, &command, number as u64);
        if rng.u32(..100) < state.fault_percent {
            config = config.rule(FtpRule::on(command.as_str(), ftp_fault(&mut rng, &command)).nth(number));
        }
    }
    config
}

fn ftp_fault(rng: &mut Rng, command: &str) -> FtpAction {
    let ending = if rng.bool() { Ending::Fin } else { Ending::Reset };
    let is_transfer = command.starts_with("RETR") || command == "MLSD";
    match rng.u32(..if is_transfer { 7 } else { 3 }) {
        0 => FtpAction::End(ending),
        1 => FtpAction::Answer(b"421 Too many users\r\n".to_vec()),
        2 => FtpAction::Pause(Duration::from_millis(30)),
        3 => FtpAction::ReplaceReply(b"451 Local error\r\n".to_vec()),
        4 => FtpAction::EndBeforeFinalReply(ending),
        5 => FtpAction::Drip(9000, Duration::from_millis(1)),
        _ => FtpAction::CutData(rng.u64(..300_000), ending),
    }
}
