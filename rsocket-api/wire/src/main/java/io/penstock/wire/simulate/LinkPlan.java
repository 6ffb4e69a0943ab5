package io.penstock.wire.simulate;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import io.penstock.wire.transport.ConnectionLimits;
import java.time.Duration;
import java.util.List;

/// Behaviour of one simulated connection.
///
/// @param minLatency shortest way of a frame
/// @param maxLatency longest way of a frame; frames never overtake each other on it
/// @param bytesPerSecond rate of frames in each direction
/// @param windowBytes bytes under way or not yet taken by the receiver after which the sender waits, as TCP's window
/// @param copies whether the receiver gets bytes of its own (as over a socket) or the sender's buffers
/// @param limits those of the real transport
/// @param faults and their times
public record LinkPlan(
    Duration minLatency,
    Duration maxLatency,
    long bytesPerSecond,
    int windowBytes,
    boolean copies,
    ConnectionLimits limits,
    List<LinkFault> faults) {
  public LinkPlan {
    requireNonNull(limits, "limits");
    faults = List.copyOf(faults);
    if (minLatency.isNegative() || maxLatency.compareTo(minLatency) < 0) {
      throw new IllegalArgumentException(
          "minLatency must be in [0, maxLatency] (was " + minLatency + ", maxLatency " + maxLatency + ")");
    }
    Checks.positive("bytesPerSecond", bytesPerSecond);
    Checks.positive("windowBytes", windowBytes);
  }

  /// 50 to 200 µs, 10 GB/s, a window of 4 MiB, bytes copied, default limits, no faults.
  public static LinkPlan quiet() {
    return new LinkPlan(
        Duration.ofNanos(50_000), Duration.ofNanos(200_000), 10_000_000_000L, 4 << 20, true,
        ConnectionLimits.defaults(), List.of());
  }

  public LinkPlan withLatency(Duration min, Duration max) {
    return new LinkPlan(min, max, bytesPerSecond, windowBytes, copies, limits, faults);
  }

  public LinkPlan withBytesPerSecond(long rate) {
    return new LinkPlan(minLatency, maxLatency, rate, windowBytes, copies, limits, faults);
  }

  public LinkPlan withWindowBytes(int bytes) {
    return new LinkPlan(minLatency, maxLatency, bytesPerSecond, bytes, copies, limits, faults);
  }

  public LinkPlan withCopies(boolean copies) {
    return new LinkPlan(minLatency, maxLatency, bytesPerSecond, windowBytes, copies, limits, faults);
  }

  public LinkPlan withLimits(ConnectionLimits limits) {
    return new LinkPlan(minLatency, maxLatency, bytesPerSecond, windowBytes, copies, limits, faults);
  }

  public LinkPlan withFaults(LinkFault... faults) {
    return new LinkPlan(minLatency, maxLatency, bytesPerSecond, windowBytes, copies, limits, List.of(faults));
  }
}
