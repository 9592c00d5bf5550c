//! Flags and environment become one [`Job`]: everything decided, nothing done yet.

mod check;
mod condition;
mod data;
pub(crate) mod environment;
mod ftp;
pub(crate) mod gateway;
mod gopher;
mod http;
mod input;
mod login;
mod mirror;
pub(crate) mod news;
mod policy;
mod tls;
mod transfer;

use std::cell::RefCell;
use std::fs::File;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use fetch_url::url::Url;
use fetch_url::{
    ByteRange, Code, Condition, Connect, CookieJar, Error, Fetcher, FileOptions, FtpOptions, GopherOptions,
    HttpOptions, Next, NntpOptions, Phase, Request, SpecialFiles, Turns,
};

use self::check::Checking;
pub(crate) use self::input::Input;
pub(crate) use self::mirror::{Copy, is_of_one_file};
pub(crate) use self::transfer::{Output, Transfer};
use crate::flags::{ContinueAt, Fetch, Format};
use crate::render::{events::Events, progress::Board, write_out::WriteOut};
use crate::run::{Claims, Ledger, Lists};

/// What is no URL, if it is the first of them.
const VERBS: [&str; 4] = ["completions", "explain", "extract", "mirror"];

/// Everything that is to be done, decided.
pub(crate) struct Job {
    pub(crate) fetcher: Fetcher,
    pub(crate) transfers: Vec<Transfer>,
    /// What comes behind them.
    pub(crate) input: Option<Input>,
    /// The tree whose files come behind them.
    pub(crate) copy: Option<Copy>,
    /// What earlier runs have finished.
    pub(crate) ledger: Option<Ledger>,
    pub(crate) fails_early: bool,
    /// How many at the same time.
    pub(crate) parallel: usize,
    /// Whose turn it is at each host.
    pub(crate) turns: Turns,
    pub(crate) shape: Shape,
    pub(crate) talk: Talk,
    /// Where the cookies go at the end.
    pub(crate) cookie_file: Option<PathBuf>,
    pub(crate) write_out: Option<WriteOut>,
    pub(crate) events: Option<Events>,
    pub(crate) board: Board,
    /// Lists of checksums that were fetched.
    pub(crate) lists: RefCell<Lists>,
    /// Which file is whose.
    pub(crate) claims: Claims,
}

/// How an object is asked for and what of it is written.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) format: Format,
    pub(crate) head: bool,
    pub(crate) include: bool,
    pub(crate) range: Option<ByteRange>,
    pub(crate) resume: bool,
    /// Over how many connections a file may come.
    pub(crate) segments: u16,
    pub(crate) create_dirs: bool,
    /// What is there already is not fetched.
    pub(crate) skips_existing: bool,
    pub(crate) options: FileOptions,
    /// An error whose body was delivered is a failure all the same.
    pub(crate) fails_with_body: bool,
    pub(crate) http: HttpOptions,
    ftp: FtpOptions,
    gopher: GopherOptions,
    news: NntpOptions,
    news_server: news::Named,
    has_gateways: bool,
    /// Message-ids are asked of a gateway, not of the news server.
    mid_has_gateway: bool,
    condition: Option<Condition>,
    search: Option<Vec<u8>>,
    special_files: bool,
    /// What the octets must come to.
    pub(crate) check: Checking,
    /// Whether a session is opened.
    connects: bool,
    /// Whether the desktop is handed what names no data object.
    #[cfg(feature = "open")]
    pub(crate) opens: bool,
    /// Whether a URL that names no data object is a failure.
    pub(crate) fails_advisory: bool,
}

/// What is said beside the object.
#[derive(Clone, Debug)]
pub(crate) struct Talk {
    pub(crate) errors: bool,
    /// Nothing but errors is said.
    pub(crate) is_silent: bool,
    /// What may be known but need not, such as retries.
    pub(crate) notes: bool,
    pub(crate) trace: Option<PathBuf>,
    pub(crate) errors_as_json: bool,
    pub(crate) progress: Progress,
    pub(crate) verbose: u8,
    pub(crate) stdout_is_terminal: bool,
    /// Somebody reads standard error, and wants to know.
    pub(crate) is_watched: bool,
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    Bar,
    Line,
    Nothing,
}

