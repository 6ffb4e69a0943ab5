package io.penstock.wire.cluster;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;

/// Work that a member is to do with its own blocks, while it serves.
///
/// @param kind of the work
/// @param pattern regular expression of RE2 that is searched for in the hex digits of a block's hash; empty for all
///     blocks. Copies, moves and removals alone
/// @param to name of the member that gets the blocks; empty for the best one for each. Copies and moves alone
/// @param bytesPerSecond most bytes that it sends; 0 for the node's own bound
/// @param space name of the only space that is meant; empty for all. Removals alone
public record TaskOrder(Kind kind, String pattern, String to, long bytesPerSecond, String space) {
  /// What is done.
  public enum Kind {
    /// The member takes no new blocks, and gives all it has to others.
    DRAIN,
    /// The member takes new blocks again.
    RESUME,
    /// The member gives blocks to emptier ones, until it is as full as the average.
    REBALANCE,
    /// Others get copies.
    COPY,
    /// Others get the blocks.
    MOVE,
    /// The blocks are removed.
    REMOVE
  }

  public TaskOrder {
    requireNonNull(kind, "kind");
    requireNonNull(pattern, "pattern");
    requireNonNull(to, "to");
    requireNonNull(space, "space");
    Checks.notNegative("bytesPerSecond", bytesPerSecond);
    boolean picks = kind == Kind.COPY || kind == Kind.MOVE || kind == Kind.REMOVE;
    if (!picks && !pattern.isEmpty()) {
      throw new IllegalArgumentException("pattern must be empty for " + kind + " (was " + pattern + ")");
    }
    if (!to.isEmpty() && (!picks || kind == Kind.REMOVE)) {
      throw new IllegalArgumentException("to must be empty for " + kind + " (was " + to + ")");
    }
    if (!space.isEmpty() && kind != Kind.REMOVE) {
      throw new IllegalArgumentException("space must be empty for " + kind + " (was " + space + ")");
    }
  }

  /// An order for all spaces.
  public TaskOrder(Kind kind, String pattern, String to, long bytesPerSecond) {
    this(kind, pattern, to, bytesPerSecond, "");
  }

  public static TaskOrder of(Kind kind) {
    return new TaskOrder(kind, "", "", 0);
  }
}
