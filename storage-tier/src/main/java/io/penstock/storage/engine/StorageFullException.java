package io.penstock.storage.engine;

import io.penstock.tier.spi.StoreUnavailableException;
import org.jspecify.annotations.Nullable;

/// The medium has no room for another segment. Transient: a delete makes room.
public final class StorageFullException extends StoreUnavailableException {
  private final long neededBytes;
  private final long usableBytes;

  /// @param place that is full
  public StorageFullException(String place, long neededBytes, long usableBytes, @Nullable Throwable cause) {
    super("free bytes at " + place + " must be >= " + neededBytes + " (was " + usableBytes + ")", cause);
    this.neededBytes = neededBytes;
    this.usableBytes = usableBytes;
  }

  public long neededBytes() {
    return neededBytes;
  }

  public long usableBytes() {
    return usableBytes;
  }
}
