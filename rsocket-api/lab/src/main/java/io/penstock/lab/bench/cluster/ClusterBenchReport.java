package io.penstock.lab.bench.cluster;

import io.penstock.lab.bench.side.Bench;
import io.penstock.node.text.TextTable;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// What the scenarios found, in the order in which they ran.
record ClusterBenchReport(String penstock, List<Section> sections) implements Bench.Report {
  /// What one scenario found.
  ///
  /// @param setting of the scenario, in words
  record Section(String scenario, String setting, List<Figure> figures) {
    Section {
      figures = List.copyOf(figures);
    }

    boolean isMet() {
      return figures.stream().allMatch(Figure::isMet);
    }
  }

  /// One figure, and the bound that it has to keep.
  ///
  /// @param unit behind the value; empty for a count
  /// @param atLeast null for no such bound
  /// @param atMost null for no such bound
  record Figure(String what, double value, String unit, @Nullable Double atLeast, @Nullable Double atMost) {
    private static final double WHOLE_FROM = 1000;

    /// A figure without a bound.
    static Figure of(String what, double value, String unit) {
      return new Figure(what, value, unit, null, null);
    }

    static Figure atLeast(double least, String what, double value, String unit) {
      return new Figure(what, value, unit, least, null);
    }

    static Figure atMost(double most, String what, double value, String unit) {
      return new Figure(what, value, unit, null, most);
    }

    /// One that has to be zero, such as wrong bytes.
    static Figure none(String what, long value) {
      return atMost(0, what, value, "");
    }

    boolean isMet() {
      return (atLeast == null || value >= atLeast) && (atMost == null || value <= atMost);
    }

    String found() {
      return with(value);
    }

    String target() {
      return atLeast != null ? "≥ " + with(atLeast) : atMost != null ? "≤ " + with(atMost) : "";
    }

    private String with(double number) {
      boolean whole = number == Math.rint(number) || number >= WHOLE_FROM;
      return String.format(Locale.ROOT, whole ? "%,.0f" : "%.3f", number) + (unit.isEmpty() ? "" : " " + unit);
    }
  }

  ClusterBenchReport {
    sections = List.copyOf(sections);
  }

  @Override
  public String table() {
    TextTable table = new TextTable("SCENARIO", "WHAT", "FOUND", "TARGET", "");
    StringBuilder settings = new StringBuilder(System.lineSeparator());
    for (Section section : sections) {
      for (Figure figure : section.figures()) {
        table.row(section.scenario(), figure.what(), figure.found(), figure.target(), figure.isMet() ? "" : "MISSED");
      }
      settings.append(section.scenario()).append(": ").append(section.setting()).append(System.lineSeparator());
    }
    return table.toString() + settings;
  }

  @Override
  public boolean meetsTargets() {
    return sections.stream().allMatch(Section::isMet);
  }
}
