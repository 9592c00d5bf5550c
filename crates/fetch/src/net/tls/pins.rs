//! Public key pinning: curl's `--pinnedpubkey`.

#[cfg(feature = "aws-lc-rs")]
use aws_lc_rs::digest;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
#[cfg(not(feature = "aws-lc-rs"))]
use ring::digest;
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::pki_types::pem::PemObject;

use super::der::{OBJECT_IDENTIFIER, SEQUENCE, tagged};
use super::usage;
use crate::Error;

/// Length of a SHA-256 digest in bytes.
const LENGTH: usize = 32;

/// The public keys that a server may have: the SHA-256 of each SubjectPublicKeyInfo (RFC 5280 §4.1) in DER.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pins(Vec<[u8; LENGTH]>);

impl Pins {
    /// Parses `sha256//BASE64;sha256//BASE64…`. One of the pins has to match.
    ///
    /// # Errors
    /// `Code::Usage` if the text is not of this form.
    pub fn parse(text: &str) -> Result<Self, Error> {
        text.split(';').map(|pin| parse(pin.trim())).collect::<Result<_, _>>().map(Self)
    }

    /// Reads a pin from a public key file in PEM (`PUBLIC KEY`, RFC 7468 §13) or DER.
    ///
    /// # Errors
    /// `Code::Usage` if the file does not contain a public key.
    pub fn from_public_key(file: &[u8]) -> Result<Self, Error> {
        if is_public_key(file) {
            return Ok(Self(vec![sha256(file)]));
        }
        match SubjectPublicKeyInfoDer::from_pem_slice(file) {
            Ok(key) if is_public_key(&key) => Ok(Self(vec![sha256(&key)])),
            _ => Err(usage("the pinned key is not a public key in PEM or DER")
                .with_hint("openssl x509 -in CERT -pubkey -noout prints that of a certificate")),
        }
    }

    /// Returns `true` if the SubjectPublicKeyInfo `key` in DER is pinned.
    pub(super) fn contains(&self, key: &[u8]) -> bool {
        self.0.contains(&sha256(key))
    }
}

fn parse(pin: &str) -> Result<[u8; LENGTH], Error> {
    let digest = pin.strip_prefix("sha256//").and_then(|digest| STANDARD.decode(digest).ok());
    digest.and_then(|digest| digest.try_into().ok()).ok_or_else(|| {
        usage(format!("the pin {pin:?} is not of the form sha256//BASE64, with {LENGTH} bytes in BASE64"))
    })
}

fn sha256(bytes: &[u8]) -> [u8; LENGTH] {
    let mut sha256 = [0; LENGTH];
    sha256.copy_from_slice(digest::digest(&digest::SHA256, bytes).as_ref());
    sha256
}

/// Returns `true` if `der` is a SubjectPublicKeyInfo. Unlike a certificate or private key, it starts with an algorithm
/// identifier.
fn is_public_key(der: &[u8]) -> bool {
    let Some((key, [])) = tagged(der, SEQUENCE) else { return false };
    tagged(key, SEQUENCE).is_some_and(|(algorithm, _)| algorithm.first() == Some(&OBJECT_IDENTIFIER))
}

#[cfg(test)]
mod tests {
    use fetch_url_tests::ServerCert;

    use super::*;
    use crate::Code;

    /// The SHA-256 of the empty string.
    const NOTHING: &str = "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";

    /// Made by `openssl genpkey -algorithm ed25519`. The pin is made from its public key by `openssl pkey -pubout
    /// -outform DER | openssl dgst -sha256 -binary | base64`.
    const PUBLIC: &str = "-----BEGIN PUBLIC KEY-----\n\
        MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n";
    const PUBLIC_PIN: &str = "sha256//oekVYFTgT6yJmunydRMs3Ael28TqLCrTof/G4NJTaB8=";

    #[test]
    fn pins_are_parsed_and_one_of_them_has_to_match() {
        let one = Pins::parse(NOTHING).expect("a pin");
        assert!(one.contains(b""));
        assert!(!one.contains(b"x"));
        let zeros = format!("sha256//{}=", "A".repeat(43));
        for two in [format!("{zeros};{NOTHING}"), format!("{NOTHING}; {zeros}")] {
            assert!(Pins::parse(&two).expect("two pins").contains(b""), "{two}");
        }
    }

    #[test]
    fn invalid_pins_are_usage_errors() {
        let without_padding = NOTHING.trim_end_matches('=');
        let twice = format!("{NOTHING};");
        for text in
            ["", ";", "sha256//", "sha256//AAAA", "sha1//AAAA", &NOTHING[8..], without_padding, &twice]
        {
            let error = Pins::parse(text).expect_err(text);
            assert_eq!((error.code(), error.exit_status()), (Code::Usage, 2), "{text}");
        }
    }

    #[test]
    fn public_key_files_in_pem_and_der_are_read() {
        let pins = Pins::from_public_key(PUBLIC.as_bytes()).expect("PEM");
        assert_eq!(pins, Pins::parse(PUBLIC_PIN).expect("a pin"));
        let der = SubjectPublicKeyInfoDer::from_pem_slice(PUBLIC.as_bytes()).expect("DER");
        assert_eq!(Pins::from_public_key(&der).expect("DER"), pins);
    }

    #[test]
    fn files_without_a_public_key_are_usage_errors() {
        let cert = ServerCert::good().expect("a certificate");
        let der = SubjectPublicKeyInfoDer::from_pem_slice(PUBLIC.as_bytes()).expect("DER");
        let garbage = "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n";
        for (name, file) in [
            ("nothing", &b""[..]),
            ("words", b"words"),
            ("garbage", garbage.as_bytes()),
            ("cut", &der[..der.len() - 1]),
            ("too long", &[&der[..], b"\n"].concat()),
            ("no end of a length", b"\x30\x83\xff"),
            ("a certificate", cert.cert_pem().as_bytes()),
            ("a certificate in DER", cert.cert_der()),
            ("a private key", cert.key_pem().as_bytes()),
        ] {
            let error = Pins::from_public_key(file).expect_err(name);
            assert_eq!((error.code(), error.exit_status()), (Code::Usage, 2), "{name}");
        }
    }
}
