package io.penstock.node.report;

import static java.util.Objects.requireNonNull;

import java.util.List;

/// Text of a page, above its charts.
///
/// @param title subject of the page
/// @param verdict one sentence: did all go well, and if not, what did not
/// @param isGood whether all went well
/// @param tiles the few figures that people look for first
/// @param groups all the rest
/// @param tables figures that are read in columns
public record Summary(String title, String verdict, boolean isGood, List<Row> tiles, List<Group> groups,
    List<Table> tables) {
  public Summary {
    requireNonNull(title, "title");
    requireNonNull(verdict, "verdict");
    tiles = List.copyOf(tiles);
    groups = List.copyOf(groups);
    tables = List.copyOf(tables);
  }

  /// Without tables.
  public Summary(String title, String verdict, boolean isGood, List<Row> tiles, List<Group> groups) {
    this(title, verdict, isGood, tiles, groups, List.of());
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

  /// Rows of figures under common columns.
  public record Table(String name, List<String> columns, List<TableRow> rows) {
    public Table {
      requireNonNull(name, "name");
      columns = List.copyOf(columns);
      rows = List.copyOf(rows);
    }
  }

  /// Figures of one row, from the first column on; a row may end early.
  public record TableRow(String name, List<String> values) {
    public TableRow {
      requireNonNull(name, "name");
      values = List.copyOf(values);
    }
  }
}
