package io.penstock.stage;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.SliceShape;
import io.penstock.operator.Quiet;
import io.penstock.tier.BlockTier;
import io.penstock.tier.PutSource;
import io.penstock.tier.Receipt;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Flux;

/// Puts batches of blocks into a tier, cut into slices, layer by layer, and answers the receipts.
///
/// | | |
/// |---|---|
/// | order | receipts in the order of the blocks; none for a block that the tier has or another writer writes |
/// | bytes | one copy into a tier of this process, none before the socket of a remote tier; verified where they land |
/// | visible | all blocks of a window at once, after all their bytes were verified, or none |
/// | backpressure | receipts; up to one batch is requested and stored ahead of demand |
/// | ownership | takes over the blocks: closes them when their batch was stored or has failed |
/// | cancel | leaves the tier's queue, or gives back the room of the uncommitted window |
/// | threads | the source's, or the thread that freed the room for which a window waited |
/// | signals | [io.penstock.block.BlockCorruptException] and errors of the tier; windows committed before stay |
public final class Store {
  private Store() {}

  /// @param shape windows, no larger than the tier can reserve at once, and slices
  public static Stage<List<Block>, Receipt> into(BlockTier tier, SliceShape shape) {
    requireNonNull(tier, "tier");
    shape.requireWholeBlocks();
    return batches -> Quiet.afterCancel(batches.concatMap(batch -> store(batch, tier, shape), 0));
  }

  private static Flux<Receipt> store(List<Block> batch, BlockTier tier, SliceShape shape) {
    Map<BlockKey, Block> blocks = new LinkedHashMap<>();
    batch.forEach(block -> blocks.putIfAbsent(block.key(), block));
    return Flux
        .defer(() -> tier.put(List.copyOf(blocks.keySet()), shape,
            PutSource.of(List.copyOf(blocks.values()), shape.order())))
        .doFinally(end -> batch.forEach(Block::close));
  }
}
