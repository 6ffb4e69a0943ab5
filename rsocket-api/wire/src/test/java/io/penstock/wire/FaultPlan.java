package io.penstock.wire;

import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Predicate;
import java.util.stream.Stream;

/// What happens to one connection.
///
/// @param afterBytes the fault comes with this byte of its direction
/// @param amount milliseconds of a stall, which bit is turned over, or how much a later connection carries first
record FaultPlan(Kind kind, boolean towardsClient, long afterBytes, int amount) {
  static final FaultPlan NONE = new FaultPlan(Kind.NONE, true, Long.MAX_VALUE, 0);

  enum Kind {
    /// Nothing happens.
    NONE,
    /// Both ends hear an orderly end, in the middle of a frame.
    CUT,
    /// Both ends hear a reset; over a Unix domain socket only if bytes were left unread.
    RESET,
    /// One end hears the end of its input; what it sends still arrives.
    HALF_CLOSE,
    /// All bytes of both directions vanish from there on, and no end hears of it.
    HALF_OPEN,
    /// Nothing more is taken from either end: their sockets fill.
    FREEZE,
    /// The bytes wait for a while.
    STALL,
    /// One bit is turned over.
    CORRUPT,
    /// The bytes arrive after those of a connection that began later.
    REORDER;

    /// All but [#NONE].
    static List<Kind> faults() {
      return Stream.of(values()).filter(kind -> kind != NONE).toList();
    }

    /// Whether every item on the connection must succeed all the same.
    boolean isHarmless() {
      return this == NONE || this == STALL || this == REORDER;
    }

    /// Whether both ends hear nothing any more.
    boolean isSilent() {
      return this == HALF_OPEN || this == FREEZE;
    }
  }

  /// Any fault that `allowed` lets through, at any magnitude of bytes up to `mostBytes`.
  static FaultPlan random(SplittableRandom random, long mostBytes, Predicate<Kind> allowed) {
    List<Kind> kinds = Kind.faults().stream().filter(allowed).toList();
    Kind kind = kinds.get(random.nextInt(kinds.size()));
    long after = (long) Math.pow(mostBytes, random.nextDouble());
    return new FaultPlan(kind, random.nextBoolean(), after, random.nextInt(8, 150));
  }
}
