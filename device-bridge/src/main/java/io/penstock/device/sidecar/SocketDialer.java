package io.penstock.device.sidecar;

import io.penstock.device.sidecar.Link.Dialer;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;

/// Connects to a node's socket, each time on a thread of its own, which then reads.
record SocketDialer(Path path) implements Dialer {
  @Override
  public void dial(Link.Events events) {
    try {
      Thread.ofPlatform().daemon().name("penstock-sidecar-client").start(() -> connect(events));
    } catch (OutOfMemoryError e) { // of threads: others may end until the next try
      events.closed(SideCarFailure.of(SideCarCode.DOWN, SideCarFailure.NO_REGION, path + ": " + e.getMessage()));
    }
  }

  private void connect(Link.Events events) {
    SocketChannel channel;
    try {
      channel = SocketChannel.open(UnixDomainSocketAddress.of(path));
    } catch (IOException e) {
      events.closed(SideCarFailure.of(SideCarCode.DOWN, SideCarFailure.NO_REGION, path + ": " + e.getMessage()));
      return;
    }
    SocketLink.run(channel, events, () -> false);
  }
}
