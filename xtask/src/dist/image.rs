//! A container image with the static binary and nothing else but the roots of the certification authorities.
//!
//! The archive has the layout of OCI images, and also the file `manifest.json` from which older versions of
//! `docker load` read an image.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::{Release, archive, copy, create_dir, stage, write};
use crate::program::command_output;

/// The certification authorities of the system that builds, in the place where rustls looks for them.
const AUTHORITIES: &str = "/etc/ssl/certs/ca-certificates.crt";

/// The user of the image, who owns only the working directory.
const USER: &str = "65532";
const HOME: &str = "data";

/// A file in the image that is found by its digest.
struct Blob {
    digest: String,
    size: u64,
}

/// Writes `fetch-url-VERSION-ARCHITECTURE.oci.tar`.
pub(super) fn write_image(release: &Release, binary: &Path) -> Result<(), String> {
    let work = release.out.join("image");
    let layout = work.join("layout");
    let blobs = layout.join("blobs/sha256");
    create_dir(&blobs)?;
    let layers = [system_layer(release, &work, &blobs, binary)?, home_layer(release, &work, &blobs)?];
    let config = json_blob(&work, &blobs, &config(release, &layers)?)?;
    let manifest = json_blob(&work, &blobs, &manifest(&config, &layers))?;

    let tag = format!("fetch-url:{}", release.version);
    let mut index = descriptor("application/vnd.oci.image.manifest.v1+json", &manifest);
    index["annotations"] = json!({ "org.opencontainers.image.ref.name": release.version });
    let index = json!({ "schemaVersion": 2, "manifests": [index] });
    write(&layout.join("index.json"), index.to_string().as_bytes())?;
    write(&layout.join("oci-layout"), b"{\"imageLayoutVersion\":\"1.0.0\"}")?;
    let path = |blob: &Blob| format!("blobs/sha256/{}", blob.digest);
    let docker = json!([{
        "Config": path(&config), "RepoTags": [tag], "Layers": layers.iter().map(path).collect::<Vec<_>>(),
    }]);
    write(&layout.join("manifest.json"), docker.to_string().as_bytes())?;

    let name = format!("fetch-url-{}-{}.oci.tar", release.version, release.platform());
    // `docker load` of some versions does not find names that begin with `./`.
    archive::tar(release, &layout, &release.out.join(name), &["--transform=s,^\\./,,"])?;
    fs::remove_dir_all(&work).map_err(|error| format!("cannot remove {}: {error}", work.display()))
}

/// The binary, the authorities and the name of the user.
fn system_layer(release: &Release, work: &Path, blobs: &Path, binary: &Path) -> Result<Blob, String> {
    let files = work.join("system");
    for folder in ["etc/ssl/certs", "usr/bin"] {
        create_dir(&files.join(folder))?;
    }
    copy(binary, &files.join("usr/bin/fetch-url"))?;
    stage::set_mode(&files.join("usr/bin/fetch-url"), 0o755)?;
    copy(Path::new(AUTHORITIES), &files.join("etc/ssl/certs/ca-certificates.crt"))?;
    let user = format!("fetch-url:x:{USER}:{USER}::/{HOME}:/nonexistent\n");
    write(&files.join("etc/passwd"), user.as_bytes())?;
    layer(release, work, blobs, &files, "0")
}

/// The working directory, into which a volume can be mounted.
fn home_layer(release: &Release, work: &Path, blobs: &Path) -> Result<Blob, String> {
    let files = work.join("home");
    create_dir(&files.join(HOME))?;
    layer(release, work, blobs, &files, USER)
}

fn layer(release: &Release, work: &Path, blobs: &Path, files: &Path, owner: &str) -> Result<Blob, String> {
    let path = work.join("layer.tar");
    let owner = [format!("--owner={owner}"), format!("--group={owner}")];
    let options = [&owner[0], &owner[1], "--transform=s,^\\./,,"];
    archive::tar(release, files, &path, &options)?;
    add(&path, blobs)
}

fn json_blob(work: &Path, blobs: &Path, value: &Value) -> Result<Blob, String> {
    let path = work.join("value.json");
    write(&path, value.to_string().as_bytes())?;
    add(&path, blobs)
}

/// Moves a file to the blobs, under its digest.
fn add(path: &Path, blobs: &Path) -> Result<Blob, String> {
    let sum = command_output(Command::new("sha256sum").arg("--").arg(path))?;
    let digest = sum.split(' ').next().unwrap_or_default().to_owned();
    let size = fs::metadata(path).map(|file| file.len());
    let moved = size.and_then(|size| fs::rename(path, blobs.join(&digest)).map(|()| size));
    let size = moved.map_err(|error| format!("cannot move {}: {error}", path.display()))?;
    Ok(Blob { digest, size })
}

fn config(release: &Release, layers: &[Blob]) -> Result<Value, String> {
    let created = command_output(
        Command::new("date").args(["-u", "-d", &format!("@{}", release.epoch)]).arg("+%FT%TZ"),
    )?;
    Ok(json!({
        "architecture": if release.target.starts_with("aarch64") { "arm64" } else { "amd64" },
        "os": "linux",
        "created": created.trim(),
        "config": {
            "User": format!("{USER}:{USER}"),
            "WorkingDir": format!("/{HOME}"),
            "Entrypoint": ["/usr/bin/fetch-url"],
            "Env": ["PATH=/usr/bin", format!("HOME=/{HOME}")],
            "Labels": {
                "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
                "org.opencontainers.image.version": release.version,
            },
        },
        "rootfs": {
            "type": "layers",
            // The layers are not compressed, so these are their digests in the manifest, too.
            "diff_ids": layers.iter().map(|layer| format!("sha256:{}", layer.digest)).collect::<Vec<_>>(),
        },
    }))
}

fn manifest(config: &Blob, layers: &[Blob]) -> Value {
    let layer = |blob| descriptor("application/vnd.oci.image.layer.v1.tar", blob);
    json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": descriptor("application/vnd.oci.image.config.v1+json", config),
        "layers": layers.iter().map(layer).collect::<Vec<_>>(),
    })
}

fn descriptor(media_type: &str, blob: &Blob) -> Value {
    json!({ "mediaType": media_type, "digest": format!("sha256:{}", blob.digest), "size": blob.size })
}
