package io.penstock.wire.transport;

import static java.util.Objects.requireNonNull;

import io.netty.channel.unix.DomainSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;

/// How a socket is used, beyond the defaults of the system.
///
/// @param congestion reaction of a TCP socket to congestion
/// @param sendBytes send buffer of the system, 0 to leave it to the system; for a Unix domain socket 0 is 4 MiB
/// @param receiveBytes receive buffer of the system, 0 to leave it to the system
/// @param awake how long the thread of a connection looks for the next frame before it sleeps, after a request that has
///     one answer; zero for not at all, at most 1 ms. It sleeps at once where that is of no use, or where another
///     thread wants its processor
public record SocketTuning(CongestionControl congestion, int sendBytes, int receiveBytes, Duration awake) {
  /// Default of `awake`: with it, a get of one block of 4 KiB to 256 KiB ends before the other side sleeps.
  public static final Duration AWAKE = Duration.ofNanos(100_000);
  /// Longest `awake`.
  public static final Duration MOST_AWAKE = Duration.ofMillis(1);

  private static final int MOST_BYTES = 1 << 30;
  /// Linux gives a Unix domain socket 208 KiB, less than one slice, and never more by itself: each side would wait for
  /// the other slice by slice.
  private static final int LOCAL_SEND_BYTES = 4 << 20;

  public SocketTuning {
    requireNonNull(congestion, "congestion");
    ConnectionLimits.within("sendBytes", sendBytes, 0, MOST_BYTES);
    ConnectionLimits.within("receiveBytes", receiveBytes, 0, MOST_BYTES);
    if (awake.isNegative() || awake.compareTo(MOST_AWAKE) > 0) {
      throw new IllegalArgumentException("awake must be in [0, 1 ms] (was " + awake + ")");
    }
  }

  /// Congestion control `AUTOMATIC`, buffers left to the system, threads that stay awake for [#AWAKE].
  public static SocketTuning defaults() {
    return new SocketTuning(CongestionControl.AUTOMATIC, 0, 0, AWAKE);
  }

  /// Send buffer of the system for a socket of `address`; 0 to leave it to the system.
  public int sendBytes(SocketAddress address) {
    return sendBytes == 0 && address instanceof DomainSocketAddress ? LOCAL_SEND_BYTES : sendBytes;
  }

  public SocketTuning withCongestion(CongestionControl control) {
    return new SocketTuning(control, sendBytes, receiveBytes, awake);
  }

  public SocketTuning withBuffers(int send, int receive) {
    return new SocketTuning(congestion, send, receive, awake);
  }

  public SocketTuning withAwake(Duration moment) {
    return new SocketTuning(congestion, sendBytes, receiveBytes, moment);
  }
}
