package io.penstock.wire.transfer;

import io.penstock.check.Checks;
import java.time.Duration;

/// Options of a [TransferEngine].
///
/// @param name sent with notifications
/// @param timeout deadline of an item from its submission on, at least 5 s
/// @param nanosPerByte added to the deadline for each byte of the item
/// @param laneItems maximum number of items of one peer that are pending or in progress
/// @param laneBytes maximum bytes of them, except for a single item that is larger
/// @param queuedItems maximum number of items of one peer that have not ended; a batch with more is refused
/// @param connectTimeout longest wait for a connection and its descriptors
/// @param idleTimeout time without work after which a connection is given up
/// @param backoff shortest wait before a second attempt; the longest is twice that
/// @param quietTimeout time that a stopped item waits for its memory to be quiet before its connection is dropped
public record TransferOptions(String name, Duration timeout, long nanosPerByte, int laneItems, long laneBytes,
    int queuedItems, Duration connectTimeout, Duration idleTimeout, Duration backoff, Duration quietTimeout) {
  private static final Duration LEAST_TIMEOUT = Duration.ofSeconds(5);

  public TransferOptions {
    Segment.requireName(name);
    if (timeout.compareTo(LEAST_TIMEOUT) < 0) {
      throw new IllegalArgumentException("timeout must be >= 5 s (was " + timeout + ")");
    }
    Checks.notNegative("nanosPerByte", nanosPerByte);
    Checks.positive("laneItems", laneItems);
    Checks.positive("laneBytes", laneBytes);
    Checks.positive("queuedItems", queuedItems);
    Checks.atLeastOneMilli("connectTimeout", connectTimeout);
    Checks.atLeastOneMilli("idleTimeout", idleTimeout);
    Checks.atLeastOneMilli("backoff", backoff);
    Checks.atLeastOneMilli("quietTimeout", quietTimeout);
  }

  /// 30 s and 1 ns a byte, 32 items and 16 MiB a peer at once, 65,536 that have not ended, 5 s to connect, connections
  /// kept for 60 s, 10 to 20 ms before a second attempt, 2 s to be quiet.
  public static TransferOptions defaults() {
    return new TransferOptions("penstock-engine", Duration.ofSeconds(30), 1, 32, 16 << 20, 1 << 16,
        Duration.ofSeconds(5), Duration.ofSeconds(60), Duration.ofMillis(10), Duration.ofSeconds(2));
  }

  public TransferOptions withName(String other) {
    return new TransferOptions(other, timeout, nanosPerByte, laneItems, laneBytes, queuedItems, connectTimeout,
        idleTimeout, backoff, quietTimeout);
  }

  public TransferOptions withDeadline(Duration base, long perByte) {
    return new TransferOptions(name, base, perByte, laneItems, laneBytes, queuedItems, connectTimeout, idleTimeout,
        backoff, quietTimeout);
  }

  public TransferOptions withLane(int items, long bytes) {
    return new TransferOptions(name, timeout, nanosPerByte, items, bytes, queuedItems, connectTimeout, idleTimeout,
        backoff, quietTimeout);
  }

  public TransferOptions withQueuedItems(int items) {
    return new TransferOptions(name, timeout, nanosPerByte, laneItems, laneBytes, items, connectTimeout, idleTimeout,
        backoff, quietTimeout);
  }

  public TransferOptions withConnections(Duration toConnect, Duration idle) {
    return new TransferOptions(name, timeout, nanosPerByte, laneItems, laneBytes, queuedItems, toConnect, idle, backoff,
        quietTimeout);
  }

  Duration deadline(long bytes) {
    long allowance = bytes > Long.MAX_VALUE / 4 / Math.max(1, nanosPerByte) ? Long.MAX_VALUE / 4 : bytes * nanosPerByte;
    return timeout.plusNanos(allowance);
  }
}
