package io.penstock.wire.transport;

import io.netty.channel.ChannelOption;
import io.netty.channel.unix.RawUnixChannelOption;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// How the sockets of a TCP transport react to congestion. Only Linux's own transport (epoll) can choose; others keep
/// what the system chose.
public enum CongestionControl {
  /// What [LoopbackPath] says: `reno` between loopback addresses, else what the system chose.
  AUTOMATIC,
  /// What the system chose.
  SYSTEM, RENO, CUBIC, BBR;

  private static final int IPPROTO_TCP = 6;
  private static final int TCP_CONGESTION = 13;

  private final byte[] kernelName = name().toLowerCase(Locale.ROOT).getBytes(StandardCharsets.US_ASCII);
  private final ChannelOption<ByteBuffer> option =
      new RawUnixChannelOption("TCP_CONGESTION", IPPROTO_TCP, TCP_CONGESTION, kernelName.length);

  /// The option that names it to the kernel, with [#value].
  ChannelOption<ByteBuffer> option() {
    return option;
  }

  ByteBuffer value() {
    return ByteBuffer.wrap(kernelName);
  }

  /// What is to be set on a socket; null to set nothing.
  ///
  /// @param loopback whether both ends are on this host
  @Nullable CongestionControl chosen(boolean loopback) {
    return switch (this) {
      case AUTOMATIC -> loopback ? RENO : null;
      case SYSTEM -> null;
      case RENO, CUBIC, BBR -> this;
    };
  }
}
