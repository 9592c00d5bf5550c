//! Runs `fetch-url serve` until a signal ends it.

use fetch_url::{Code, Error, Phase};
use fetch_url_serve::Server;

use crate::flags::serve::ServeFlags;
use crate::{job, render, signal};

/// Runs the server. SIGINT and SIGTERM finish the answers under way; a second signal ends the process at once. Returns
/// the exit status.
pub(super) fn run(flags: ServeFlags) -> u8 {
    let served = job::serve::options(flags).and_then(|options| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Error::new(Code::Internal, Phase::Plan, error.to_string()))?;
        runtime.block_on(async {
            let server = Server::bind(options).await?;
            for address in server.addresses() {
                render::print_note(&format!("serving http://{address}/"));
            }
            let stopped = async {
                signal::wait_for_ending_signal().await;
            };
            let finished = server.run(stopped);
            tokio::select! {
                () = finished => {}
                second = second_signal() => {
                    second.terminate_process();
                }
            }
            Ok(())
        })
    });
    match served {
        Ok(()) => 0,
        Err(error) => render::print_error(&error, None),
    }
}

/// Waits for two signals that end the process.
async fn second_signal() -> signal::ReceivedSignal {
    signal::wait_for_ending_signal().await;
    signal::wait_for_ending_signal().await
}
