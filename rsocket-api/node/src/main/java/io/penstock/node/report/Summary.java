package io.penstock.node.report;

import static java.util.Objects.requireNonNull;

import java.util.List;

/// What a page says in words, above its charts.
///
/// @param title what the page is about
/// @param verdict one sentence: did all go well, and if not, what did not
/// @param isGood whether it did
/// @param tiles the few figures that people look for first
/// @param groups all the rest
public record Summary(String title, String verdict, boolean isGood, List<Row> tiles, List<Group> groups) {
  public Summary {
    requireNonNull(title, "title");
    requireNonNull(verdict, "verdict");
    tiles = List.copyOf(tiles);
    groups = List.copyOf(groups);
  }

  /// A named value, as people read it.
  public record Row(String name, String value) {
    public Row {
      requireNonNull(name, "name");
      requireNonNull(value, "value");
    }
  }

  /// Rows that belong together.
  public record Group(String name, List<Row> rows) {
    public Group {
      requireNonNull(name, "name");
      rows = List.copyOf(rows);
    }
  }
}
