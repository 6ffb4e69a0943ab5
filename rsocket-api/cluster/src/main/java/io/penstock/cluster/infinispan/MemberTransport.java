package io.penstock.cluster.infinispan;

import java.io.DataInput;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jgroups.Address;
import org.jgroups.PhysicalAddress;
import org.jgroups.blocks.cs.Connection;
import org.jgroups.conf.ClassConfigurator;
import org.jgroups.protocols.TCP;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// TCP between members, which tells when a connection closes. Members that talk have one connection, and as all send
/// heartbeats to all, every two have one.
///
/// With a secret, all bytes of a sending are sealed as a whole: messages with all their headers, discovery, heartbeats
/// and joins too. What does not open is dropped before a byte of it is read, so a stranger is answered nothing.
/// JGroups' own `SYM_ENCRYPT` leaves headers readable, and takes messages that are headers alone from anyone.
final class MemberTransport extends TCP {
  private static final short PROTOCOL = 1703;
  private static final int FIRST_BYTES = 16 << 10;
  private static final long LOGGED_EACH = 1000;
  private static final Logger LOG = LoggerFactory.getLogger(MemberTransport.class);

  static {
    ClassConfigurator.addProtocol(PROTOCOL, MemberTransport.class);
  }

  private final @Nullable Seal seal;
  private final AtomicLong refused = new AtomicLong();
  private final Dialing dialing = new Dialing(this::dial, task -> Thread.ofVirtual().name("dial").start(task));
  private volatile Consumer<Address> onClosed = peer -> {};

  /// @param seal null for messages that anyone can read and send
  MemberTransport(@Nullable Seal seal) {
    this.seal = seal;
  }

  /// @param listener receives the `HOST:PORT` whose connection closed, on the thread that read it; must be quick
  void onClosed(Consumer<Address> listener) {
    onClosed = listener;
  }

  /// Whether a connection to this `HOST:PORT` is open.
  boolean isConnected(PhysicalAddress peer) {
    return srv != null && srv.connectionEstablishedTo(peer);
  }

  /// Sendings that were dropped, for no member with the secret made them.
  long refused() {
    return refused.get();
  }

  @Override
  public void sendUnicast(PhysicalAddress dest, byte[] data, int offset, int length) throws Exception {
    if (seal == null) {
      pass(dest, data, offset, length);
    } else {
      byte[] sealed = seal.seal(data, offset, length);
      pass(dest, sealed, 0, sealed.length);
    }
  }

  private void pass(PhysicalAddress dest, byte[] data, int offset, int length) throws Exception {
    if (isConnected(dest) && !dialing.isWaiting(dest)) {
      super.sendUnicast(dest, data, offset, length);
    } else {
      dialing.send(dest, data, offset, length);
    }
  }

  private void dial(PhysicalAddress dest, byte[] data) throws Exception {
    super.sendUnicast(dest, data, 0, data.length);
  }

  @Override
  public void receive(Address sender, DataInput in, int length) throws Exception {
    if (seal == null) {
      super.receive(sender, in, length);
    } else {
      receive(sender, read(in, length), 0, length);
    }
  }

  /// Memory is taken as bytes come: a stranger who only states a length gets none for it.
  private static byte[] read(DataInput in, int length) throws IOException {
    byte[] bytes = new byte[Math.min(length, FIRST_BYTES)];
    in.readFully(bytes);
    while (bytes.length < length) {
      int before = bytes.length;
      bytes = Arrays.copyOf(bytes, Math.min(length, 2 * before));
      in.readFully(bytes, before, bytes.length - before);
    }
    return bytes;
  }

  @Override
  public void receive(Address sender, byte[] data, int offset, int length) {
    if (seal == null) {
      super.receive(sender, data, offset, length);
      return;
    }
    byte[] plain;
    try {
      plain = seal.open(data, offset, length);
    } catch (GeneralSecurityException e) {
      refuse(sender);
      return;
    }
    super.receive(sender, plain, 0, plain.length);
  }

  private void refuse(Address sender) {
    long count = refused.getAndIncrement();
    if (count % LOGGED_EACH == 0) {
      LOG.warn("dropped what {} sent: it is not sealed with the secret of this cluster ({} dropped so far)", sender,
          count + 1);
    }
  }

  @Override
  public void connectionClosed(Connection connection) {
    Address peer = connection.peerAddress();
    if (connected && peer != null) {
      onClosed.accept(peer);
    }
  }
}
