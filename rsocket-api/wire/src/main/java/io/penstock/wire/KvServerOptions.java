package io.penstock.wire;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import java.time.Duration;

/// How a [KvServer] serves.
///
/// @param node name told to clients
/// @param limits what a request may ask for
/// @param sendWindowBytes most bytes of slices a connection that wait for its socket: what a reader that takes nothing
///     holds of the node's budget
/// @param maxStreams most streams of slices a connection
/// @param windowsAhead windows of a put for which room is made before the first of them is complete
/// @param awaitTimeout longest wait of a `get` for a block that is being written
/// @param stallTimeout how long a client may keep a stream from moving: a `get` whose reader gives no credit or takes
///     nothing from its socket, a `put` that has credit and sends nothing; more than that and less than twice that ends
///     the stream
/// @param requestBytes most bytes that the messages of all running requests have, as they came; their objects take
///     about 16 times as much of the heap. A connection has no more of it than it leaves to others
/// @param generation differs from start to start of a node, so that a reader of events sees that they are numbered anew
public record KvServerOptions(String node, Limits limits, long sendWindowBytes, int maxStreams, int windowsAhead,
    Duration awaitTimeout, Duration stallTimeout, long requestBytes,
    long generation) {
  public KvServerOptions {
    requireNonNull(node, "node");
    requireNonNull(limits, "limits");
    if (sendWindowBytes < limits.maxSliceBytes()) {
      throw new IllegalArgumentException(
          "sendWindowBytes must be >= maxSliceBytes " + limits.maxSliceBytes() + " (was " + sendWindowBytes + ")");
    }
    Checks.positive("maxStreams", maxStreams);
    Checks.positive("windowsAhead", windowsAhead);
    Checks.positive("awaitTimeout", awaitTimeout);
    Checks.positive("stallTimeout", stallTimeout);
    if (requestBytes < limits.longestRequest()) {
      throw new IllegalArgumentException("requestBytes must be >= " + limits.longestRequest()
          + ", a request of maxKeys " + limits.maxKeys() + " (was " + requestBytes + ")");
    }
  }

  /// Node `penstock`, default limits, 4 MiB a send window, 1,024 streams a connection, 2 windows ahead, 60 s of
  /// waiting, 30 s of standing still, 1/64 of the heap (at least 4 MiB) for messages of requests.
  public static KvServerOptions defaults() {
    return new KvServerOptions("penstock", Limits.defaults(), 4 << 20, 1024, 2, Duration.ofSeconds(60),
        Duration.ofSeconds(30), Math.max(4 << 20, Runtime.getRuntime().maxMemory() / 64), 0);
  }

  public KvServerOptions withNode(String node) {
    return new KvServerOptions(node, limits, sendWindowBytes, maxStreams, windowsAhead, awaitTimeout,
        stallTimeout, requestBytes, generation);
  }

  public KvServerOptions withLimits(Limits limits) {
    return new KvServerOptions(node, limits, Math.max(sendWindowBytes, limits.maxSliceBytes()), maxStreams,
        windowsAhead, awaitTimeout,
        stallTimeout, Math.max(requestBytes, limits.longestRequest()), generation);
  }

  public KvServerOptions withSendWindowBytes(long sendWindowBytes) {
    return new KvServerOptions(node, limits, sendWindowBytes, maxStreams, windowsAhead, awaitTimeout,
        stallTimeout, requestBytes, generation);
  }

  public KvServerOptions withWindowsAhead(int windowsAhead) {
    return new KvServerOptions(node, limits, sendWindowBytes, maxStreams, windowsAhead, awaitTimeout,
        stallTimeout, requestBytes, generation);
  }

  public KvServerOptions withAwaitTimeout(Duration awaitTimeout) {
    return new KvServerOptions(node, limits, sendWindowBytes, maxStreams, windowsAhead, awaitTimeout,
        stallTimeout, requestBytes, generation);
  }

  public KvServerOptions withStallTimeout(Duration stallTimeout) {
    return new KvServerOptions(node, limits, sendWindowBytes, maxStreams, windowsAhead, awaitTimeout, stallTimeout,
        requestBytes, generation);
  }

  public KvServerOptions withRequestBytes(long requestBytes) {
    return new KvServerOptions(node, limits, sendWindowBytes, maxStreams, windowsAhead, awaitTimeout, stallTimeout,
        requestBytes, generation);
  }

  public KvServerOptions withGeneration(long generation) {
    return new KvServerOptions(node, limits, sendWindowBytes, maxStreams, windowsAhead, awaitTimeout, stallTimeout,
        requestBytes, generation);
  }
}
