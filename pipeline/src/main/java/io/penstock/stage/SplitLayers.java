package io.penstock.stage;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.operator.Quiet;
import io.penstock.tier.LeasedWindow;
import java.util.function.Function;
import reactor.core.publisher.Flux;

/// Cuts windows of blocks into slices, so that layer 0 travels while layer 1 is read.
///
/// | | |
/// |---|---|
/// | shape | each window's own, as `SlicePlan` says; windows count from 0; `remaining` counts down to 0 in each |
/// | bytes | none is copied: a slice shares the memory of its blocks |
/// | backpressure | slices, each made when it is requested; a window is requested when one of its slices is wanted |
/// | ownership | takes over the windows: closes each after its last slice, and on cancel or error |
/// | cancel | closes the window being cut; the scope closes slices not taken |
/// | threads | the requesting thread, or the thread on which the bytes arrived |
/// | signals | errors of the source; `IllegalArgumentException` if one row exceeds a slice; |
/// | | [io.penstock.block.BlockCorruptException] if bytes that were read differ from their checksums |
public final class SplitLayers {
  private SplitLayers() {}

  /// @param scope owns the slices emitted
  public static Stage<LeasedWindow, LayerSlice> into(BlockScope scope) {
    requireNonNull(scope, "scope");
    return windows -> Quiet.afterCancel(LeasedWindow.cut(windows, scope));
  }

  /// Cuts windows of any kind.
  ///
  /// @param cut the slices of a window, each made when it is requested
  /// @param scope owns the slices emitted
  public static <W> Stage<W, LayerSlice> by(Function<? super W, Flux<LayerSlice>> cut, BlockScope scope) {
    requireNonNull(cut, "cut");
    requireNonNull(scope, "scope");
    return windows -> Quiet.afterCancel(LeasedWindow.cut(windows, cut, scope));
  }
}
