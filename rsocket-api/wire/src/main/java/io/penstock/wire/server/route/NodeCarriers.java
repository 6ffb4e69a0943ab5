package io.penstock.wire.server.route;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.carrier.InlineCarrier;
import io.penstock.carrier.MemoryProbe;
import io.penstock.carrier.NodeRing;
import io.penstock.carrier.PeerMemoryException;
import io.penstock.carrier.SharedMemoryReceiver;
import io.penstock.carrier.SharedMemorySender;
import io.penstock.carrier.SliceSender;
import io.penstock.wire.protocol.Carrier;
import io.penstock.wire.protocol.Handshake;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.transport.ConnectionGauges;
import java.util.List;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/// Carriers of slices on one connection of a node. Shared memory is for a client whose process the system states, and
/// whose probe in that process the node has read: it gets the node's probe. The node then reads by references; it sends
/// references once the client has proved that it read the node's probe. Any other client gets one answer, which says
/// nothing about the processes of this host. Safe from any thread.
public final class NodeCarriers {
  /// The one answer to an offer that is not accepted.
  private static final Handshake.CarrierOffer REFUSED = Handshake.CarrierOffer.none(
      "shared memory is for processes of the node's user, over its Unix domain socket, if the node "
          + "has memory to share");

  private final List<Carrier> allowed;
  private final long process;
  private final SharedMemorySender shared = new SharedMemorySender();
  @GuardedBy("this") private @Nullable SharedMemoryReceiver receiver;
  @GuardedBy("this") private @Nullable NodeRing ring;
  @GuardedBy("this") private boolean ringClosed;
  @GuardedBy("this") private boolean closed;

  /// @param process of the peer, as in [ConnectionGauges#peerProcess]
  public NodeCarriers(List<Carrier> allowed, long process) {
    this.allowed = allowed;
    this.process = process;
  }

  /// The answer to the offers of a client; null to a client that offers nothing.
  ///
  /// @param hasMemory whether the node has blocks in memory for it
  @Nullable List<Handshake.CarrierOffer> answer(@Nullable List<Handshake.CarrierOffer> offers, boolean hasMemory) {
    Handshake.CarrierOffer offer = Handshake.CarrierOffer.sharedMemory(offers);
    if (offer == null) {
      return null;
    }
    try {
      return List.of(hasMemory && mayShare(offer) ? agreed(offer) : REFUSED);
    } catch (PeerMemoryException e) { // the client learns nothing about what is in its process, or in another
      return List.of(REFUSED);
    }
  }

  private boolean mayShare(Handshake.CarrierOffer offer) {
    return allowed.contains(Carrier.SHARED_MEMORY) && process != ConnectionGauges.NO_PROCESS
        && offer.requireProcess() == process;
  }

  private Handshake.CarrierOffer agreed(Handshake.CarrierOffer offer) {
    byte[] proof = offer.readOfClient();
    Handshake.CarrierOffer own = Handshake.CarrierOffer.of(MemoryProbe.ofNode(), proof, null);
    readFrom(offer);
    return own;
  }

  /// A client says `hello` again when it speaks of several spaces.
  private synchronized void readFrom(Handshake.CarrierOffer offer) {
    if (receiver == null && !closed) {
      receiver = new SharedMemoryReceiver(offer.requireProcess());
    }
  }

  /// Refers to memory of the node; null for bytes in frames.
  ///
  /// @param proof as of [#sender(byte[])]
  @Nullable SharedMemorySender sharedSender(byte @Nullable [] proof) {
    return sender(proof) instanceof SharedMemorySender one ? one : null;
  }

  /// Sender of the slices of a `get`.
  ///
  /// @param proof bytes that the client read in the node's probe; null for bytes in frames
  /// @throws WireFormatException if the bytes differ
  SliceSender sender(byte @Nullable [] proof) {
    if (proof == null || !allowed.contains(Carrier.SHARED_MEMORY)) {
      return InlineCarrier.INSTANCE;
    }
    if (receiver() == null || !MemoryProbe.ofNode().isProvedBy(proof)) {
      throw WireFormatException.request("proof", "what stands in the node's memory", "something else");
    }
    return shared;
  }

  /// Reads slices of a `put` whose frames have references; null if there must be none.
  synchronized @Nullable SharedMemoryReceiver receiver() {
    return receiver;
  }

  /// The read ring of the connection.
  ///
  /// @param opening makes it for the client's process
  /// @throws WireFormatException if the connection has one, or there can be none
  synchronized NodeRing ring(LongFunction<NodeRing> opening) {
    SharedMemoryReceiver client = receiver;
    if (client == null || ring != null) {
      throw WireFormatException.request("ring", "the first of a connection with shared memory",
          ring == null ? "without shared memory" : "another");
    }
    NodeRing opened = opening.apply(client.process());
    ring = opened;
    return opened;
  }

  /// Looks for blocks that the client has given back.
  void look() {
    NodeRing open = ring();
    if (open != null) {
      open.look();
    }
  }

  private synchronized @Nullable NodeRing ring() {
    return ring;
  }

  /// Ends ring and receiver.
  ///
  /// @param ringEnded runs if there was a ring
  public void close(Runnable ringEnded) {
    endReceiver();
    closeRing(ringEnded);
  }

  /// Ends the ring, once; its connection gets no other.
  ///
  /// @param ringEnded runs if there was a ring
  void closeRing(Runnable ringEnded) {
    NodeRing open;
    synchronized (this) {
      open = ringClosed ? null : ring;
      ringClosed = open != null || ringClosed;
    }
    if (open != null) {
      open.close();
      ringEnded.run();
    }
  }

  /// No ring opens from then on.
  private void endReceiver() {
    SharedMemoryReceiver ended;
    synchronized (this) {
      closed = true;
      ended = receiver;
      receiver = null;
    }
    if (ended != null) {
      ended.close();
    }
  }
}
