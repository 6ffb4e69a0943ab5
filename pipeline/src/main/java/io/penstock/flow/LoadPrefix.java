package io.penstock.flow;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.block.SliceShape;
import io.penstock.stage.Fetch;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.OnMiss;
import java.util.Iterator;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Loads the longest prefix of a list of keys that a tier has, for a decode that continues from there. Only the blocks
/// of the prefix count as used.
///
/// The stream ends before the first block that the tier lacks, and may be empty. A cancel ends the leases, and the
/// scope frees blocks and slices not taken.
public final class LoadPrefix {
  private LoadPrefix() {}

  /// The prefix block by block. If a block leaves the tier before it is read, the prefix ends before that block.
  ///
  /// | | |
  /// |---|---|
  /// | backpressure | blocks; ahead of demand as [Fetch] says |
  /// | threads | the tier's |
  /// | signals | errors of the tier, after the blocks that came before them |
  ///
  /// @param scope owns the blocks emitted; close each when read
  public static Flux<Block> blocks(BlockTier tier, List<BlockKey> keys, Fetch.Options options, BlockScope scope) {
    return tier.match(keys).flatMapIterable(found -> keys.subList(0, found))
        .transform(Fetch.from(tier, options, scope))
        .transform(blocks -> whileInOrder(blocks, keys));
  }

  /// The prefix slice by slice, layer after layer in each window of blocks. The whole prefix is leased at once, and
  /// stays readable until the stream ends.
  ///
  /// | | |
  /// |---|---|
  /// | backpressure | slices; a remote tier gets the same demand |
  /// | threads | the tier's |
  /// | signals | errors of the tier |
  ///
  /// @param shape how to cut; a remote tier cuts by the setting of its connection
  /// @param scope owns the slices emitted; close each when read
  public static Flux<LayerSlice> layers(BlockTier tier, List<BlockKey> keys, SliceShape shape, BlockScope scope) {
    requireNonNull(shape, "shape");
    return tier.match(keys).flatMap(found -> lease(tier, keys.subList(0, found), scope))
        .flatMapMany(lease -> lease.slices(shape, scope));
  }

  /// A lease on all of `keys`, or on their present prefix if blocks were evicted since the match.
  private static Mono<Lease> lease(BlockTier tier, List<BlockKey> keys, BlockScope scope) {
    return keys.isEmpty() ? Mono.empty() : tier.lease(keys, OnMiss.SKIP, scope).flatMap(lease -> {
      int prefix = lease.found().prefix();
      if (prefix == keys.size()) {
        return Mono.just(lease);
      }
      lease.close();
      return lease(tier, keys.subList(0, prefix), scope);
    });
  }

  private static Flux<Block> whileInOrder(Flux<Block> blocks, List<BlockKey> keys) {
    return Flux.defer(() -> {
      Iterator<BlockKey> next = keys.iterator();
      return blocks.takeWhile(block -> block.key().equals(next.next()));
    });
  }
}
