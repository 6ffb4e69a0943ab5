package io.penstock.examples.disaggregated.node;

import io.penstock.disagg.request.HeldBlocks;
import io.penstock.examples.disaggregated.rank.Deployment;
import io.penstock.examples.disaggregated.rank.KvBlock;
import io.penstock.examples.disaggregated.rank.PrefillSteps;
import io.penstock.examples.disaggregated.rank.RankCache;
import io.penstock.examples.disaggregated.rank.Sequence;
import io.penstock.flow.Production;
import io.penstock.flow.PushLayers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// Sends the cache of one request while it is computed: a layer of the blocks that a chunk has filled is ready as soon
/// as it is written.
final class Pushing implements PrefillSteps, AutoCloseable {
  private final Deployment deployment;
  private final List<RankPush> ranks = new ArrayList<>();

  /// Blocks that one rank sends. A rank without a block of the prompt sends nothing.
  private static final class RankPush {
    private final RankCache cache;
    private final int blocks;
    /// Blocks of the chunks so far; the production hands them to the thread that sends.
    private final KvBlock[] chunked;
    private final Production production;
    private int sentBlocks;
    private int endBlock;
    private Production.@Nullable Chunk chunk;

    RankPush(RankCache cache, int blocks, PushLayers outlet, String request) {
      this.cache = cache;
      this.blocks = blocks;
      this.chunked = new KvBlock[blocks];
      this.production = outlet.begin(request, blocks, (block, granules) -> chunked[block].span(granules));
    }

    /// Whole blocks, and with the last chunk the rest.
    void chunk(int end, boolean last) {
      sentBlocks = endBlock;
      endBlock = last ? blocks : cache.fullBlocks(end);
      for (int block = sentBlocks; block < endBlock; block++) {
        chunked[block] = cache.block(block);
      }
      chunk = endBlock > sentBlocks ? production.chunk(endBlock - sentBlocks) : null;
    }

    void layer(int layer) {
      Production.Chunk open = chunk;
      if (open != null) {
        cache.finish(layer, sentBlocks, endBlock);
        open.ready(layer - cache.shard().firstLayer());
      }
    }
  }

  /// @param outlets where the readers of a rank ask, by the number of the rank
  Pushing(Sequence sequence, Map<Integer, PushLayers> outlets, String request, int promptTokens) {
    this.deployment = sequence.deployment();
    for (int rank = 0; rank < sequence.workers().size(); rank++) {
      RankCache cache = sequence.workers().get(rank).cache();
      PushLayers outlet = outlets.get(rank);
      int blocks = cache.shard().blocks(promptTokens);
      if (blocks > 0 && outlet != null) {
        ranks.add(new RankPush(cache, blocks, outlet, request));
      }
    }
  }

  @Override
  public void chunk(int end, boolean last) {
    ranks.forEach(rank -> rank.chunk(end, last));
  }

  @Override
  public void layer(int layer) {
    int stage = deployment.stageOf(layer);
    ranks.stream().filter(rank -> rank.cache.shard().rank().stage() == stage).forEach(rank -> rank.layer(layer));
  }

  /// All layers of all blocks are ready.
  void end() {
    ranks.forEach(rank -> rank.production.end());
  }

  /// Blocks of the request that a rank keeps. If it is given up, readers that have not got all of it fail.
  HeldBlocks held(RankCache cache) {
    return () -> Mono.fromRunnable(() -> {
      ranks.stream().filter(rank -> rank.cache.equals(cache)).forEach(rank -> rank.production.close());
      cache.close();
    });
  }

  /// Forgets the request: readers that have not got all of it fail.
  @Override
  public void close() {
    ranks.forEach(rank -> rank.production.close());
  }
}
