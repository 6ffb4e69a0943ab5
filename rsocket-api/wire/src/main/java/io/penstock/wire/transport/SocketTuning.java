package io.penstock.wire.transport;

import io.netty.channel.ChannelOption;
import io.netty.channel.unix.RawUnixChannelOption;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/// What a socket is told beside the defaults of the system.
///
/// @param congestion the congestion control of a TCP socket by its name in Linux, `system` for that of the system, or
///     `auto`: plain between two loopback addresses ([LoopbackPath]), else that of the system
/// @param sendBytes buffer of the system for what is sent, 0 to leave it to the system
/// @param receiveBytes buffer of the system for what is received, 0 to leave it to the system
public record SocketTuning(String congestion, int sendBytes, int receiveBytes) {
  public static final String AUTO = "auto";
  public static final String SYSTEM = "system";

  private static final String PLAIN = "reno";
  private static final Path KNOWN = Path.of("/proc/sys/net/ipv4/tcp_available_congestion_control");
  private static final int IPPROTO_TCP = 6;
  private static final int TCP_CONGESTION = 13;
  private static final int MOST_BYTES = 1 << 30;
  private static final ConcurrentHashMap<String, ChannelOption<ByteBuffer>> OPTIONS = new ConcurrentHashMap<>();

  public SocketTuning {
    if (!congestion.matches("[a-z0-9_-]{1,15}")) {
      throw new IllegalArgumentException("congestion must be a name of a congestion control (was " + congestion + ")");
    }
    ConnectionLimits.within("sendBytes", sendBytes, 0, MOST_BYTES);
    ConnectionLimits.within("receiveBytes", receiveBytes, 0, MOST_BYTES);
  }

  /// Congestion control `auto`, buffers left to the system.
  public static SocketTuning defaults() {
    return new SocketTuning(AUTO, 0, 0);
  }

  public SocketTuning withCongestion(String name) {
    return new SocketTuning(name, sendBytes, receiveBytes);
  }

  public SocketTuning withBuffers(int send, int receive) {
    return new SocketTuning(congestion, send, receive);
  }

  /// The congestion controls that this system knows; empty if it does not tell, as systems other than Linux.
  public static List<String> congestionControls() {
    try {
      return List.of(Files.readString(KNOWN).strip().split("\\s+"));
    } catch (IOException e) {
      return List.of();
    }
  }

  /// Why a TCP socket of this process cannot be told so, if it cannot.
  ///
  /// @param isEpoll whether the sockets are of Netty's transport for Linux
  public Optional<String> problem(boolean isEpoll) {
    if (congestion.equals(AUTO) || congestion.equals(SYSTEM)) {
      return Optional.empty();
    }
    List<String> known = congestionControls();
    if (!known.contains(congestion)) {
      return Optional.of("must be auto, system or one of " + known + ", which this system has");
    }
    return isEpoll ? Optional.empty() : Optional.of("must be auto or system without Netty's native transport");
  }

  /// The name that a socket is told, if it is told any.
  Optional<String> told(SocketAddress remote) {
    return switch (congestion) {
      case SYSTEM -> Optional.empty();
      case AUTO -> LoopbackPath.isLoopback(remote) ? Optional.of(PLAIN) : Optional.empty();
      default -> Optional.of(congestion);
    };
  }

  /// The option of a socket with a value of this name.
  static ChannelOption<ByteBuffer> option(String name) {
    return OPTIONS.computeIfAbsent(name,
        any -> new RawUnixChannelOption("TCP_CONGESTION_" + any, IPPROTO_TCP, TCP_CONGESTION, any.length()));
  }

  static ByteBuffer value(String name) {
    return ByteBuffer.wrap(name.getBytes(StandardCharsets.US_ASCII));
  }
}
