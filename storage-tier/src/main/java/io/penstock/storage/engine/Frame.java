package io.penstock.storage.engine;

/// What stands at a place where a frame of a segment should begin.
///
/// @param kind what it is
/// @param length bytes that follow the frame's own: a record, data or an end mark of the engine's
public record Frame(Kind kind, int length) {
  static final Frame END = new Frame(Kind.END, 0);
  static final Frame BROKEN = new Frame(Kind.BROKEN, 0);

  /// What a frame is.
  public enum Kind {
    /// A record follows.
    RECORD,
    /// Data of the engine's own follow.
    OTHER,
    /// Nothing was written from here on.
    END,
    /// No frame: never finished, or damaged.
    BROKEN
  }
}
