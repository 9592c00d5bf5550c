//! Results of the lines of a queue: they are stored in its record, or the lines are given back.

use fetch_url::Error;
use fetch_url_queue::Outcome;

use super::result_log::{Disposition, ResultLog, TransferResult};
use crate::job::Transfer;
use crate::job::queue_worker::{QueueWorker, concerns_host};

impl ResultLog for QueueWorker {
    async fn check(&self, transfer: &Transfer) -> Result<(), Error> {
        match (self.worker(), transfer.lease) {
            (Some(worker), Some(lease)) => worker.check_files(lease).await,
            _ => Ok(()),
        }
    }

    fn add(&self, result: &TransferResult<'_>) -> Result<Disposition, Error> {
        let (Some(worker), Some(lease)) = (self.worker(), result.transfer.lease) else {
            return Ok(Disposition::Final);
        };
        let Some(error) = result.error else {
            let path = result.report.file.as_deref();
            let inside = path.map(|path| path.strip_prefix(&self.directory).unwrap_or(path));
            let file = inside.map(|path| path.to_string_lossy().into_owned());
            worker.finish(lease, Outcome::Done { file, bytes: result.report.received });
            return Ok(Disposition::Final);
        };
        if let Some(wait) = self.lock_wait(error, lease) {
            worker.postpone(lease, wait);
            return Ok(Disposition::Delayed(wait));
        }
        if let Some(wait) = self.retry_wait(error, worker.tries(lease), lease) {
            if concerns_host(error) {
                worker.delay(lease, wait);
            } else {
                worker.set_aside(lease, wait);
            }
            return Ok(Disposition::Delayed(wait));
        }
        let code = error.code().name().to_owned();
        let outcome = Outcome::Failed { code, exit_status: error.exit_status(), message: error.to_string() };
        worker.finish(lease, outcome);
        Ok(Disposition::Final)
    }

    async fn store(&self, note_error: impl Fn(Error)) {
        match self.worker() {
            Some(worker) => loop {
                note_error(worker.next_note().await);
            },
            None => std::future::pending().await,
        }
    }

    async fn close(&self, _is_complete: bool) -> Option<Error> {
        if let Some(worker) = self.worker() {
            worker.close().await;
        }
        None
    }
}
