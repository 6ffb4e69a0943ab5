package io.penstock.flow;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.GranuleRange;
import io.penstock.block.SliceShape;
import io.penstock.operator.Quiet;
import io.penstock.stage.Batch;
import io.penstock.stage.Stage;
import io.penstock.stage.Store;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Presence;
import io.penstock.tier.PutSource;
import io.penstock.tier.Receipt;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.stream.IntStream;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Scheduler;

/// Puts the blocks of a prefill into a tier. Blocks or layers are cut into slices, the tier reserves room window by
/// window, the slices land and are verified, and each window is committed in one step. The stream answers receipts.
public final class OffloadPrefix {
  private OffloadPrefix() {}

  /// Offloads finished blocks.
  ///
  /// | | |
  /// |---|---|
  /// | order | receipts in the order of the blocks; none for a block that the tier has or another writer writes |
  /// | backpressure | receipts; ahead of demand one batch is under construction and one is being stored |
  /// | ownership | takes over the blocks; closes a block when its batch was stored or has failed |
  /// | cancel | gives back the room of the uncommitted window; the scope of the blocks frees blocks not taken |
  /// | signals | those of [Store] and of the source; windows committed before stay |
  ///
  /// @param timer clock and thread of the batches' delay
  public static Stage<Block, Receipt> blocks(BlockTier tier, Options options, Scheduler timer) {
    return Batch.blocks(options.batch(), timer).then(Store.into(tier, options.shape()));
  }

  /// Lets `source` compute the blocks of one request after the other, layer after layer, while the tier has room.
  ///
  /// | | |
  /// |---|---|
  /// | order | receipts as [BlockTier#put] answers them, request after request |
  /// | backpressure | receipts; one request ahead of demand |
  /// | cancel | gives back the room of uncommitted windows |
  /// | signals | those of [BlockTier#put] and of the source; windows committed before stay |
  ///
  /// @param shape largest windows and slices; a remote tier cuts by the setting of its connection
  public static Stage<List<BlockKey>, Receipt> layers(BlockTier tier, SliceShape shape, PutSource source) {
    requireNonNull(tier, "tier");
    requireNonNull(shape, "shape");
    requireNonNull(source, "source");
    return requests -> Quiet.afterCancel(requests.concatMap(keys -> tier.put(keys, shape, source), 0));
  }

  /// Works as [#layers] but puts only missing blocks: it asks the tier which keys of a request it has, and puts the
  /// others. A request that the tier has costs one question, and makes no room.
  ///
  /// Give a source with a [ProducingSource.Ready] for bytes that are still being written.
  ///
  /// @param source gets windows of the missing keys alone; positions count these
  public static Stage<List<BlockKey>, Receipt> newLayers(BlockTier tier, SliceShape shape, PutSource source) {
    requireNonNull(tier, "tier");
    requireNonNull(shape, "shape");
    requireNonNull(source, "source");
    return requests -> Quiet.afterCancel(requests.concatMap(
        keys -> tier.contains(keys).map(there -> missing(keys, there))
            .flatMapMany(missing -> missing.isEmpty() ? Flux.empty() : tier.put(missing, shape, source)),
        0));
  }

  /// Offloads the blocks of one request that the tier lacks, from the rows of an engine, each layer as soon as the
  /// engine has computed it ([EngineRows#computed]).
  ///
  /// | | |
  /// |---|---|
  /// | order, cancel | as [#newLayers]; no row is read once a cancel has returned |
  /// | threads | rows are read on the thread that sends, or on the one that completed [EngineRows#computed] |
  /// | signals | those of [BlockTier#put], those of `rows`, `IllegalArgumentException` for a row of another length |
  /// | failure | windows committed before stay |
  ///
  /// @param shape largest windows and slices; a remote tier cuts by the setting of its connection
  /// @param source shared by all requests of an engine: [ProducingSource#shared]
  public static Flux<Receipt> rows(BlockTier tier, List<BlockKey> keys, SliceShape shape, ProducingSource source,
      EngineRows rows) {
    requireNonNull(rows, "rows");
    LoadedRows.requireTokenRows(tier);
    BlockLayout layout = tier.info().space().layout();
    return Flux.using(() -> new LentRows(rows), lent -> Flux.just(keys)
        .transform(newLayers(tier, shape, source.forRequest(keys, writer(layout, rows, lent)))), LentRows::takeBack);
  }

  private static ProducingSource.RequestWriter writer(BlockLayout layout, EngineRows rows, LentRows lent) {
    return new ProducingSource.RequestWriter() {
      @Override
      public void write(int position, GranuleRange range, MemorySegment to) {
        if (!lent.use(engine -> layout.forEachRow(range, to, (layer, plane, token, bytes) -> bytes
            .copyFrom(LentRows.row(engine, layer, plane, position * layout.tokens() + token, bytes))))) {
          throw new CancellationException("the offload has ended");
        }
      }

      @Override
      public Publisher<?> ready(int position, int layer) {
        return rows.computed(layer, (position + 1) * layout.tokens());
      }
    };
  }

  private static List<BlockKey> missing(List<BlockKey> keys, Presence there) {
    return IntStream.range(0, keys.size()).filter(i -> !there.get(i)).mapToObj(keys::get).toList();
  }

  /// Options of [OffloadPrefix].
  ///
  /// @param batch when a batch of blocks ends
  /// @param shape windows, no larger than the tier can reserve at once, and slices
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
