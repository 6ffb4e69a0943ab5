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
import java.util.List;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/// Carriers of slices on one connection of a node. A client that offers shared memory gets the node's probe. The node
/// reads it by references once it has read the client's probe; it sends references once the client has proved that it
/// read the node's. Safe from any thread.
public final class NodeCarriers {
  private final List<Carrier> allowed;
  private final SharedMemorySender shared = new SharedMemorySender();
  @GuardedBy("this") private @Nullable SharedMemoryReceiver receiver;
  @GuardedBy("this") private @Nullable NodeRing ring;
  @GuardedBy("this") private boolean ringClosed;
  @GuardedBy("this") private boolean closed;

  public NodeCarriers(List<Carrier> allowed) {
    this.allowed = allowed;
  }

  /// The answer to the offers of a client; null to a client that offers nothing.
  ///
  /// @param hasMemory whether the node has blocks in memory for it
  @Nullable List<Handshake.CarrierOffer> answer(@Nullable List<Handshake.CarrierOffer> offers, boolean hasMemory) {
    Handshake.CarrierOffer offer = Handshake.CarrierOffer.sharedMemory(offers);
    if (offer == null) {
      return null;
    } else if (!allowed.contains(Carrier.SHARED_MEMORY)) {
      return List.of(Handshake.CarrierOffer.none("the node is set to carry bytes inline"));
    } else if (!hasMemory) {
      return List.of(Handshake.CarrierOffer.none("the node has no blocks in memory for it"));
    }
    byte[] proof = null;
    String refusal = null;
    try {
      proof = offer.readOfClient();
      readFrom(offer);
    } catch (PeerMemoryException e) {
      refusal = e.getMessage();
    }
    return List.of(answer(proof, refusal));
  }

  private static Handshake.CarrierOffer answer(byte @Nullable [] proof, @Nullable String refusal) {
    try {
      return Handshake.CarrierOffer.of(MemoryProbe.ofNode(), proof, refusal);
    } catch (PeerMemoryException e) {
      return Handshake.CarrierOffer.none(String.valueOf(e.getMessage()));
    }
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
    if (!MemoryProbe.ofNode().isProvedBy(proof)) {
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
