package io.penstock.wire;

import io.penstock.wire.WireFailure.DrainingException;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/// Refuses new work at a node that drains.
record DrainGate(BooleanSupplier draining) {
  /// @throws DrainingException if the node drains
  <T> T working(Supplier<T> work) {
    if (draining.getAsBoolean()) {
      throw new DrainingException();
    }
    return work.get();
  }
}