impl Job {
    /// What these flags ask for.
    pub(crate) fn new(flags: Fetch, matches: &ArgMatches) -> Result<Self, Error> {
        if flags.disable {
            return Err(usage("-q is the first argument, or means nothing").with_hint("wget's -q is -s here"));
        }
        if flags.urls.is_empty() && flags.many.input_file.is_none() {
            return Err(usage("no URL was given").with_hint(missing_url_hint(&flags)));
        }
        if let Some(list) = flags.urls.iter().find(|text| flags.include && Path::new(text).is_file()) {
            return Err(usage(format!("{list} is a file, and no URL"))
                .with_hint("-i is --include here, as in curl; wget's -i is --input-file"));
        }
        if let Some(verb) = flags.urls.first().filter(|text| VERBS.contains(&text.as_str())) {
            return Err(usage(format!("{verb} stands in front of its options")));
        }
        let takes_stdout = flags.talk.events.as_deref().is_some_and(|path| path.as_os_str() == "-");
        if flags.advisory.connect && (flags.urls.len() > 1 || takes_stdout) {
            return Err(usage("--connect holds one session, at standard output"));
        }
        let transfers = transfer::transfers(&flags, matches)?;
        let input = transfer::input(&flags)?;
        let ledger = if input.is_some() { transfer::ledger(&flags)? } else { None };
        Self::of(&flags, matches, transfers, input, ledger)
    }

    fn of(
        flags: &Fetch,
        matches: &ArgMatches,
        transfers: Vec<Transfer>,
        input: Option<Input>,
        ledger: Option<Ledger>,
    ) -> Result<Self, Error> {
        // Of a file, and of a tree, nobody knows how many they are.
        let talk = Talk::of(flags);
        let count = (input.is_none() && !transfers.is_empty()).then_some(transfers.len());
        Ok(Self {
            fetcher: fetcher(flags)?,
            board: Board::new(if flags.parallel { count } else { count.map(|_| 1) }, talk.progress),
            transfers,
            input,
            copy: None,
            ledger,
            turns: Turns::new(usize::from(flags.many.parallel_max_host)),
            fails_early: flags.fail_early,
            parallel: if flags.parallel { usize::from(flags.parallel_max) } else { 1 },
            shape: Shape::of(flags, matches)?,
            cookie_file: flags.http.cookie_jar.clone(),
            write_out: flags.talk.write_out.as_deref().map(WriteOut::read).transpose()?,
            events: flags.talk.events.as_deref().map(Events::open).transpose()?,
            talk,
            lists: RefCell::default(),
            claims: Claims::default(),
        })
    }

    /// Whether there is but one transfer.
    pub(crate) const fn is_of_one(&self) -> bool {
        self.input.is_none() && self.copy.is_none() && self.transfers.len() < 2
    }

    /// The cookies of the run.
    pub(crate) const fn cookies(&self) -> Option<&CookieJar> {
        self.shape.http.cookies.as_ref()
    }
}

/// Where wget's letters have swallowed the URL.
fn missing_url_hint(flags: &Fetch) -> &'static str {
    let is_url = |text: &str| text.contains("://");
    let jar = flags.http.cookie_jar.as_ref().and_then(|path| path.to_str());
    let login = flags.login.netrc;
    match jar {
        Some(jar) if is_url(jar) && login => "-nc is -n -c here; wget's -nc is --no-clobber",
        Some(jar) if is_url(jar) => "-c is --cookie-jar here, as in curl; wget's -c is -C -",
        _ => "fetch-url --help lists what can be done",
    }
}

impl Shape {
    fn of(flags: &Fetch, matches: &ArgMatches) -> Result<Self, Error> {
        let resume = goes_on(flags);
        let keep = match flags.continue_at {
            Some(ContinueAt::Offset(offset)) => offset,
            _ => 0,
        };
        let continued = (keep > 0).then_some(ByteRange::Span { first: keep, last: None });
        let http = http::options(flags, matches)?;
        // What is asked for in a way of its own is asked for once.
        let is_plain = !flags.include && !flags.head && http.method.is_none() && http.body.is_none();
        let options = FileOptions::default()
            .resuming(resume)
            .keeping(keep)
            .no_clobber(flags.no_clobber)
            .remote_time(flags.remote_time);
        Ok(Self {
            format: flags.format,
            head: flags.head,
            include: flags.include,
            range: flags.range.or(continued),
            resume,
            // A rate is one connection's.
            segments: if is_plain && flags.limit_rate.is_none() { flags.segments } else { 1 },
            create_dirs: flags.create_dirs,
            skips_existing: flags.many.skip_existing,
            options,
            fails_with_body: flags.fail_with_body,
            http,
            ftp: ftp::options(flags)?,
            gopher: gopher::options(flags)?,
            news: news::options(flags)?,
            news_server: news::Named::of(flags),
            has_gateways: !flags.gateway.gateways.is_empty(),
            mid_has_gateway: gateway::is_for(&flags.gateway, "mid"),
            condition: flags.time_cond.as_deref().map(condition::condition).transpose()?.flatten(),
            search: http::search(&flags.http, matches)?,
            special_files: flags.network.special_files,
            check: Checking::of(flags)?,
            connects: flags.advisory.connect,
            #[cfg(feature = "open")]
            opens: flags.advisory.open,
            fails_advisory: flags.advisory.fail_advisory,
        })
    }

