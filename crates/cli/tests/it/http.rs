//! Integration tests of the `http:` and `https:` schemes.

mod changed_uploads;
mod compressed;
mod connections;
mod cookies;
mod faults;
mod foreign_part_files;
mod forms;
mod http2_memory;
mod index_pages;
mod redirect_state;
mod redirect_targets;
mod redirected_resume;
mod request_options;
mod resume;
mod saved_headers;
mod transfer_options;
mod upload_faults;
