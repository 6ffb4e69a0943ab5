package io.penstock.cluster.infinispan;

import java.util.function.Consumer;
import org.jgroups.Address;
import org.jgroups.PhysicalAddress;
import org.jgroups.blocks.cs.Connection;
import org.jgroups.conf.ClassConfigurator;
import org.jgroups.protocols.TCP;

/// TCP between members, which tells when a connection closes. Members that talk have one connection, and as all send
/// heartbeats to all, every two have one.
final class MemberTransport extends TCP {
  private static final short PROTOCOL = 1703;

  static {
    ClassConfigurator.addProtocol(PROTOCOL, MemberTransport.class);
  }

  private volatile Consumer<Address> onClosed = peer -> {};

  /// @param listener receives the `HOST:PORT` whose connection closed, on the thread that read it; must be quick
  void onClosed(Consumer<Address> listener) {
    onClosed = listener;
  }

  /// Whether a connection to this `HOST:PORT` is open.
  boolean isConnected(PhysicalAddress peer) {
    return srv != null && srv.connectionEstablishedTo(peer);
  }

  @Override
  public void connectionClosed(Connection connection) {
    Address peer = connection.peerAddress();
    if (connected && peer != null) {
      onClosed.accept(peer);
    }
  }
}
