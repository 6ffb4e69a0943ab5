package io.penstock.examples.disaggregated;

import io.penstock.check.Checks;

/// What happened to one layer of one request.
///
/// @param what happened
/// @param layer of the model
/// @param startMicros since the epoch
/// @param endMicros since the epoch
record LayerTime(What what, int layer, long startMicros, long endMicros) {
  enum What {
    /// The prefill computes the layer.
    COMPUTE,
    /// The decode has asked, the layer is computed, and no byte of it has come.
    WAIT,
    /// Its bytes come.
    TRANSFER
  }

  LayerTime {
    Checks.notNegative("layer", layer);
    if (endMicros < startMicros) {
      throw new IllegalArgumentException("endMicros must be >= " + startMicros + " (was " + endMicros + ")");
    }
  }

  /// The same, counted from another start.
  LayerTime since(long micros) {
    return new LayerTime(what, layer, startMicros - micros, endMicros - micros);
  }
}
