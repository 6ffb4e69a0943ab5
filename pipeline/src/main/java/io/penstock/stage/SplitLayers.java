package io.penstock.stage;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.block.SliceShape;
import io.penstock.tier.LeasedBlock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.publisher.Flux;
import reactor.core.publisher.SynchronousSink;

/// Cuts windows of blocks into slices, so that layer 0 travels while layer 1 is read. [JoinLayers] is the way back.
///
/// | | |
/// |---|---|
/// | shape | per window as `SlicePlan` says; windows are numbered from 0, and `remaining` counts down to 0 inside each |
/// | positions | those of the request for leased blocks, else the number of the block in the stream |
/// | bytes | none is copied: a slice shares the memory of its blocks |
/// | backpressure | slices, made one by one as they are asked for; up to one window is pulled ahead of demand |
/// | ownership | takes over the blocks: closes its handles once the window's last slice was emitted, and on cancel or error |
/// | cancel | closes the blocks of the window being cut; slices not taken are closed by the scope |
/// | threads | the requesting one |
/// | signals | errors of the source; `IllegalArgumentException` if one row exceeds `sliceBytes` or the start layer does not exist |
///
/// The blocks of a window have one layout. A window without blocks is passed over and has no number.
public final class SplitLayers {
  private SplitLayers() {}

  /// Cuts a stream of blocks into windows of `options.windowBlocks()`, then into slices.
  ///
  /// A window is cut when it is full, or when the source ends; so a source must not depend on its blocks being closed
  /// one by one.
  ///
  /// @param scope owns the slices emitted
  public static Stage<Block, LayerSlice> blocks(SliceShape options, BlockScope scope) {
    Stage<List<Block>, LayerSlice> windows = windows(options, scope);
    return source -> windows.apply(source.buffer(options.windowBlocks()));
  }

  /// Cuts ready windows of blocks into slices.
  ///
  /// @param scope owns the slices emitted
  public static Stage<List<Block>, LayerSlice> windows(SliceShape options, BlockScope scope) {
    Stage<List<LeasedBlock>, LayerSlice> leased = leased(options, scope);
    return source -> Flux.defer(() -> {
      AtomicInteger position = new AtomicInteger();
      return leased.apply(source.map(blocks -> numbered(blocks, position)));
    });
  }

  /// Cuts the windows of a lease into slices.
  ///
  /// @param scope owns the slices emitted
  public static Stage<List<LeasedBlock>, LayerSlice> leased(SliceShape options, BlockScope scope) {
    requireNonNull(options, "options");
    requireNonNull(scope, "scope");
    return source -> Quiet.afterCancel(Flux.defer(() -> {
      AtomicInteger number = new AtomicInteger();
      return source.filter(window -> !window.isEmpty())
          .concatMap(window -> slices(window, number.getAndIncrement(), options, scope), 0);
    }));
  }

  private static Flux<LayerSlice> slices(List<LeasedBlock> window, int number, SliceShape options, BlockScope scope) {
    return Flux.generate(() -> new SplitWindow(window, number, options, scope), (cutting, sink) -> {
      emit(cutting, scope, sink);
      return cutting;
    }, SplitWindow::close);
  }

  /// A block that is closed because its subscriber left meanwhile is the end, not an error: nobody is left to hear of
  /// one.
  private static void emit(SplitWindow cutting, BlockScope scope, SynchronousSink<LayerSlice> sink) {
    try {
      sink.next(cutting.next());
    } catch (IllegalStateException e) {
      if (!scope.isClosed()) {
        throw e;
      }
      sink.complete();
      return;
    }
    if (!cutting.hasNext()) {
      sink.complete();
    }
  }

  private static List<LeasedBlock> numbered(List<Block> blocks, AtomicInteger position) {
    List<LeasedBlock> window = new ArrayList<>(blocks.size());
    for (Block block : blocks) {
      window.add(new LeasedBlock(position.getAndIncrement(), block));
    }
    return window;
  }
}
