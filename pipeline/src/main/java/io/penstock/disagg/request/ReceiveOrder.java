package io.penstock.disagg.request;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import io.penstock.disagg.Incarnation;
import io.penstock.disagg.RankId;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// Order for one receiving rank and one request.
///
/// @param shards blocks that each source sends; a source appears once. A shard without blocks moves nothing: this rank
///     reports to its source at once that it is done
/// @param releases prefill ranks from which no rank reads, and which this rank releases
/// @param blocks where the shards land: given up if the request does not end well, else left to the engine
/// @param wantsAux whether one of the sources sends [AuxData]
/// @param deadline maximum time until the end
public record ReceiveOrder(String request, List<Shard> shards, List<Incarnation> releases, HeldBlocks blocks,
    boolean wantsAux, FailurePolicy policy, Duration deadline) {
  public ReceiveOrder {
    requireNonNull(request, "request");
    requireNonNull(blocks, "blocks");
    requireNonNull(policy, "policy");
    Checks.atLeastOneMilli("deadline", deadline);
    shards = List.copyOf(shards);
    releases = List.copyOf(releases);
    Set<RankId> sources = new HashSet<>();
    shards.forEach(shard -> requireNew(sources, shard.source()));
    releases.forEach(rank -> requireNew(sources, rank));
  }

  private static void requireNew(Set<RankId> sources, Incarnation source) {
    if (!sources.add(source.rank())) {
      throw new IllegalArgumentException("sources must be distinct (" + source.rank() + " was twice)");
    }
  }

  /// The part of a request that one source sends to this rank.
  ///
  /// @param readers ranks that read from the source for this request, by the plan
  /// @param blocks positions in the request that it has bytes of
  public record Shard(Incarnation source, int readers, GroupBlocks blocks, ShardMover mover) {
    public Shard {
      requireNonNull(source, "source");
      Checks.positive("readers", readers);
      requireNonNull(blocks, "blocks");
      requireNonNull(mover, "mover");
    }
  }
}
