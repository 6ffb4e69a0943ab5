package io.penstock.wire.transport.tcp;

import io.netty.channel.Channel;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.unix.DomainSocketChannel;
import io.netty.channel.unix.PeerCredentials;
import io.penstock.wire.transport.ConnectionGauges;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// Finds the process at the other end of a Unix domain socket, as Linux states it.
final class PeerProcess {
  private static final Path SELF = Path.of("/proc/self");

  private PeerProcess() {}

  /// The peer's process, if it runs for the user of this process; else [ConnectionGauges#NO_PROCESS].
  static long of(Channel channel) {
    // Netty's transport for Linux is not on every class path: only its sockets lead to its class
    if (!(channel instanceof DomainSocketChannel) || !(channel instanceof EpollDomainSocketChannel socket)) {
      return ConnectionGauges.NO_PROCESS;
    }
    try {
      PeerCredentials peer = socket.peerCredentials();
      return Files.getAttribute(SELF, "unix:uid").equals(peer.uid()) ? peer.pid() : ConnectionGauges.NO_PROCESS;
    } catch (IOException | UnsupportedOperationException e) { // the socket is closed, or has no such option
      return ConnectionGauges.NO_PROCESS;
    }
  }
}
