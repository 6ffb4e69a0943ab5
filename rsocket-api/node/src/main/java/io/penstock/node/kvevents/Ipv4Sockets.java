package io.penstock.node.kvevents;

import java.io.IOException;
import java.net.ProtocolFamily;
import java.net.StandardProtocolFamily;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;

/// The system's sockets, of which those that listen are of IPv4: at `0.0.0.0` such a one accepts IPv4 alone.
final class Ipv4Sockets extends SelectorProvider {
  private static final SelectorProvider SYSTEM = SelectorProvider.provider();

  @Override
  public ServerSocketChannel openServerSocketChannel() throws IOException {
    return ServerSocketChannel.open(StandardProtocolFamily.INET);
  }

  @Override
  public SocketChannel openSocketChannel() throws IOException {
    return SYSTEM.openSocketChannel();
  }

  @Override
  public DatagramChannel openDatagramChannel() throws IOException {
    return SYSTEM.openDatagramChannel();
  }

  @Override
  public DatagramChannel openDatagramChannel(ProtocolFamily family) throws IOException {
    return SYSTEM.openDatagramChannel(family);
  }

  @Override
  public Pipe openPipe() throws IOException {
    return SYSTEM.openPipe();
  }

  @Override
  public AbstractSelector openSelector() throws IOException {
    return SYSTEM.openSelector();
  }
}
