package io.penstock.wire.cluster.tier;

import io.penstock.check.Checks;

/// How a client spreads new blocks over the members of a cluster.
///
/// @param copies members that get each new block, at different places where there are such; 1 to 8. A block that a
///     member has already is not copied
/// @param exact whether blocks go where they do in one pool as large as all members, which keeps what was used last:
///     for measurements. Every look-up and every put then asks all members, one put after another places run by run,
///     each at the member whose next victim is oldest now, and a put counts as a use of blocks that are there. Exact
///     as long as this client is alone, the nodes run with `exact` and the policy `lru`, and the clocks of their hosts
///     agree to less than the time between two requests
public record Spread(int copies, boolean exact) {
  /// Most copies of a block.
  public static final int MOST_COPIES = 8;

  public Spread {
    Checks.positive("copies", copies);
    if (copies > (exact ? 1 : MOST_COPIES)) {
      throw new IllegalArgumentException(
          "copies must be <= " + MOST_COPIES + ", and 1 if exact (was " + copies + ")");
    }
  }

  /// One copy, placed by what members have told.
  public static Spread defaults() {
    return new Spread(1, false);
  }

  public Spread withCopies(int newCopies) {
    return new Spread(newCopies, exact);
  }

  public Spread withExact(boolean newExact) {
    return new Spread(copies, newExact);
  }
}
