package io.penstock.node.text;

import java.util.ArrayList;
import java.util.List;

/// Rows and columns in plain text, two spaces apart; numbers line up at the right, and counts (`int` and `long`) have
/// separators.
public final class TextTable {
  private static final String GAP = "  ";
  private static final String NUMBER = "-?[0-9][0-9.,]*( ?([KMGT]i?B|B|M|%|ms|s|us|GB/s|MB/s))?";

  private final List<String> heads;
  private final List<List<String>> rows = new ArrayList<>();
  private boolean wraps;

  public TextTable(String... heads) {
    this.heads = List.of(heads);
  }

  /// Breaks the last column so that lines fit 80 columns.
  public TextTable wrapped() {
    wraps = true;
    return this;
  }

  /// `line` broken at spaces to fit 80 columns; the lines after the first are indented.
  public static String wrapped(String line, int indent) {
    return Terminal.wrapped(line, indent);
  }

  /// Adds a row; it has as many cells as there are heads. Text of a cell may come from anywhere: what a terminal cannot
  /// show is replaced by its number.
  public TextTable row(Object... cells) {
    if (cells.length != heads.size()) {
      throw new IllegalArgumentException("cells must be " + heads.size() + " (was " + cells.length + ")");
    }
    List<String> row = new ArrayList<>();
    for (Object cell : cells) {
      row.add(cell instanceof Integer || cell instanceof Long
          ? Numbers.of(((Number) cell).longValue())
          : Reason.printable(String.valueOf(cell)));
    }
    rows.add(row);
    return this;
  }

  /// The whole table; lines end with a line feed, and none with spaces.
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    line(text, heads);
    rows.forEach(row -> line(text, row));
    return text.toString();
  }

  private void line(StringBuilder text, List<String> cells) {
    StringBuilder line = new StringBuilder();
    for (int column = 0; column < cells.size(); column++) {
      String cell = cells.get(column);
      String padding = " ".repeat(width(column) - cell.length());
      line.append(isNumeric(column) ? padding + cell : cell + padding).append(GAP);
    }
    String whole = line.toString().stripTrailing();
    text.append(wraps ? Terminal.wrapped(whole, lastColumn()) : whole).append('\n');
  }

  private int lastColumn() {
    int start = 0;
    for (int column = 0; column < heads.size() - 1; column++) {
      start += width(column) + GAP.length();
    }
    return start;
  }

  private int width(int column) {
    return rows.stream().mapToInt(row -> row.get(column).length()).reduce(heads.get(column).length(), Math::max);
  }

  private boolean isNumeric(int column) {
    return !rows.isEmpty() && rows.stream().allMatch(row -> row.get(column).matches(NUMBER));
  }
}
