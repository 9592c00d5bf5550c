//! Responses with an HTTP error: they fail the transfer, after `-i` and `-I` have printed their header.

use fetch_url::output::{FileSink, save};
use fetch_url::{Content, Error, Response};

use super::context::Run;
use super::output;
use super::output_format::with_output_format;
use crate::job::{Output, Transfer};
use crate::report::TransferReport;

/// Fails with the error of an error response, unless its body is written. With `-i` and `-I` the header is printed
/// before; a file has its name only for a complete object, so it does not get the header. Returns `file`.
pub(super) async fn reject_error(
    response: &mut Response,
    file: Option<FileSink>,
    transfer: &Transfer,
    run: &Run,
    report: &mut TransferReport,
) -> Result<Option<FileSink>, Error> {
    let Some(refusal) = response.status_error.take_if(|_| !run.options.writes_error_body) else {
        return Ok(file);
    };
    let is_stdout = file.is_none() && matches!(transfer.output, Output::Stdout { .. });
    let is_stream = is_stdout || file.as_ref().is_some_and(FileSink::is_device);
    if is_stream && (run.options.include || run.options.head) {
        let header = Response::new(response.meta.clone(), Content::Head);
        let header = with_output_format(header, !is_stdout, run);
        let sink = output::choose_sink(file, transfer, &header, run, report)?;
        save(header, sink, &mut ()).await?;
    }
    Err(refusal)
}
