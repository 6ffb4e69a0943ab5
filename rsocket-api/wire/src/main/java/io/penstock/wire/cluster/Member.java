package io.penstock.wire.cluster;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import java.util.List;

/// One start of a node of a cluster.
///
/// @param name of the node, unique in its cluster
/// @param generation number of this start; the node tells clients the same at hello
/// @param endpoints where clients reach it, as [io.penstock.wire.transport.Endpoint#parse] reads them, preferred first
/// @param place where it stands, from wide to narrow, such as `zone1/rack7/host3`; empty if unknown
/// @param state whether it takes new blocks
/// @param figures how full and how busy it was when it told last
public record Member(String name, long generation, List<String> endpoints, String place, State state,
    Figures figures) {
  /// Whether a member takes new blocks.
  public enum State {
    UP,
    /// Its blocks can be read and move to others; it takes no new ones.
    DRAINING
  }

  /// How full and how busy a member is.
  ///
  /// @param bytes of its visible blocks
  /// @param capacityBytes most bytes of blocks; `Long.MAX_VALUE` if unbounded
  /// @param inFlightBytes bytes on their way in and out
  /// @param idleMillis time since the last use of the block that leaves next, in milliseconds; 0 if there is none, or
  ///     it is not told. Of two full members, new blocks do the least harm at the one where it is longer
  public record Figures(long bytes, long capacityBytes, long inFlightBytes, long idleMillis) {
    public static final Figures NONE = new Figures(0, 0, 0);

    /// Figures of a member that does not tell when its blocks were used.
    public Figures(long bytes, long capacityBytes, long inFlightBytes) {
      this(bytes, capacityBytes, inFlightBytes, 0);
    }

    public Figures {
      Checks.notNegative("idleMillis", idleMillis);
      Checks.notNegative("bytes", bytes);
      Checks.notNegative("capacityBytes", capacityBytes);
      Checks.notNegative("inFlightBytes", inFlightBytes);
    }

    public long freeBytes() {
      return Math.max(0, capacityBytes - bytes);
    }
  }

  public Member {
    requireNonNull(name, "name");
    endpoints = List.copyOf(endpoints);
    requireNonNull(place, "place");
    requireNonNull(state, "state");
    requireNonNull(figures, "figures");
  }

  /// This member, with another age of its next victim.
  public Member withIdle(long idleMillis) {
    return new Member(name, generation, endpoints, place, state,
        new Figures(figures.bytes, figures.capacityBytes, figures.inFlightBytes, idleMillis));
  }

  /// Number of words that two places have in common, from the widest on: the more, the nearer.
  public static int nearness(String one, String other) {
    String[] ones = one.split("/", -1);
    String[] others = other.split("/", -1);
    int common = 0;
    while (common < Math.min(ones.length, others.length) && !ones[common].isEmpty()
        && ones[common].equals(others[common])) {
      common++;
    }
    return common;
  }
}
