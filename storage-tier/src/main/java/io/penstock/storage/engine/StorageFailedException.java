package io.penstock.storage.engine;

import io.penstock.tier.spi.StoreUnavailableException;
import java.io.IOException;

/// A call to the medium failed. Transient: the next one may succeed.
public sealed class StorageFailedException extends StoreUnavailableException permits SegmentUnreadableException {
  /// @param work that failed, for example `append to DIRECTORY`
  public StorageFailedException(String work, IOException cause) {
    super("could not " + work + ": " + cause, cause);
  }
}
