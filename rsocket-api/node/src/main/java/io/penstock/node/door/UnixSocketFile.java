package io.penstock.node.door;

import java.io.IOException;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/// The file of a Unix domain socket, which outlives a process that was killed.
final class UnixSocketFile {
  private UnixSocketFile() {}

  /// Removes the socket at `path` if no process listens there.
  ///
  /// @throws IOException if one does, or it is no socket
  static void requireFree(Path path) throws IOException {
    if (!Files.exists(path)) {
      return;
    }
    if (Files.isRegularFile(path) || Files.isDirectory(path)) {
      throw new IOException("there is a file that is no socket");
    }
    try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      probe.configureBlocking(false); // a full backlog refuses instead of waiting
      probe.connect(UnixDomainSocketAddress.of(path));
    } catch (ConnectException e) { // nothing listens
      Files.deleteIfExists(path);
      return;
    }
    throw new IOException("another process listens there");
  }
}
