package io.penstock.wire.transport.tcp;

import io.netty.channel.Channel;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.unix.DomainSocketChannel;
import io.netty.channel.unix.PeerCredentials;
import io.penstock.wire.transport.ConnectionGauges;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// Finds the process at the other end of a Unix domain socket, as Linux states it.
final class PeerProcess {
  private PeerProcess() {}

  /// The user of this process, read when it is first asked for.
  private static final class Self {
    /// Null if the system does not state it: then no peer runs for the same user.
    private static final @Nullable Object UID = uid();

    private static @Nullable Object uid() {
      try {
        return Files.getAttribute(Path.of("/proc/self"), "unix:uid");
      } catch (IOException | UnsupportedOperationException e) {
        return null;
      }
    }
  }

  /// The peer's process, if it runs for the user of this process; else [ConnectionGauges#NO_PROCESS].
  static long of(Channel channel) {
    // Netty's transport for Linux is not on every class path: only its sockets lead to its class
    if (!(channel instanceof DomainSocketChannel) || !(channel instanceof EpollDomainSocketChannel socket)) {
      return ConnectionGauges.NO_PROCESS;
    }
    try {
      PeerCredentials peer = socket.peerCredentials();
      return Integer.valueOf(peer.uid()).equals(Self.UID) ? peer.pid() : ConnectionGauges.NO_PROCESS;
    } catch (IOException | UnsupportedOperationException e) { // the socket is closed, or has no such option
      return ConnectionGauges.NO_PROCESS;
    }
  }
}
