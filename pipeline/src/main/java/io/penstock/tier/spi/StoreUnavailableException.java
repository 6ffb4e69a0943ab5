package io.penstock.tier.spi;

import io.penstock.TransientKvException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// A store does not take blocks, or does not give them, now. Nothing is wrong with the blocks, and what rests there is
/// still there.
public class StoreUnavailableException extends TransientKvException {
  public StoreUnavailableException(String message) {
    super(message);
  }

  public StoreUnavailableException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  /// That `store` is not as it should be.
  public static StoreUnavailableException of(String store, StoreHealth health) {
    return new StoreUnavailableException(
        "store " + store + " must be active (was " + health.state().name().toLowerCase(Locale.ROOT)
            + (health.problem() == null ? "" : ": " + health.problem()) + ")");
  }
}
