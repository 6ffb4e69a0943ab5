package io.penstock.wire.server.call;

import io.penstock.wire.protocol.WireFailure.DrainingException;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/// Refuses new work at a node that drains.
public record DrainGate(BooleanSupplier draining) {
  /// @throws DrainingException if the node drains
  public <T> T working(Supplier<T> work) {
    if (draining.getAsBoolean()) {
      throw new DrainingException();
    }
    return work.get();
  }
}
