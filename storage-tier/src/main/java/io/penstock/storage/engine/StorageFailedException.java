package io.penstock.storage.engine;

import io.penstock.tier.spi.StoreUnavailableException;
import java.io.IOException;

/// The medium did not do what it was told. Transient: it may at the next attempt.
public sealed class StorageFailedException extends StoreUnavailableException permits SegmentUnreadableException {
  /// @param work what was to be done, for example `append to DIRECTORY`
  public StorageFailedException(String work, IOException cause) {
    super("could not " + work + ": " + cause, cause);
  }
}
