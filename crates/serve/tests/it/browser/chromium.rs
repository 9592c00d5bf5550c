//! A headless Chromium, controlled over the pipes of its DevTools protocol.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The maximum wait for a state of a page.
const PATIENCE: Duration = Duration::from_secs(60);

/// A browser with one page. It ends when dropped.
pub(crate) struct Chromium {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    session: String,
    next: u64,
    _profile: tempfile::TempDir,
}

impl Chromium {
    /// Starts the browser with an empty profile.
    pub(crate) fn start() -> Self {
        let profile = tempfile::tempdir().expect("a directory");
        // The protocol uses the descriptors 3 and 4.
        let script = format!(
            "exec chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
             --disable-background-networking --disable-component-update --remote-debugging-pipe \
             --user-data-dir={} about:blank 3<&0 4>&1 >/dev/null 2>&1",
            profile.path().display()
        );
        let mut process = Command::new("sh")
            .args(["-c", &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let (input, output) = (process.stdin.take().expect("a pipe"), process.stdout.take().expect("a pipe"));
        let output = BufReader::new(output);
        let mut this = Self { process, input, output, session: String::new(), next: 0, _profile: profile };
        let target = this.call("Target.createTarget", &json!({"url": "about:blank"}));
        let attached = json!({"targetId": target["targetId"], "flatten": true});
        let session = this.call("Target.attachToTarget", &attached);
        this.session = session["sessionId"].as_str().expect("a session").to_owned();
        this.call("Page.enable", &json!({}));
        this
    }

    /// Calls a method of the protocol and returns its result.
    pub(crate) fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.next += 1;
        let mut message = json!({"id": self.next, "method": method, "params": parameters});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.input.write_all(format!("{message}\0").as_bytes()).expect("the browser runs");
        loop {
            let mut bytes = Vec::new();
            let length = self.output.read_until(0, &mut bytes).expect("the browser runs");
            assert!(length > 0, "the browser has ended");
            let answer: Value =
                serde_json::from_slice(bytes.strip_suffix(b"\0").unwrap_or(&bytes)).expect("JSON");
            if answer["id"] == json!(self.next) {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    }

    /// Sets the width of the window and the theme.
    pub(crate) fn set_window(&mut self, width: u32, height: u32, theme: &str) {
        let metrics =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500});
        self.call("Emulation.setDeviceMetricsOverride", &metrics);
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": theme}]});
        self.call("Emulation.setEmulatedMedia", &features);
    }

    /// Opens a URL as a person who types it.
    pub(crate) fn open(&mut self, url: &str) {
        self.evaluate("window.isOld = true");
        self.call("Page.navigate", &json!({"url": url, "transitionType": "typed"}));
        self.wait_for("window.isOld === undefined && document.readyState === 'complete'");
    }

    /// Returns the value of an expression in the page.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let parameters = json!({"expression": expression, "returnByValue": true});
        self.call("Runtime.evaluate", &parameters)["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, expression: &str) {
        let started = Instant::now();
        while self.evaluate(expression) != json!(true) {
            if started.elapsed() > PATIENCE {
                let text = self.evaluate("location.href + '\\n' + document.body.innerText");
                panic!("{expression} did not become true: {text}");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Clicks in the middle of the element that an expression selects, as with a mouse.
    #[track_caller]
    pub(crate) fn click(&mut self, element: &str) {
        let place = format!(
            "(() => {{ const e = {element}; e.scrollIntoView(); const r = e.getClientRects()[0]; \
             return [r.x + r.width / 2, r.y + r.height / 2]; }})()"
        );
        let place = self.evaluate(&place);
        assert!(place.is_array(), "{element} is missing: {}", self.evaluate("document.body.innerText"));
        for kind in ["mousePressed", "mouseReleased"] {
            let event =
                json!({"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1});
            self.call("Input.dispatchMouseEvent", &event);
        }
    }

    /// Types text into the focused element.
    pub(crate) fn type_text(&mut self, text: &str) {
        self.call("Input.insertText", &json!({"text": text}));
    }

    /// Presses a key: `Enter` or `Tab`.
    pub(crate) fn press(&mut self, key: &str) {
        let (code, text) = if key == "Enter" { (13, "\r") } else { (9, "\t") };
        for kind in ["keyDown", "keyUp"] {
            let event =
                json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text});
            self.call("Input.dispatchKeyEvent", &event);
        }
    }

    /// Returns a PNG picture of the page.
    pub(crate) fn screenshot(&mut self) -> Vec<u8> {
        use base64::Engine as _;
        let picture = self.call("Page.captureScreenshot", &json!({"format": "png"}));
        let data = picture["data"].as_str().expect("a picture");
        base64::engine::general_purpose::STANDARD.decode(data).expect("base64")
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
