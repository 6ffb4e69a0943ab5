package io.penstock.wire;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Checks;
import io.penstock.block.SliceOrder;
import java.time.Duration;

/// How a [KvClient] asks.
///
/// @param name told to the server
/// @param maxSliceBytes most payload bytes a slice; lowered to what the server allows
/// @param windowBlocks most blocks a window; lowered to what the server allows and the arena holds
/// @param order order of slices inside a window
/// @param startLayer layers before it are not fetched
/// @param creditSlices most slices a stream asks for ahead
/// @param sendWindowBytes most bytes of slices that wait for the socket
/// @param keepAlive time between keep-alive frames
/// @param keepAliveTimeout silence after which the connection counts as lost
public record KvClientOptions(String name, int maxSliceBytes, int windowBlocks, SliceOrder order, int startLayer,
    int creditSlices,
    long sendWindowBytes, Duration keepAlive, Duration keepAliveTimeout) {
  public KvClientOptions {
    requireNonNull(name, "name");
    requireNonNull(order, "order");
    requireNonNull(keepAlive, "keepAlive");
    requireNonNull(keepAliveTimeout, "keepAliveTimeout");
    new Limits(maxSliceBytes, windowBlocks, 1);
    Checks.notNegative("startLayer", startLayer);
    Checks.positive("creditSlices", creditSlices);
    if (sendWindowBytes < maxSliceBytes) {
      throw new IllegalArgumentException(
          "sendWindowBytes must be >= maxSliceBytes " + maxSliceBytes + " (was " + sendWindowBytes + ")");
    }
    if (keepAlive.isNegative() || keepAlive.isZero() || keepAliveTimeout.compareTo(keepAlive) <= 0) {
      throw new IllegalArgumentException(
          "keepAlive must be > 0 and < keepAliveTimeout (was " + keepAlive + ", " + keepAliveTimeout + ")");
    }
  }

  /// Slices of 512 KiB, windows of 64 blocks, layer-first from layer 0, 16 slices of credit a stream, a send window of
  /// 4 MiB, keep-alive every 20 s with a limit of 90 s.
  public static KvClientOptions defaults() {
    return new KvClientOptions("penstock-client", 512 << 10, 64, SliceOrder.LAYER_FIRST, 0, 16, 4 << 20,
        Duration.ofSeconds(20),
        Duration.ofSeconds(90));
  }

  public KvClientOptions withName(String name) {
    return new KvClientOptions(name, maxSliceBytes, windowBlocks, order, startLayer, creditSlices, sendWindowBytes,
        keepAlive,
        keepAliveTimeout);
  }

  public KvClientOptions withMaxSliceBytes(int maxSliceBytes) {
    return new KvClientOptions(name, maxSliceBytes, windowBlocks, order, startLayer, creditSlices,
        Math.max(sendWindowBytes, maxSliceBytes), keepAlive, keepAliveTimeout);
  }

  public KvClientOptions withWindowBlocks(int windowBlocks) {
    return new KvClientOptions(name, maxSliceBytes, windowBlocks, order, startLayer, creditSlices, sendWindowBytes,
        keepAlive,
        keepAliveTimeout);
  }

  public KvClientOptions withOrder(SliceOrder order) {
    return new KvClientOptions(name, maxSliceBytes, windowBlocks, order, startLayer, creditSlices, sendWindowBytes,
        keepAlive,
        keepAliveTimeout);
  }

  public KvClientOptions withStartLayer(int startLayer) {
    return new KvClientOptions(name, maxSliceBytes, windowBlocks, order, startLayer, creditSlices, sendWindowBytes,
        keepAlive,
        keepAliveTimeout);
  }

  public KvClientOptions withCreditSlices(int creditSlices) {
    return new KvClientOptions(name, maxSliceBytes, windowBlocks, order, startLayer, creditSlices, sendWindowBytes,
        keepAlive,
        keepAliveTimeout);
  }

  public KvClientOptions withKeepAlive(Duration keepAlive, Duration keepAliveTimeout) {
    return new KvClientOptions(name, maxSliceBytes, windowBlocks, order, startLayer, creditSlices, sendWindowBytes,
        keepAlive,
        keepAliveTimeout);
  }
}
