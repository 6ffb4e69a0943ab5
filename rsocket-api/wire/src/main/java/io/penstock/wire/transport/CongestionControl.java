package io.penstock.wire.transport;

import io.netty.channel.ChannelOption;
import io.netty.channel.unix.RawUnixChannelOption;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Reaction of the sockets of a TCP transport to congestion. Only Linux's own transport (epoll) can choose; others keep
/// the choice of the system.
public enum CongestionControl {
  /// What `LoopbackPath` says: `reno` between loopback addresses, else what the system chose.
  AUTOMATIC,
  /// Keeps the choice of the system.
  SYSTEM, RENO, CUBIC, BBR;

  private static final Path AVAILABLE = Path.of("/proc/sys/net/ipv4/tcp_available_congestion_control");
  private static final int IPPROTO_TCP = 6;
  private static final int TCP_CONGESTION = 13;

  private final byte[] kernelName = name().toLowerCase(Locale.ROOT).getBytes(StandardCharsets.US_ASCII);
  private final ChannelOption<ByteBuffer> option =
      new RawUnixChannelOption("TCP_CONGESTION", IPPROTO_TCP, TCP_CONGESTION, kernelName.length);

  /// Controls of this system; empty if it does not list them, as systems other than Linux.
  public static List<String> available() {
    try {
      return List.of(Files.readString(AVAILABLE).strip().split("\\s+"));
    } catch (IOException e) {
      return List.of();
    }
  }

  /// Why the sockets of this process cannot be told so, if they cannot.
  ///
  /// @param isEpoll whether they are of Netty's transport for Linux (`LoopbackPath.canChoose`)
  public Optional<String> problem(boolean isEpoll) {
    if (this == AUTOMATIC || this == SYSTEM) {
      return Optional.empty();
    }
    List<String> known = available();
    if (!known.contains(name().toLowerCase(Locale.ROOT))) {
      return Optional.of("must be automatic, system or one that this system has, " + String.join(", ", known));
    }
    return isEpoll ? Optional.empty() : Optional.of("must be automatic or system without Netty's native transport");
  }

  /// The option that names it to the kernel, with [#value].
  public ChannelOption<ByteBuffer> option() {
    return option;
  }

  public ByteBuffer value() {
    return ByteBuffer.wrap(kernelName);
  }

  /// Control to set on a socket; null to set none.
  ///
  /// @param loopback whether both ends are on this host
  public @Nullable CongestionControl chosen(boolean loopback) {
    return switch (this) {
      case AUTOMATIC -> loopback ? RENO : null;
      case SYSTEM -> null;
      case RENO, CUBIC, BBR -> this;
    };
  }
}
