package io.penstock.node.report;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// Lines over time, over a number of blocks, or over the turns of a conversation, for a page that is not of a replay:
/// its JSON is what `page.js` expects.
///
/// @param axis the title of the horizontal axis
/// @param points what `seconds` count
/// @param seconds where the points stand, ascending
/// @param charts one below the other
public record ChartData(String axis, Points points, List<Double> seconds, List<Chart> charts) {
  /// Meaning of the points of a line.
  public enum Points {
    /// Time, from 0.
    SECONDS,
    /// Numbers of blocks, on a logarithmic axis.
    BLOCKS,
    /// Numbers of turns, each with a value of its own.
    TURNS
  }

  public ChartData {
    requireNonNull(axis, "axis");
    requireNonNull(points, "points");
    seconds = List.copyOf(seconds);
    charts = List.copyOf(charts);
  }

  /// Lines over time.
  public ChartData(String axis, List<Double> seconds, List<Chart> charts) {
    this(axis, Points.SECONDS, seconds, charts);
  }

  /// Lines over a number of blocks.
  public static ChartData byBlocks(String axis, List<Double> blocks, List<Chart> charts) {
    return new ChartData(axis, Points.BLOCKS, blocks, charts);
  }

  /// Lines over the turns from 1 to `turns`.
  public static ChartData byTurns(String axis, int turns, List<Chart> charts) {
    return new ChartData(axis, Points.TURNS, IntStream.rangeClosed(1, turns).asDoubleStream().boxed().toList(), charts);
  }

  /// Lines that share an axis.
  ///
  /// @param id letters, unique in the page
  /// @param about one sentence below the title
  /// @param axis title of the axis
  /// @param unit behind each value; `time` if values are microseconds
  /// @param stacked whether each line begins where the line before ends
  public record Chart(String id, String title, String about, String axis, String unit, boolean logarithmic,
      boolean stacked, List<Line> lines) {
    public Chart {
      requireNonNull(id, "id");
      requireNonNull(title, "title");
      requireNonNull(about, "about");
      requireNonNull(axis, "axis");
      requireNonNull(unit, "unit");
      lines = List.copyOf(lines);
    }

    /// Lines that each begin at 0.
    public Chart(String id, String title, String about, String axis, String unit, boolean logarithmic,
        List<Line> lines) {
      this(id, title, about, axis, unit, logarithmic, false, lines);
    }
  }

  /// A value at each point, null where there is none. A list of one value is a horizontal line.
  public record Line(String label, List<@Nullable Double> values) {
    /// Written out: a compact constructor would lose the annotation of its parameter in the class file.
    public Line(String label, List<@Nullable Double> values) {
      this.label = requireNonNull(label, "label");
      this.values = Collections.unmodifiableList(new ArrayList<>(values));
    }

    /// A line with one value at all points.
    public static Line level(String label, double value) {
      return new Line(label, Collections.singletonList(value));
    }
  }
}
