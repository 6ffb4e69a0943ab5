package io.penstock.disagg.plan;

import io.penstock.check.Checks;
import java.util.List;
import java.util.stream.IntStream;

/// How one instance splits a model over its devices. A data-parallel replica is complete: a request lives on one of
/// them, so ranks are counted within a replica.
///
/// @param tp tensor-parallel ranks, which split heads
/// @param pp pipeline stages, which split layers
/// @param dp data-parallel replicas
/// @param pcp prefill context parallelism: ranks that split the blocks of a sequence
/// @param dcp decode context parallelism: tensor-parallel ranks with equal heads that split the blocks of a sequence
public record Parallelism(int tp, int pp, int dp, int pcp, int dcp) {
  /// Maximum number of ranks, above those of any real instance; bounds the requests of a manifest from outside.
  private static final int MOST_RANKS = 1 << 16;

  public Parallelism {
    Checks.positive("tp", tp);
    Checks.positive("pp", pp);
    Checks.positive("dp", dp);
    Checks.positive("pcp", pcp);
    Checks.positive("dcp", dcp);
    if (tp > MOST_RANKS || pp > MOST_RANKS || pcp > MOST_RANKS || (long) tp * pp * pcp > MOST_RANKS) {
      throw new IllegalArgumentException(
          "tp × pp × pcp must be <= %d (was %d × %d × %d)".formatted(MOST_RANKS, tp, pp, pcp));
    }
  }

  /// Tensor parallelism alone.
  public static Parallelism ofTp(int tp) {
    return new Parallelism(tp, 1, 1, 1, 1);
  }

  public Parallelism withPp(int stages) {
    return new Parallelism(tp, stages, dp, pcp, dcp);
  }

  public Parallelism withContext(int newPcp, int newDcp) {
    return new Parallelism(tp, pp, dp, newPcp, newDcp);
  }

  /// Ranks of one data-parallel replica.
  public int ranks() {
    return tp * pp * pcp;
  }

  /// Number of ranks that share the blocks of a sequence, by turns.
  public int contextRanks() {
    return pcp * dcp;
  }

  /// The context rank of a rank: it keeps block `g` of a sequence if `g % contextRanks` is that number, as its local
  /// block `g / contextRanks`.
  public int contextRank(Rank rank) {
    return rank.pcp() * dcp + rank.tp() % dcp;
  }

  /// The number of a rank in its replica: stages outermost, then prefill context, then tensor-parallel ranks.
  public int index(Rank rank) {
    Checks.within("stage", rank.stage(), pp);
    Checks.within("pcp", rank.pcp(), pcp);
    Checks.within("tp", rank.tp(), tp);
    return (rank.stage() * pcp + rank.pcp()) * tp + rank.tp();
  }

  /// The rank of a number.
  public Rank rank(int index) {
    Checks.within("index", index, ranks());
    return new Rank(index / tp / pcp, index / tp % pcp, index % tp);
  }

  /// All ranks of a replica, ordered by their numbers.
  public List<Rank> allRanks() {
    return IntStream.range(0, ranks()).mapToObj(this::rank).toList();
  }
}
