package io.penstock.examples.disaggregated.rank;

import io.penstock.block.BlockLayout;
import io.penstock.block.SlabArena;
import io.penstock.examples.disaggregated.model.ModelShard;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/// A model that is split over ranks: the weights of each rank, which has no others, and the memory of their caches.
/// Ranks with blocks of one shape share an arena.
public final class Instance implements AutoCloseable {
  private final Deployment deployment;
  private final List<Shard> shards;
  private final List<ModelShard> weights;
  private final Map<BlockLayout, SlabArena> arenas = new HashMap<>();

  /// @param requests most requests that are open at one time
  /// @param tokens most tokens of each of them
  public Instance(Deployment deployment, int requests, int tokens) {
    this.deployment = deployment;
    this.shards = deployment.shards();
    int tensorRanks = deployment.parallelism().tp();
    this.weights = deployment.model().load(shards.stream().map(shard -> shard.part(tensorRanks)).toList());
    Map<BlockLayout, Integer> slots = new HashMap<>();
    shards.forEach(shard -> slots.merge(shard.layout(), Math.max(1, requests * shard.blocks(tokens)), Integer::sum));
    slots.forEach((layout, count) -> arenas.put(layout, new SlabArena("cache", layout, count, 1)));
  }

  public Deployment deployment() {
    return deployment;
  }

  /// Begins a request, whose ranks have no block yet.
  public Sequence open(String request) {
    return new Sequence(deployment,
        IntStream.range(0, shards.size()).mapToObj(rank -> worker(rank, request)).toList());
  }

  /// Bytes of the weights of each rank.
  public List<Long> weightBytes() {
    return weights.stream().map(ModelShard::bytes).toList();
  }

  private Worker worker(int rank, String request) {
    Shard shard = shards.get(rank);
    SlabArena arena = arenas.get(shard.layout());
    if (arena == null) {
      throw new IllegalStateException("arena must be there for " + shard);
    }
    return new Worker(weights.get(rank), new RankCache(shard, arena, request));
  }

  /// Blocks in use; 0 once all requests are closed.
  public long claimedBlocks() {
    return arenas.values().stream().mapToLong(SlabArena::claimedSlots).sum();
  }

  @Override
  public void close() {
    arenas.values().forEach(SlabArena::close);
  }
}
