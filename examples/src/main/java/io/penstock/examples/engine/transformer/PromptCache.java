package io.penstock.examples.engine.transformer;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.SliceShape;
import io.penstock.examples.disaggregated.rank.RankCache;
import io.penstock.examples.disaggregated.rank.Sequence;
import io.penstock.examples.disaggregated.rank.Shard;
import io.penstock.flow.EngineRows;
import io.penstock.flow.LoadPrefix;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Presence;
import io.penstock.tier.PutSource;
import io.penstock.wire.PenstockClient;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import reactor.core.publisher.Mono;

/// Blocks of one request: between the memory of its sequence and tiers.
final class PromptCache {
  private final RankCache cache;
  private final BlockLayout layout;

  /// @param sequence with one rank
  PromptCache(Sequence sequence) {
    this.cache = sequence.workers().getFirst().cache();
    this.layout = cache.shard().layout();
  }

  /// Keys of the whole blocks of `tokens`.
  List<BlockKey> keys(int[] tokens) {
    return keys(cache.shard(), tokens);
  }

  /// Keys of the whole blocks of `tokens`.
  static List<BlockKey> keys(Shard shard, int[] tokens) {
    int blocks = tokens.length / shard.layout().tokens();
    return shard.keys(Arrays.copyOf(tokens, blocks * shard.layout().tokens()));
  }

  /// Loads the longest prefix of `keys` that a tier has.
  ///
  /// @param first number of the first key's block; its memory and that of those behind it is claimed
  /// @return number of blocks; cold
  Mono<Integer> load(BlockTier tier, List<BlockKey> keys, int first) {
    return LoadPrefix.rows(tier, keys, SliceShape.defaults(), rows(first));
  }

  /// Memory of the tokens behind the first blocks.
  private EngineRows rows(int first) {
    return (layer, plane, token) -> {
      long bytes = layout.rowBytes(plane);
      return cache.block(first + token / layout.tokens()).memory(layer)
          .asSlice(layout.granuleOffset(plane) + token % layout.tokens() * bytes, bytes);
    };
  }

  /// Puts the blocks of `keys` that a tier of this process lacks, from the first block on; they are final.
  ///
  /// @return number of blocks that were stored; cold
  Mono<Long> store(BlockTier tier, List<BlockKey> keys) {
    return tier.contains(keys).flatMap(there -> {
      int[] missing = missing(there, keys.size());
      List<Block> blocks = Arrays.stream(missing).mapToObj(number -> cache.block(number).seal()).toList();
      List<BlockKey> names = Arrays.stream(missing).mapToObj(keys::get).toList();
      return missing.length == 0
          ? Mono.just(0L)
          : tier.put(names, SliceShape.defaults(), PutSource.of(blocks, SliceShape.Order.LAYER_FIRST)).count();
    });
  }

  /// Loads the longest prefix of `keys` that a node has, or is just being given.
  ///
  /// @param first number of the first key's block; its memory and that of those behind it is claimed
  /// @return number of blocks; cold
  Mono<Integer> load(PenstockClient node, List<BlockKey> keys, int first) {
    return node.load(keys, rows(first));
  }

  /// Offloads the blocks of `keys` that a node lacks, from the first block on; they are final.
  ///
  /// @return number of blocks that were stored; cold
  Mono<Long> store(PenstockClient node, List<BlockKey> keys) {
    return node.offload(keys, rows(0));
  }

  private static int[] missing(Presence there, int blocks) {
    return IntStream.range(0, blocks).filter(number -> !there.get(number)).toArray();
  }
}
