package io.penstock.wire.server.call;

import org.jspecify.annotations.Nullable;

/// A right of a caller under which a request runs, or something is held. Safe from any thread.
@FunctionalInterface
public interface Right {
  /// Why the caller does not have it now; null if the caller has it.
  @Nullable RuntimeException lack();
}
