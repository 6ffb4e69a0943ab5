package io.penstock.disagg;

import io.penstock.check.Checks;

/// One worker of an instance.
///
/// @param instance name of the engine that the rank belongs to
/// @param rank number of the rank in its instance
public record RankId(String instance, int rank) implements Comparable<RankId> {
  public RankId {
    if (instance.isBlank()) {
      throw new IllegalArgumentException("instance must be a name (was blank)");
    }
    Checks.printable("instance", instance);
    Checks.notNegative("rank", rank);
  }

  /// This rank since its start number `generation`.
  public Incarnation since(long generation) {
    return new Incarnation(this, generation);
  }

  @Override
  public int compareTo(RankId other) {
    int byName = instance.compareTo(other.instance);
    return byName != 0 ? byName : Integer.compare(rank, other.rank);
  }

  @Override
  public String toString() {
    return instance + "/" + rank;
  }
}
