package io.penstock.tier;

import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.block.Owned;
import io.penstock.block.SlicePlan;
import io.penstock.block.SliceShape;
import java.util.List;
import java.util.concurrent.CancellationException;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Some blocks of a lease, to be sent slice by slice; their bytes may still be read from a slower level.
///
/// Owns its blocks; closing it, which the end of its slices does, closes them.
public abstract sealed class LeasedWindow extends Owned permits ReadyWindow, StoreWindow {
  /// A window of blocks that are all in memory. Takes them over.
  public static LeasedWindow of(List<LeasedBlock> blocks, SliceShape shape) {
    return new ReadyWindow(blocks, shape);
  }

  /// Number of blocks.
  public abstract int size();

  /// The slices, in the order of [SlicePlan], each as soon as its bytes are there; the first layers come before the
  /// last ones are read.
  ///
  /// | | |
  /// |---|---|
  /// | backpressure | slices, each made when it is asked for |
  /// | cancel | closes the window; the slices emitted stay their owner's |
  /// | threads | the requesting one, or the one on which the bytes arrived |
  /// | signals | [io.penstock.block.BlockCorruptException] if the bytes differ from their checksums |
  ///
  /// @param number of the window in its stream, from 0
  /// @return a stream for one subscriber, who owns the slices
  public abstract Flux<LayerSlice> slices(int number);

  /// The blocks, when all their bytes are there, handed over to `scope`; the window is over then.
  abstract Mono<List<LeasedBlock>> blocks(BlockScope scope);

  static CancellationException closed() {
    return new CancellationException("window must be open (was closed)");
  }
}
