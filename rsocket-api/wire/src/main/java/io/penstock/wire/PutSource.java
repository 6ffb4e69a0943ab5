package io.penstock.wire;

import io.penstock.block.LayerSlice;
import reactor.core.publisher.Flux;

/// Produces the slices of a window when the server has room for it: nothing is computed that could not be sent.
@FunctionalInterface
public interface PutSource {
  /// The slices of `window`: every granule of every wanted key once, cut as [io.penstock.block.SlicePlan] cuts, with
  /// [io.penstock.block.SlicePlace#window()] equal to `window.index()` and falling `remaining`.
  ///
  /// Subscribed once, after the slices of the window before were taken; one slice is requested at a time and closed by the taker.
  Flux<LayerSlice> window(PutWindow window);
}
