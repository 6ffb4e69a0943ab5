package io.penstock.wire.client.link;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.carrier.ClientRing;
import io.penstock.carrier.InlineCarrier;
import io.penstock.carrier.MemoryProbe;
import io.penstock.carrier.PeerMemoryException;
import io.penstock.carrier.SharedMemoryReceiver;
import io.penstock.carrier.SharedMemorySender;
import io.penstock.carrier.SliceSender;
import io.penstock.wire.protocol.Carrier;
import io.penstock.wire.protocol.Handshake;
import io.penstock.wire.protocol.WireFailure.CarrierUnavailableException;
import io.penstock.wire.transport.ConnectionGauges;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Carriers of slices on one connection of a client, in each direction, negotiated in `hello`.
///
/// Each end finds out whether it can read the other's memory, and proves that by the bytes that it read. To the node,
/// in another container or on another host, a process number may mean another process, so that the client has read the
/// probe of another node: its proof counts only if the node has read the probe of the client.
public final class ClientCarriers implements AutoCloseable {
  private final SliceSender sender;
  /// Reads the memory of the node; null if the bytes come in frames.
  private final @Nullable SharedMemoryReceiver receiver;
  private final byte @Nullable [] proof;
  private volatile @Nullable ClientRing ring;
  @GuardedBy("this") private boolean closed;

  private ClientCarriers(SliceSender sender, @Nullable SharedMemoryReceiver receiver, byte @Nullable [] proof) {
    this.sender = sender;
    this.receiver = receiver;
    this.proof = proof;
  }

  /// Offers of a client that accepts `wanted`, the first before the second, for its `hello`; null for none. A node
  /// whose process the system does not state learns nothing about this process.
  ///
  /// @param node its process, as in [ConnectionGauges#peerProcess]
  public static @Nullable List<Handshake.CarrierOffer> offers(List<Carrier> wanted, long node) {
    if (wanted.getFirst() == Carrier.INLINE || node == ConnectionGauges.NO_PROCESS) {
      return null;
    }
    try {
      return List.of(Handshake.CarrierOffer.of(MemoryProbe.ofClient(), null, null));
    } catch (PeerMemoryException e) { // this process has none
      return null;
    }
  }

  /// @param node its process, as in [ConnectionGauges#peerProcess]
  /// @throws CarrierUnavailableException if `wanted` has one carrier, and the node or this process cannot have it
  public static ClientCarriers agreed(List<Carrier> wanted, long node,
      @Nullable List<Handshake.CarrierOffer> answers) {
    if (wanted.getFirst() == Carrier.INLINE) {
      return new ClientCarriers(InlineCarrier.INSTANCE, null, null);
    }
    List<String> reasons = new ArrayList<>();
    Handshake.CarrierOffer answer = Handshake.CarrierOffer.sharedMemory(answers);
    if (node == ConnectionGauges.NO_PROCESS) {
      reasons.add("the node must be reached over its Unix domain socket, and run for the same user");
      answer = null;
    } else if (answer == null || answer.refusal() != null) {
      reasons.add(answer == null ? "the node did not offer it" : String.valueOf(answer.refusal()));
      answer = null;
    } else if (answer.requireProcess() != node) {
      reasons.add("the node's process is another to this process");
      answer = null;
    }
    if (answer == null) {
      return inline(wanted, reasons);
    }
    byte[] read = proof(answer, reasons);
    SliceSender sender = sender(answer, reasons);
    byte[] proof = sender == InlineCarrier.INSTANCE ? null : read;
    if (!reasons.isEmpty() && !wanted.contains(Carrier.INLINE)) {
      throw unavailable(wanted, reasons);
    }
    return new ClientCarriers(sender,
        proof == null ? null : new SharedMemoryReceiver(requireNonNull(answer.process())), proof);
  }

  private static ClientCarriers inline(List<Carrier> wanted, List<String> reasons) {
    if (!wanted.contains(Carrier.INLINE)) {
      throw unavailable(wanted, reasons);
    }
    return new ClientCarriers(InlineCarrier.INSTANCE, null, null);
  }

  private static CarrierUnavailableException unavailable(List<Carrier> wanted, List<String> reasons) {
    return new CarrierUnavailableException(wanted, List.of(Carrier.INLINE), String.join("; ", reasons));
  }

  /// Bytes of the node's probe; null if it cannot be read.
  private static byte @Nullable [] proof(Handshake.CarrierOffer answer, List<String> reasons) {
    try {
      return answer.readOfNode();
    } catch (PeerMemoryException e) {
      reasons.add("from the node: " + e.getMessage());
      return null;
    }
  }

  private static SliceSender sender(Handshake.CarrierOffer answer, List<String> reasons) {
    byte[] told = answer.proof();
    if (told != null && MemoryProbe.ofClient().isProvedBy(told)) {
      return new SharedMemorySender();
    }
    reasons.add("to the node: it has not read memory of this process");
    return InlineCarrier.INSTANCE;
  }

  public SliceSender sender() {
    return sender;
  }

  /// Refers to memory of this process; null if bytes go in frames.
  public @Nullable SharedMemorySender sharedSender() {
    return sender instanceof SharedMemorySender shared ? shared : null;
  }

  /// Carrier of slices from the node, if they lie in memory for it.
  public Carrier incoming() {
    return proof() == null ? Carrier.INLINE : Carrier.SHARED_MEMORY;
  }

  /// Carrier of slices to the node, if they lie in memory for it.
  public Carrier outgoing() {
    return sender == InlineCarrier.INSTANCE ? Carrier.INLINE : Carrier.SHARED_MEMORY;
  }

  public @Nullable SharedMemoryReceiver receiver() {
    return receiver;
  }

  /// Proof for a `get` whose slices may come as references; null for none, also once such memory could not be read.
  public byte @Nullable [] proof() {
    return receiver == null || receiver.isUnreadable() ? null : proof;
  }

  /// Ring for small gets; null if there is none, or it has ended.
  public @Nullable ClientRing ring() {
    ClientRing open = ring;
    return open == null || proof() == null || !open.isOpen() ? null : open;
  }

  /// Takes `opened` over.
  public synchronized void ringIs(ClientRing opened) {
    ring = opened;
    if (closed) { // the connection ended meanwhile
      opened.close();
    }
  }

  @Override
  public synchronized void close() {
    closed = true;
    ClientRing open = ring;
    if (open != null) {
      open.close();
    }
    if (receiver != null) {
      receiver.close();
    }
  }
}
