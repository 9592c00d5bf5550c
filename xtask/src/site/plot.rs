//! Bar charts of the figures of `cargo xtask bench`, as SVG.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use serde_json::Value;

const WIDTH: u32 = 720;
/// The height of a chart without its bars, and of a bar, in pixels.
const FRAME: usize = 50;
const BAR: usize = 30;
/// The space for the names of the tools.
const NAMES: u32 = 100;
/// The bars end here, as a part of the width, so that their figures fit.
const LONGEST: f64 = 0.85;
const OURS: RGBColor = RGBColor(31, 111, 235);
const THEIRS: RGBColor = RGBColor(140, 149, 159);

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
    Ok((format!("{file}.svg"), svg(name, &charts)?))
}

/// Draws charts below each other. Less is better.
fn svg(title: &str, charts: &[(&str, Vec<Bar<'_>>)]) -> Result<String, String> {
    let heights: Vec<usize> = charts.iter().map(|(_, bars)| FRAME + BAR * bars.len()).collect();
    let height = u32::try_from(heights.iter().sum::<usize>()).unwrap_or(u32::MAX);
    let mut text = String::new();
    let mut area = SVGBackend::with_string(&mut text, (WIDTH, height)).into_drawing_area();
    area.fill(&WHITE).map_err(|error| error.to_string())?;
    for ((measure, bars), height) in charts.iter().zip(heights) {
        let (chart, rest) = area.split_vertically(u32::try_from(height).unwrap_or(u32::MAX));
        let title = format!("{title}: {measure} (less is better)");
        draw(&chart, &title, bars).map_err(|error| error.to_string())?;
        area = rest;
    }
    area.present().map_err(|error| error.to_string())?;
    drop(area);
    Ok(text)
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type DrawingError<'a> = DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>;

fn draw<'a>(area: &Area<'a>, title: &str, bars: &[Bar<'_>]) -> Result<(), DrawingError<'a>> {
    let most = bars.iter().map(|(_, figure)| *figure).fold(f64::MIN_POSITIVE, f64::max);
    let rows = i32::try_from(bars.len()).unwrap_or(i32::MAX);
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 16))
        .margin(8)
        .set_label_area_size(LabelAreaPosition::Left, NAMES)
        // The first tool is at the top.
        .build_cartesian_2d(0.0..most / LONGEST, (f64::from(rows) - 0.5)..-0.5)?;
    let name = |place: Pos| TextStyle::from(("sans-serif", 14)).pos(place);
    for (row, (tool, figure)) in (0_i32..).map(f64::from).zip(bars) {
        let color = if *tool == "fetch-url" { OURS } else { THEIRS };
        let bar = Rectangle::new([(0.0, row - 0.35), (*figure, row + 0.35)], color.filled());
        let right = name(Pos::new(HPos::Right, VPos::Center));
        let left = name(Pos::new(HPos::Left, VPos::Center));
        let label = EmptyElement::at((0.0, row)) + Text::new((*tool).to_owned(), (-6, 0), right);
        let value = EmptyElement::at((*figure, row)) + Text::new(format!("{figure:.1}"), (6, 0), left);
        chart.draw_series([bar])?;
        chart.draw_series([label])?;
        chart.draw_series([value])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"{"rows": [{"workload": "big http", "tools": [
        {"name": "fetch-url", "wall_ms": 50.0, "cpu_ms": 40.0},
        {"name": "a<b", "wall_ms": 100.0, "cpu_ms": 80.0}]}]}"#;

    fn width(element: &str) -> f64 {
        let (_, rest) = element.split_once(" width=\"").unwrap();
        rest.split('"').next().unwrap().parse().unwrap()
    }

    #[test]
    fn bars_are_as_long_as_their_figures() {
        let charts = all(REPORT).unwrap();
        let [(name, svg)] = &charts[..] else { panic!("one row, {} charts", charts.len()) };
        assert_eq!(name, "big-http.svg");
        let widths: Vec<f64> = svg.split("<rect ").skip(2).map(width).collect();
        assert!((widths[0] * 2.0 - widths[1]).abs() <= 2.0, "{svg}");
        assert!(svg.ends_with("</svg>\n") && svg.matches("</svg>").count() == 1, "{svg}");
        assert!(svg.contains("a&lt;b") && svg.contains("100.0"), "{svg}");
    }

    #[test]
    fn a_report_without_figures_is_an_error() {
        assert!(all("no json").is_err());
        assert_eq!(all(r#"{"rows": []}"#).unwrap_err(), "it has no rows");
        let why = all(&REPORT.replace("\"cpu_ms\": 80.0", "\"cpu_ms\": null")).unwrap_err();
        assert_eq!(why, "big http: a tool has no cpu_ms");
    }
}
