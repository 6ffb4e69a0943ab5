package io.penstock.node.setting;

import java.nio.file.Path;

/// Source of a value; later kinds win over earlier ones.
///
/// @param kind which of the four sources
/// @param where the place inside it, as a user would name it
public record Origin(Kind kind, String where) {
  /// The sources, in ascending order.
  public enum Kind {
    /// No source gave a value.
    DEFAULT,
    /// The file named by `--config` or `PENSTOCK_CONFIG`.
    FILE,
    /// A variable `PENSTOCK_…`, or one of another program with the same meaning.
    ENVIRONMENT,
    /// An option of the command line.
    FLAG
  }

  public static Origin ofDefault() {
    return new Origin(Kind.DEFAULT, "default");
  }

  public static Origin ofFile(Path file, int line) {
    return new Origin(Kind.FILE, file + " line " + line);
  }

  public static Origin ofEnvironment(String variable) {
    return new Origin(Kind.ENVIRONMENT, variable);
  }

  public static Origin ofFlag(String flag) {
    return new Origin(Kind.FLAG, flag);
  }

  @Override
  public String toString() {
    return where;
  }
}
