//! Bar charts of the figures of `cargo xtask bench`, as SVG.

use serde_json::Value;

const WIDTH: f64 = 720.0;
const LABEL: f64 = 110.0;
const BAR: f64 = 22.0;
const GAP: f64 = 8.0;
const TITLE: f64 = 34.0;
/// The space right of the longest bar, for its figure.
const FIGURE: f64 = 110.0;

/// A bar: the name of a tool and its figure.
type Bar<'a> = (&'a str, f64);

/// Returns a file for each measured row, and its text.
pub(super) fn all(json: &str) -> Result<Vec<(String, String)>, String> {
    let report: Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
    let rows = report["rows"].as_array().filter(|rows| !rows.is_empty()).ok_or("it has no rows")?;
    rows.iter().map(row).collect()
}

fn row(row: &Value) -> Result<(String, String), String> {
    let name = row["workload"].as_str().ok_or("a row has no name")?;
    let tools = row["tools"].as_array().ok_or_else(|| format!("{name} has no tools"))?;
    let bars = |key: &str| -> Result<Vec<Bar<'_>>, String> {
        tools
            .iter()
            .map(|tool| tool["name"].as_str().zip(tool[key].as_f64()))
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| format!("{name}: a tool has no {key}"))
    };
    let charts = [("wall-clock time, ms", bars("wall_ms")?), ("CPU time, ms", bars("cpu_ms")?)];
    let file: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    Ok((format!("{file}.svg"), svg(name, &charts)))
}

/// Draws charts below each other. Less is better.
fn svg(title: &str, charts: &[(&str, Vec<Bar<'_>>)]) -> String {
    let (mut body, mut y) = (String::new(), 0.0);
    for (measure, bars) in charts {
        body += &text(0.0, y + 22.0, "start", &format!("{title}: {measure} (less is better)"), true);
        y += TITLE;
        let most = bars.iter().map(|(_, figure)| *figure).fold(f64::MIN_POSITIVE, f64::max);
        for (name, figure) in bars {
            let width = figure / most * (WIDTH - LABEL - FIGURE);
            let color = if *name == "fetch-url" { "#1f6feb" } else { "#8c959f" };
            body += &text(LABEL - 8.0, y + 16.0, "end", name, false);
            body += &format!(
                "<rect x=\"{LABEL}\" y=\"{y}\" width=\"{width:.1}\" height=\"{BAR}\" fill=\"{color}\"/>\n"
            );
            body += &text(LABEL + width + 6.0, y + 16.0, "start", &format!("{figure:.1}"), false);
            y += BAR + GAP;
        }
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {y}\" width=\"{WIDTH}\" height=\"{y}\" \
         font-family=\"sans-serif\" font-size=\"14\" role=\"img\">\n{body}</svg>\n"
    )
}

fn text(x: f64, y: f64, anchor: &str, text: &str, bold: bool) -> String {
    let weight = if bold { " font-weight=\"bold\"" } else { "" };
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    format!(
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\"{weight} fill=\"#1f2328\">{text}</text>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"{"rows": [{"workload": "big http", "tools": [
        {"name": "fetch-url", "wall_ms": 50.0, "cpu_ms": 40.0},
        {"name": "a<b", "wall_ms": 100.0, "cpu_ms": 80.0}]}]}"#;

    #[test]
    fn bars_are_as_long_as_their_figures() {
        let charts = all(REPORT).unwrap();
        let [(name, svg)] = &charts[..] else { panic!("one row, {} charts", charts.len()) };
        assert_eq!(name, "big-http.svg");
        assert!(svg.contains("width=\"250.0\"") && svg.contains("width=\"500.0\""), "{svg}");
        assert!(svg.contains("a&lt;b") && svg.contains(">100.0</text>"), "{svg}");
    }

    #[test]
    fn a_report_without_figures_is_an_error() {
        assert!(all("no json").is_err());
        assert_eq!(all(r#"{"rows": []}"#).unwrap_err(), "it has no rows");
        let why = all(&REPORT.replace("\"cpu_ms\": 80.0", "\"cpu_ms\": null")).unwrap_err();
        assert_eq!(why, "big http: a tool has no cpu_ms");
    }
}
