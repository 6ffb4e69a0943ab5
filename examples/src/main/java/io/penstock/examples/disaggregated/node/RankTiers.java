package io.penstock.examples.disaggregated.node;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.BlockView;
import io.penstock.block.SliceShape;
import io.penstock.disagg.request.HeldBlocks;
import io.penstock.examples.disaggregated.rank.Deployment;
import io.penstock.examples.disaggregated.rank.RankCache;
import io.penstock.examples.disaggregated.rank.Sequence;
import io.penstock.examples.disaggregated.rank.Shard;
import io.penstock.tier.BlockTier;
import io.penstock.tier.OnMiss;
import io.penstock.tier.PutSource;
import io.penstock.tier.spi.ViewLanding;
import io.penstock.tier.spi.ViewSource;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// The finished blocks of an instance: a tier for each rank, by content. So a prompt that begins as an earlier one
/// finds the blocks of its beginning.
final class RankTiers implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private final Deployment deployment;
  private final List<BlockTier> tiers;

  /// @param make the tier of a rank, closed with this
  RankTiers(Deployment deployment, Function<Shard, BlockTier> make) {
    this.deployment = deployment;
    this.tiers = deployment.shards().stream().map(make).toList();
  }

  List<BlockTier> tiers() {
    return tiers;
  }

  /// Fills the cache of `sequence`, which is empty, with the longest beginning of the prompt that all ranks have.
  ///
  /// @return its tokens, those of whole blocks
  int load(Sequence sequence, int[] prompt) {
    int blocks = blocks(prompt);
    Flux.range(0, tiers.size()).concatMap(rank -> load(sequence.workers().get(rank).cache(), prompt, blocks), 0)
        .blockLast(PATIENCE);
    int tokens = blocks * deployment.format().blockTokens();
    sequence.finish(tokens);
    return tokens;
  }

  /// Blocks of the sequence, from the first on, that are there: before the first that a rank lacks.
  private int blocks(int[] prompt) {
    int blocks = prompt.length / deployment.format().blockTokens();
    for (int rank = 0; rank < tiers.size(); rank++) {
      Shard shard = deployment.shards().get(rank);
      List<BlockKey> keys = shard.keys(prompt);
      int found = keys.isEmpty() ? 0 : tiers.get(rank).match(keys).blockOptional(PATIENCE).orElse(0);
      blocks = Math.min(blocks, shard.sequenceBlock(found));
    }
    return blocks;
  }

  private Flux<ViewLanding.Landed> load(RankCache cache, int[] prompt, int blocks) {
    Shard shard = cache.shard();
    int own = shard.blocks(blocks * shard.layout().tokens());
    BlockView all = BlockView.all(shard.layout());
    ViewLanding landing = new ViewLanding(shard.layout(), all);
    for (int number = 0; number < own; number++) {
      landing.to(number, 0, cache.block(number).draft().part(all));
    }
    BlockTier tier = tiers.get(deployment.parallelism().index(shard.rank()));
    return ViewSource.of(tier, SliceShape.defaults()).fetch(shard.keys(prompt).subList(0, own), OnMiss.SKIP, landing);
  }

  /// Puts the first `tokens` tokens of a prompt into the tiers; the last block may have room for more.
  void store(Sequence sequence, int[] prompt, int tokens) {
    for (int rank = 0; rank < tiers.size(); rank++) {
      RankCache cache = sequence.workers().get(rank).cache();
      List<Block> blocks =
          IntStream.range(0, cache.shard().blocks(tokens)).mapToObj(number -> cache.block(number).seal()).toList();
      if (!blocks.isEmpty()) {
        tiers.get(rank).put(cache.shard().keys(prompt).subList(0, blocks.size()), SliceShape.defaults(),
            PutSource.of(blocks, SliceShape.Order.LAYER_FIRST)).blockLast(PATIENCE);
      }
    }
  }

  /// A lease in the tier of a rank: the blocks of `tokens` stay there.
  HeldBlocks leased(int rank, int[] tokens) {
    List<BlockKey> keys = deployment.shards().get(rank).keys(tokens);
    BlockScope scope = new BlockScope();
    if (!keys.isEmpty()) {
      tiers.get(rank).lease(keys, OnMiss.SKIP, scope).block(PATIENCE);
    }
    return () -> Mono.fromRunnable(scope::close);
  }

  @Override
  public void close() {
    Mono.when(tiers.stream().map(BlockTier::close).toList()).block(PATIENCE);
  }
}
