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
/// @param blockBytes bytes of a block of the model, so that numbers of blocks are shown in GiB too; 0 for blocks alone
/// @param marks values of the horizontal axis that stand out
public record ChartData(String axis, Points points, List<Double> seconds, List<Chart> charts, long blockBytes,
    List<Mark> marks) {
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
    marks = List.copyOf(marks);
  }

  /// Lines over time.
  public ChartData(String axis, List<Double> seconds, List<Chart> charts) {
    this(axis, Points.SECONDS, seconds, charts, 0, List.of());
  }

  /// Lines over a number of blocks.
  ///
  /// @param blockBytes bytes of a block of the model
  public static ChartData byBlocks(List<Double> blocks, List<Chart> charts, long blockBytes, List<Mark> marks) {
    return new ChartData("capacity in blocks and GiB", Points.BLOCKS, blocks, charts, blockBytes, marks);
  }

  /// Lines over the turns from 1 to `turns`.
  public static ChartData byTurns(String axis, int turns, List<Chart> charts) {
    return new ChartData(axis, Points.TURNS, IntStream.rangeClosed(1, turns).asDoubleStream().boxed().toList(), charts,
        0, List.of());
  }

  /// A value of the horizontal axis that stands out, by a line from top to bottom.
  ///
  /// @param label its meaning; the page adds the value
  public record Mark(String label, double at) {
    public Mark {
      requireNonNull(label, "label");
    }
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
