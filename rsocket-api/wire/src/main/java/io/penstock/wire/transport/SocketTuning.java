package io.penstock.wire.transport;

import static java.util.Objects.requireNonNull;

import io.netty.channel.unix.DomainSocketAddress;
import java.net.SocketAddress;

/// Options of a socket that differ from the defaults of the system.
///
/// @param congestion reaction of a TCP socket to congestion
/// @param sendBytes send buffer of the system, 0 to leave it to the system; for a Unix domain socket 0 is 4 MiB
/// @param receiveBytes receive buffer of the system, 0 to leave it to the system
public record SocketTuning(CongestionControl congestion, int sendBytes, int receiveBytes) {
  private static final int MOST_BYTES = 1 << 30;
  /// Linux gives a Unix domain socket 208 KiB, less than one slice, and never more by itself: each side would wait for
  /// the other slice by slice.
  private static final int LOCAL_SEND_BYTES = 4 << 20;

  public SocketTuning {
    requireNonNull(congestion, "congestion");
    ConnectionLimits.within("sendBytes", sendBytes, 0, MOST_BYTES);
    ConnectionLimits.within("receiveBytes", receiveBytes, 0, MOST_BYTES);
  }

  /// Congestion control `AUTOMATIC`, buffers left to the system.
  public static SocketTuning defaults() {
    return new SocketTuning(CongestionControl.AUTOMATIC, 0, 0);
  }

  /// Send buffer of the system for a socket of `address`; 0 to leave it to the system.
  public int sendBytes(SocketAddress address) {
    return sendBytes == 0 && address instanceof DomainSocketAddress ? LOCAL_SEND_BYTES : sendBytes;
  }

  public SocketTuning withCongestion(CongestionControl control) {
    return new SocketTuning(control, sendBytes, receiveBytes);
  }

  public SocketTuning withBuffers(int send, int receive) {
    return new SocketTuning(congestion, send, receive);
  }
}
