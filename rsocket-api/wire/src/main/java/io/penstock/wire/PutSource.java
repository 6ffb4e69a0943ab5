package io.penstock.wire;

import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Produces the slices of a window when the server has room for it: nothing is computed that could not be sent.
@FunctionalInterface
public interface PutSource {
  /// The slices of `window`: every granule of every wanted key once, cut as [io.penstock.block.SlicePlan] cuts, with
  /// [io.penstock.block.SlicePosition#window()] equal to `window.index()` and falling `remaining`.
  ///
  /// Subscribed once, after the slices of the window before were taken; one slice is requested at a time and closed by
  /// the taker.
  Flux<LayerSlice> window(PutWindow window);

  /// Lets a put begin: subscribed once, before the node hears of the put; it may wait.
  ///
  /// Later is too late to wait for what another put of this source holds: a put that has credit of the node and waits
  /// in [#window] keeps that credit from one that has memory and waits for credit. So a source lets no more puts begin
  /// than it can serve at one time.
  ///
  /// @param blocks most blocks of a window of this put
  /// @param scope closed when the put ended, however it ended: owns what the put holds meanwhile
  default Mono<Void> begin(int blocks, BlockScope scope) {
    return Mono.empty();
  }
}