    /// The same, for directories alone.
    fn for_listings(mut self) -> Self {
        (self.ftp.lists, self.http.lists_pages, self.news.lists_ranges) = (true, true, true);
        self
    }

    /// The request for `url`; `next` comes after it.
    pub(crate) fn request(&self, url: &str, next: Next) -> Result<Request, Error> {
        let mut request = Request::new(&self.with_search(url))?.with_extra(self.http.clone());
        if !self.gopher.answers.is_empty() && !matches!(request.url(), Url::Gopher(_)) {
            return Err(usage("--form answers the forms of Gopher+: this URL has none"));
        }
        if self.format == Format::Mbox && !matches!(request.url(), Url::News(_) | Url::Nntp(_)) {
            return Err(usage("--format mbox is of news: this URL is none"));
        }
        let is_for_gateway = self.mid_has_gateway && news::is_mid(request.url());
        let server = if is_for_gateway { None } else { news::server(request.url(), &self.news_server)? };
        if let Some(server) = server {
            request = request.news_server(server);
        }
        // Where a name service or a gateway leads nobody knows yet.
        request = match request.url() {
            Url::Prospero(_) => request.with_extra(self.ftp.clone()).with_extra(self.gopher.clone()),
            _ if self.has_gateways => request.with_extra(self.ftp.clone()).with_extra(self.gopher.clone()),
            Url::Ftp(_) => request.with_extra(self.ftp.clone()),
            Url::Gopher(_) => request.with_extra(self.gopher.clone()),
            _ => request,
        };
        // Links lead to news, too.
        let mut news = self.news.clone();
        news.next = next;
        request = request.with_extra(news);
        if self.head {
            request = request.head();
        }
        if let Some(range) = self.range {
            request = request.range(range);
        }
        if let Some(condition) = self.condition {
            request = request.only_if(condition);
        }
        if self.special_files {
            request = request.with_extra(SpecialFiles::default());
        }
        if self.connects {
            request = request.with_extra(Connect::default());
        }
        Ok(request)
    }

    /// The URL with the data of `-G` behind it, before a fragment.
    fn with_search(&self, url: &str) -> String {
        let Some(search) = &self.search else { return url.to_owned() };
        let (url, fragment) = url.split_at(url.find('#').unwrap_or(url.len()));
        let joint = match url.contains('?') {
            true if url.ends_with(['?', '&']) => "",
            true => "&",
            false => "?",
        };
        format!("{url}{joint}{}{fragment}", String::from_utf8_lossy(search))
    }
}

/// Whether it goes on where an earlier run ended.
fn goes_on(flags: &Fetch) -> bool {
    flags.continue_flag || flags.continue_at == Some(ContinueAt::End)
}

impl Talk {
    fn of(flags: &Fetch) -> Self {
        let flags = (&flags.talk, flags.format);
        let (flags, format) = flags;
        let is_quiet = flags.silent || flags.no_progress_meter || flags.verbose > 0;
        let progress = match std::io::stderr().is_terminal() {
            _ if is_quiet => Progress::Nothing,
            true => Progress::Bar,
            false if flags.progress_bar => Progress::Line,
            false => Progress::Nothing,
        };
        Self {
            errors: !flags.silent || flags.show_error,
            is_silent: flags.silent,
            notes: !flags.silent && format != Format::Json,
            errors_as_json: format == Format::Json,
            trace: flags.trace.clone(),
            progress,
            verbose: flags.verbose,
            stdout_is_terminal: std::io::stdout().is_terminal(),
            is_watched: !flags.silent && std::io::stderr().is_terminal(),
        }
    }
}

/// Wrong options.
pub(crate) fn usage(detail: impl Into<String>) -> Error {
    Error::new(Code::Usage, Phase::Plan, detail)
}

fn fetcher(flags: &Fetch) -> Result<Fetcher, Error> {
    Ok(Fetcher::builder()
        .policy(policy::policy(flags)?)
        .gateways(gateway::gateways(&flags.gateway)?)
        .credentials(login::credentials(&flags.login, says_notes(flags))?)
        .tls(tls::options(&flags.tls)?)
        .build())
}

/// Whether a person is there to read a note.
fn says_notes(flags: &Fetch) -> bool {
    !flags.talk.silent && std::io::stderr().is_terminal()
}

/// The octets of a file that a flag names.
fn read(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|error| usage(format!("{}: {error}", path.display())))
}

/// Standard output as a file, so that the kernel can copy into it.
pub(crate) fn stdout() -> Result<File, Error> {
    use std::os::fd::AsFd as _;
    let owned = std::io::stdout().as_fd().try_clone_to_owned();
    owned.map(File::from).map_err(|error| Error::new(Code::SinkFailed, Phase::Deliver, error.to_string()))
}
