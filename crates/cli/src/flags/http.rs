//! Options for HTTP.

use std::path::PathBuf;

use clap::{ArgAction, Args};

/// Options for HTTP, named as in curl.
#[derive(Args, Debug)]
pub struct HttpFlags {
    /// Request method; GET by default, POST with data
    #[arg(short = 'X', long = "request", value_name = "METHOD")]
    pub method: Option<String>,
    /// Add the header field "Name: value"
    ///
    /// "Name:" removes a field that fetch-url would send, "Name;" sends it empty, @FILE reads
    /// fields from FILE, @- from standard input.
    #[arg(short = 'H', long = "header", value_name = "FIELD", action = ArgAction::Append)]
    pub header: Vec<String>,
    /// Send DATA as form data
    ///
    /// @FILE reads it from FILE and removes CR, LF and NUL; @- reads standard input. Several pieces
    /// are joined by &.
    #[arg(short = 'd', long = "data", alias = "data-ascii", value_name = "DATA", action = ArgAction::Append, allow_hyphen_values = true)]
    pub data: Vec<String>,
    /// Send DATA as form data; @ has no special meaning
    #[arg(long, value_name = "DATA", action = ArgAction::Append, allow_hyphen_values = true)]
    pub data_raw: Vec<String>,
    /// Send DATA as form data; a file is sent unchanged
    #[arg(long, value_name = "DATA", action = ArgAction::Append, allow_hyphen_values = true)]
    pub data_binary: Vec<String>,
    /// Send DATA percent-encoded as form data
    ///
    /// DATA is CONTENT, =CONTENT, NAME=CONTENT, @FILE or NAME@FILE.
    #[arg(long, value_name = "DATA", action = ArgAction::Append, allow_hyphen_values = true)]
    pub data_urlencode: Vec<String>,
    /// Send DATA as JSON
    ///
    /// @FILE reads it from FILE. Content-Type and Accept are set to application/json. Several
    /// pieces are concatenated.
    #[arg(long, value_name = "DATA", action = ArgAction::Append, allow_hyphen_values = true)]
    pub json: Vec<String>,
    /// Send the file by PUT
    ///
    /// For http and https. The first -T belongs to the first URL, the second to the second one, as -o does; the
    /// other URLs are fetched. The file is read while it is sent; standard input (-), a FIFO or a device is stored in a
    /// temporary file first. If the path of the URL is missing or ends with /, the name of the file is appended to it.
    #[arg(short = 'T', long, value_name = "FILE", action = ArgAction::Append, conflicts_with_all = [
        "data", "data_raw", "data_binary", "data_urlencode", "json", "get", "continue_at", "continue_flag", "range",
    ])]
    pub upload_file: Vec<PathBuf>,
    /// Fill in a form: multipart/form-data for http, Gopher+ for gopher
    ///
    /// CONTENT is a text, @FILE (the file as an upload) or <FILE (the text of the file); - is
    /// standard input. ;type=TYPE, ;filename=NAME and ;headers=FIELD may follow. For gopher, NAME is
    /// the text of the question or its number from 1, and @@ begins a text that begins with @.
    #[arg(short = 'F', long, value_name = "NAME=CONTENT", action = ArgAction::Append,
          conflicts_with_all = ["data", "data_raw", "data_binary", "data_urlencode", "json", "get", "upload_file"])]
    pub form: Vec<String>,
    /// As -F, but @, <, ; and quotes have no special meaning
    #[arg(long, value_name = "NAME=TEXT", action = ArgAction::Append,
          conflicts_with_all = ["data", "data_raw", "data_binary", "data_urlencode", "json", "get", "upload_file"])]
    pub form_string: Vec<String>,
    /// Escape quotes in the names of -F by a backslash instead of %22
    #[arg(long)]
    pub form_escape: bool,
    /// Write the headers of the responses to FILE
    ///
    /// Same format as -i. - is standard output.
    #[arg(short = 'D', long, value_name = "FILE")]
    pub dump_header: Option<PathBuf>,
    /// Save the ETag of the response to FILE
    ///
    /// Only one URL is allowed. FILE does not change if the object is unchanged, or if the transfer
    /// fails and no error page is saved. - is standard output.
    #[arg(long, value_name = "FILE")]
    pub etag_save: Option<PathBuf>,
    /// Fetch only if the ETag is not the one in FILE
    ///
    /// If FILE does not exist or is empty, the URL is fetched. An unchanged object is a success.
    #[arg(long, value_name = "FILE")]
    pub etag_compare: Option<PathBuf>,
    /// Append the data to the query of the URL instead of sending a body
    #[arg(short = 'G', long = "get")]
    pub get: bool,
    /// Value of User-Agent (default fetch-url/VERSION)
    ///
    /// An empty NAME removes the field.
    #[arg(short = 'A', long, value_name = "NAME")]
    pub user_agent: Option<String>,
    /// Value of Referer
    ///
    /// If the value ends with ";auto", each redirected request sends the previous URL.
    #[arg(short = 'e', long, value_name = "URL")]
    pub referer: Option<String>,
    /// Send cookies: NAME=VALUE; ..., or those of a cookie file
    ///
    /// NAME=VALUE cookies are sent to the server of the URL only. The file is in Netscape format, or has Set-Cookie
    /// lines with a domain; - is standard input. With a file name, even of a missing file, cookies that servers set
    /// are kept during the run.
    #[arg(short = 'b', long, value_name = "COOKIES|FILE", action = ArgAction::Append)]
    pub cookie: Vec<String>,
    /// Keep cookies and write them to FILE at the end
    ///
    /// The file has mode 0600. - is standard output.
    #[arg(short = 'c', long, value_name = "FILE")]
    pub cookie_jar: Option<PathBuf>,
    /// Send the login with the first request (the default)
    #[arg(long)]
    pub basic: bool,
    /// Send the login only as Digest, never as Basic
    ///
    /// It is sent only when the server requests it. A server that offers no Digest is an error.
    #[arg(long, overrides_with_all = ["basic", "anyauth"])]
    pub digest: bool,
    /// Send the login only when requested, with the strongest scheme offered
    ///
    /// Digest if the server offers it, otherwise Basic.
    #[arg(long, overrides_with = "basic")]
    pub anyauth: bool,
    /// Send TOKEN as Authorization: Bearer
    #[arg(long, value_name = "TOKEN")]
    pub oauth2_bearer: Option<String>,
    /// Accept compressed responses and decode them
    #[arg(long)]
    pub compressed: bool,
    /// Accept the transfer coding gzip and decode it
    #[arg(long)]
    pub tr_encoding: bool,
    /// Deliver the body as received, without decoding content and transfer codings
    ///
    /// A chunked body contains the sizes of its chunks.
    #[arg(long)]
    pub raw: bool,
    /// Ignore Content-Length: read the body to the end of the connection
    ///
    /// The end is then not proven. HTTP/2 is not used.
    #[arg(long)]
    pub ignore_content_length: bool,
    /// After a redirect, send login, cookies and headers to other servers too
    ///
    /// Without it, they are sent to the server of the URL only.
    #[arg(long, overrides_with = "no_location")]
    pub location_trusted: bool,
    /// Versions of HTTP.
    #[command(flatten)]
    pub version: HttpVersionFlags,
}

/// The versions of HTTP. The last option counts.
#[derive(Args, Debug)]
pub struct HttpVersionFlags {
    /// Use HTTP/1.0 only
    #[arg(short = '0', long = "http1.0", overrides_with_all = ["http1_1", "http2", "http2_prior_knowledge"])]
    pub http1_0: bool,
    /// Use HTTP/1.1 only
    #[arg(long = "http1.1", overrides_with_all = ["http1_0", "http2", "http2_prior_knowledge"])]
    pub http1_1: bool,
    /// Use HTTP/2 if the server supports it over TLS (the default)
    #[arg(long, overrides_with_all = ["http1_0", "http1_1", "http2_prior_knowledge"])]
    pub http2: bool,
    /// Use HTTP/2 for http URLs without negotiation
    #[arg(long, overrides_with_all = ["http1_0", "http1_1", "http2"])]
    pub http2_prior_knowledge: bool,
}
