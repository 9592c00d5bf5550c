//! SHA-256, by another implementation than the one under test.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::SupportedCipherSuite;
use rustls::crypto::aws_lc_rs::cipher_suite::TLS13_AES_128_GCM_SHA256;

/// Returns the SHA-256 of `bytes` in hexadecimal.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the SHA-256 of `bytes` in base64, as in a Digest header field.
#[must_use]
pub fn base64_sha256(bytes: &[u8]) -> String {
    STANDARD.encode(digest(bytes))
}

fn digest(bytes: &[u8]) -> Vec<u8> {
    let SupportedCipherSuite::Tls13(suite) = TLS13_AES_128_GCM_SHA256 else {
        unreachable!("its name says TLS 1.3")
    };
    let mut hash = suite.common.hash_provider.start();
    hash.update(bytes);
    hash.finish().as_ref().to_vec()
}
