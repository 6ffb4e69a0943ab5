package io.penstock.node.report;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Lines over time, or over a number of blocks, for a page that is not of a replay: its JSON is what `page.js` expects.
///
/// @param axis what the seconds count from, or what the blocks are
/// @param blocks whether `seconds` are numbers of blocks, on a logarithmic axis
/// @param seconds where the points stand, ascending
/// @param charts one below the other
public record ChartData(String axis, boolean blocks, List<Double> seconds, List<Chart> charts) {
  public ChartData {
    requireNonNull(axis, "axis");
    seconds = List.copyOf(seconds);
    charts = List.copyOf(charts);
  }

  /// Lines over time.
  public ChartData(String axis, List<Double> seconds, List<Chart> charts) {
    this(axis, false, seconds, charts);
  }

  /// Lines over a number of blocks.
  public static ChartData byBlocks(String axis, List<Double> blocks, List<Chart> charts) {
    return new ChartData(axis, true, blocks, charts);
  }

  /// Lines that share an axis.
  ///
  /// @param id letters, unique in the page
  /// @param about one sentence below the title
  /// @param axis what stands at the axis
  /// @param unit behind each value; `time` if values are microseconds
  public record Chart(String id, String title, String about, String axis, String unit, boolean logarithmic,
      List<Line> lines) {
    public Chart {
      requireNonNull(id, "id");
      requireNonNull(title, "title");
      requireNonNull(about, "about");
      requireNonNull(axis, "axis");
      requireNonNull(unit, "unit");
      lines = List.copyOf(lines);
    }
  }

  /// A value at each point, null where there is none. A list of one value is a horizontal line.
  public record Line(String label, List<@Nullable Double> values) {
    public Line {
      requireNonNull(label, "label");
      values = Collections.unmodifiableList(new ArrayList<>(values));
    }

    /// The same value at each point.
    public static Line level(String label, double value) {
      return new Line(label, Collections.singletonList(value));
    }
  }
}
