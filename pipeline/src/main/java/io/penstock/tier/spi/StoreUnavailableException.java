package io.penstock.tier.spi;

import io.penstock.TransientKvException;
import io.penstock.tier.StoreHealth;
import org.jspecify.annotations.Nullable;

/// A store takes or gives no blocks now. Its blocks, and the caller's, are intact.
public class StoreUnavailableException extends TransientKvException {
  public StoreUnavailableException(String message) {
    super(message);
  }

  public StoreUnavailableException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  /// Exception for `store`, which is unhealthy.
  public static StoreUnavailableException of(String store, StoreHealth health) {
    return new StoreUnavailableException(
        "store " + store + " must be active (was " + health.words() + ")");
  }
}
