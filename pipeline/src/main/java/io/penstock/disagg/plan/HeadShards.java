package io.penstock.disagg.plan;

import io.penstock.check.Checks;

/// Assigns KV heads to tensor-parallel ranks.
///
/// A rank keeps all heads that its share of the query heads attends to: share `t` of `tp` equal shares of `[0, heads)`,
/// widened to whole heads. So heads are replicated where ranks outnumber them, and at the borders where `heads` and
/// `tp` do not divide each other.
///
/// @param heads KV heads of the model; 1 for latents
/// @param tp tensor-parallel ranks
/// @param dcp ranks with equal heads that split the blocks of a sequence
public record HeadShards(int heads, int tp, int dcp) {
  /// @throws PlanRefusedException if ranks that split a sequence would keep different heads
  public HeadShards {
    Checks.positive("heads", heads);
    Checks.positive("tp", tp);
    Checks.positive("dcp", dcp);
    if (dcp > 1 && (tp % heads != 0 || tp / heads % dcp != 0)) {
      throw new PlanRefusedException("dcp", dcp, "tp / kvHeads", tp + " / " + heads,
          "dcp must divide tp / kvHeads, the ranks with equal heads");
    }
  }

  /// First head of a rank.
  public int first(int rank) {
    return (int) ((long) rank * heads / tp);
  }

  /// Head after the last of a rank.
  public int end(int rank) {
    return (int) Math.ceilDiv((rank + 1L) * heads, tp);
  }

  /// Heads of a rank.
  public int count(int rank) {
    return end(rank) - first(rank);
  }

  /// First rank that keeps a head; those that do follow each other.
  private int firstHolder(int head) {
    return (int) ((long) head * tp / heads);
  }

  private int endOfHolders(int head) {
    return (int) Math.ceilDiv((head + 1L) * tp, heads);
  }

  /// Copies of a head: each is `dcp` ranks that together keep all tokens of a prefill context rank.
  public int copies(int head) {
    return (endOfHolders(head) - firstHolder(head)) / dcp;
  }

  /// The copy of a head that a rank belongs to.
  public int copy(int head, int rank) {
    return (rank - firstHolder(head)) / dcp;
  }

  /// The rank of a copy with the given place among the `dcp` ranks.
  public int rank(int head, int copy, int place) {
    return firstHolder(head) + copy * dcp + place;
  }
}
