package io.penstock.tier;

import io.penstock.block.BlockScope;
import io.penstock.block.BlockView;
import io.penstock.block.LayerSlice;
import io.penstock.block.Owned;
import io.penstock.block.SliceShape;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.publisher.Flux;

/// The outcome of a decision on a list of keys, and the right to read the blocks found, even after their eviction.
///
/// The lease ends with [#close()], which the end of its stream calls. Memory is kept until then.
public abstract class Lease extends Owned {
  /// Keys that counted as hits: visible, or being written and already in the ledger.
  public abstract Presence hits();

  /// Keys whose block was visible.
  public abstract Presence found();

  /// Keys that this lease admitted. The caller has their blocks put. Only with [OnMiss#ADMIT].
  public abstract Presence admitted();

  /// Keys that another writer is writing, and for which this lease waits.
  public abstract Presence awaited();

  /// This lease for a caller that compares every byte with its checksum itself, and asks again in the usual way for a
  /// block that differs: blocks in memory come without a comparison. Call it before they are read.
  public Lease unverified() {
    return this;
  }

  /// The leased blocks, in windows of at most `maxBlocks`. A window holds the blocks that are ready: first the found
  /// blocks in key order, then the awaited blocks as they are committed. A window with one ready block goes out at
  /// once, so no lease holds memory while it waits for more.
  ///
  /// | | |
  /// |---|---|
  /// | backpressure | one window a request; blocks that are ready wait in leased memory, one a key |
  /// | cancel | closes the blocks not emitted; `scope` owns the emitted blocks |
  /// | ends | when no block is ready or awaited; the keys of a writer that gives up are left out |
  /// | threads | on the requesting thread, or on the one that commits an awaited block |
  /// | signals | [io.penstock.block.BlockCorruptException], [TierClosedException] |
  ///
  /// @param scope owns the blocks emitted
  /// @return a stream for one subscriber
  public abstract Flux<List<LeasedBlock>> windows(int maxBlocks, BlockScope scope);

  /// The same blocks in windows that are sent slice by slice. A window is handed out as soon as there is memory for it,
  /// before its bytes have been read from a slower level. Use either this or [#windows]; the same rules hold.
  ///
  /// @param scope owns the windows emitted; a window closes when its slices end
  /// @return a stream for one subscriber
  public Flux<LeasedWindow> slicedWindows(SliceShape shape, BlockScope scope) {
    return windows(shape.windowBlocks(), scope).map(window -> LeasedWindow.of(window, shape));
  }

  /// The leased blocks slice by slice. The first layers of a window come before its last layers are read. Use either
  /// this or [#windows]; the same rules hold.
  ///
  /// @param shape how to cut; a remote lease cuts as its connection was set up, with the same start layer
  /// @param scope owns the slices emitted; close each when read, or memory is held until the scope ends
  /// @return a stream for one subscriber
  public Flux<LayerSlice> slices(SliceShape shape, BlockScope scope) {
    return LeasedWindow.cut(slicedWindows(shape, scope), scope).doFinally(end -> close());
  }

  /// A view of the leased blocks, slice by slice. The bytes of a block are read whole before its first slice. Use
  /// either this or [#windows]; the same rules hold.
  ///
  /// @param view of whole layers, inside the blocks; the same of each
  /// @param shape how to cut: `sliceBytes` are packed bytes; `startLayer` is that of `view`
  /// @param scope owns the slices emitted
  /// @return a stream for one subscriber
  public Flux<LayerSlice> views(BlockView view, SliceShape shape, BlockScope scope) {
    return Flux.defer(() -> {
      AtomicInteger number = new AtomicInteger();
      return LeasedWindow.cut(windows(shape.windowBlocks(), scope),
          window -> new ReadyWindow(window, shape).views(number.getAndIncrement(), view), scope);
    }).doFinally(end -> close());
  }
}
