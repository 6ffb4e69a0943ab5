package io.penstock.tier;

import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.block.Owned;
import io.penstock.block.SliceShape;
import java.util.List;
import reactor.core.publisher.Flux;

/// The outcome of a decision on a list of keys, and the right to read what was found however soon it is evicted.
///
/// The lease ends with [#close()], normally when its stream ends: memory is kept no longer than that.
public abstract class Lease extends Owned {
  /// Keys that counted as hits: visible, or being written and already in the ledger.
  public abstract Presence hits();

  /// Keys whose block was visible.
  public abstract Presence found();

  /// Keys that this lease admitted: the caller sees to it that they are put. Only with [OnMiss#ADMIT].
  public abstract Presence admitted();

  /// Keys that another writer is writing, and for which this lease waits.
  public abstract Presence awaited();

  /// The leased blocks in windows: each holds what is ready, at most `maxBlocks`; found blocks come first, in key
  /// order, then awaited ones as they are committed. Never waits for a fuller window, so it never holds memory that
  /// others need while waiting.
  ///
  /// | | |
  /// |---|---|
  /// | backpressure | one window a request; ready blocks wait as leased memory, at most one a key |
  /// | cancel | closes what was not emitted; `scope` owns what was |
  /// | ends | when no block is ready and none is awaited; a writer that gives up leaves its keys out |
  /// | threads | on the requesting thread, or on the one that commits an awaited block |
  /// | signals | [io.penstock.block.BlockCorruptException], [TierClosedException] |
  ///
  /// @param scope owns the blocks emitted
  /// @return a stream for one subscriber
  public abstract Flux<List<LeasedBlock>> windows(int maxBlocks, BlockScope scope);

  /// The same blocks as windows to be sent slice by slice, each handed out as soon as there is memory for it, before
  /// all its bytes have been read from a slower level. Instead of [#windows], under the same rules.
  ///
  /// @param scope owns the windows emitted; the end of a window's slices closes it
  /// @return a stream for one subscriber
  public Flux<LeasedWindow> slicedWindows(SliceShape shape, BlockScope scope) {
    return windows(shape.windowBlocks(), scope).map(window -> LeasedWindow.of(window, shape));
  }

  /// The leased blocks slice by slice: the first layers of a window come before its last ones are read. Instead of
  /// [#windows], under the same rules.
  ///
  /// @param shape how to cut; a remote lease cuts as its connection was set up, with the same start layer
  /// @param scope owns the slices emitted; close each when read, or memory is held until the scope ends
  /// @return a stream for one subscriber
  public Flux<LayerSlice> slices(SliceShape shape, BlockScope scope) {
    return LeasedWindow.cut(slicedWindows(shape, scope), scope).doFinally(end -> close());
  }
}
