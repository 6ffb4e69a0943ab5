package io.penstock.flow;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.SliceShape;
import io.penstock.operator.Quiet;
import io.penstock.stage.Batch;
import io.penstock.stage.Stage;
import io.penstock.stage.Store;
import io.penstock.tier.BlockTier;
import io.penstock.tier.PutSource;
import io.penstock.tier.Receipt;
import java.util.List;
import reactor.core.scheduler.Scheduler;

/// Puts what a prefill made into a tier: batches are cut layer-wise into slices, room is reserved window by window, the
/// slices land and are verified, each window is committed in one step, and receipts come out.
public final class OffloadPrefix {
  private OffloadPrefix() {}

  /// Offloads finished blocks, as they come.
  ///
  /// | | |
  /// |---|---|
  /// | order | receipts in the order of the blocks; none for one that the tier has or another writer writes |
  /// | backpressure | receipts; one batch under construction and one being stored, ahead of demand |
  /// | ownership | takes over the blocks; closes each when its batch was stored or failed |
  /// | cancel | gives back the room of the window that is not committed; the scope of the blocks frees the others |
  /// | signals | those of [Store] and of the source; windows committed before stay |
  ///
  /// @param timer clock and thread of the batches' delay
  public static Stage<Block, Receipt> blocks(BlockTier tier, Options options, Scheduler timer) {
    return Batch.blocks(options.batch(), timer).then(Store.into(tier, options.shape()));
  }

  /// Has `source` compute the blocks of one request after the other, layer after layer, whenever the tier has room.
  ///
  /// | | |
  /// |---|---|
  /// | order | receipts as [BlockTier#put] answers them, request after request |
  /// | backpressure | receipts; one request ahead of demand |
  /// | cancel | gives back the room of the windows that are not committed |
  /// | signals | those of [BlockTier#put] and of the source; windows committed before stay |
  ///
  /// @param shape windows and slices at most; a remote tier cuts as its connection was set up
  public static Stage<List<BlockKey>, Receipt> layers(BlockTier tier, SliceShape shape, PutSource source) {
    requireNonNull(tier, "tier");
    requireNonNull(shape, "shape");
    requireNonNull(source, "source");
    return requests -> Quiet.afterCancel(requests.concatMap(keys -> tier.put(keys, shape, source), 0));
  }

  /// How [OffloadPrefix] gathers and cuts blocks.
  ///
  /// @param batch when a batch of blocks ends
  /// @param shape windows, which must be no larger than what the tier can reserve at once, and slices
  public record Options(Batch.Options batch, SliceShape shape) {
    public Options {
      requireNonNull(batch, "batch");
      shape.requireWholeBlocks();
    }

    public static Options defaults() {
      return new Options(Batch.Options.defaults(), SliceShape.defaults());
    }

    public Options withBatch(Batch.Options batch) {
      return new Options(batch, shape);
    }

    public Options withShape(SliceShape shape) {
      return new Options(batch, shape);
    }
  }
}
