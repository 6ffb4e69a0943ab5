package io.penstock.carrier;

import io.penstock.system.NativeMemory;
import io.penstock.system.PeerRegion;
import io.penstock.system.SharedRegion;
import io.penstock.system.SharedRegion.Kind;
import io.penstock.system.SystemCallException;
import java.io.IOException;
import java.security.MessageDigest;

/// A page of this process by which a peer finds out, and proves, that it can read memory of this process: the peer
/// reads its random bytes, and sends them. So no reference is sent to a peer on another host, of another user or with
/// other process numbers, even if it claims otherwise.
///
/// A node and a client have probes of different kinds, so that a client cannot make a node read the probe of another
/// node. A process has one of each, made when it is first needed.
public final class MemoryProbe {
  private final SharedRegion region;

  private MemoryProbe(Kind kind) throws SystemCallException {
    this.region = SharedRegion.create(kind, "probe", 0);
  }

  private static final class OfNode {
    static final Made MADE = Made.of(Kind.NODE_PROBE);
  }

  private static final class OfClient {
    static final Made MADE = Made.of(Kind.CLIENT_PROBE);
  }

  /// A probe, or why there is none.
  private sealed interface Made {
    static Made of(Kind kind) {
      try {
        return NativeMemory.absence().<Made>map(Refused::new).orElse(new Ready(new MemoryProbe(kind)));
      } catch (SystemCallException e) {
        return new Refused(String.valueOf(e.getMessage()));
      }
    }

    default MemoryProbe get() {
      return switch (this) {
        case Ready(MemoryProbe probe) -> probe;
        case Refused(String reason) -> throw new PeerMemoryException(
            "this process must have memory to share (was refused: " + reason + ")", null);
      };
    }
  }

  private record Ready(MemoryProbe probe) implements Made {}

  private record Refused(String reason) implements Made {}

  /// The probe of this process as a node.
  ///
  /// @throws PeerMemoryException if the system has no memory to share
  public static MemoryProbe ofNode() {
    return OfNode.MADE.get();
  }

  /// The probe of this process as a client.
  ///
  /// @throws PeerMemoryException if the system has no memory to share
  public static MemoryProbe ofClient() {
    return OfClient.MADE.get();
  }

  /// Whether this process has blocks that a peer can read.
  public static boolean hasBlocks() {
    return SharedRegion.isOpen(Kind.BLOCKS);
  }

  /// Number of this process.
  public long process() {
    return ProcessHandle.current().pid();
  }

  /// Descriptor by which a peer finds it.
  public int descriptor() {
    return region.descriptor();
  }

  /// Whether `proof` equals the bytes that a peer reads in it.
  public boolean isProvedBy(byte[] proof) {
    return MessageDigest.isEqual(region.token(), proof);
  }

  /// Reads the probe of a node.
  ///
  /// @throws PeerMemoryException if this process cannot
  public static byte[] readOfNode(long process, int descriptor) {
    return read(process, descriptor, Kind.NODE_PROBE);
  }

  /// Reads the probe of a client.
  ///
  /// @throws PeerMemoryException if this process cannot
  public static byte[] readOfClient(long process, int descriptor) {
    return read(process, descriptor, Kind.CLIENT_PROBE);
  }

  private static byte[] read(long process, int descriptor, Kind kind) {
    try (PeerRegion region = PeerRegion.map(process, descriptor, kind)) {
      return region.token();
    } catch (IOException e) {
      throw new PeerMemoryException(String.valueOf(e.getMessage()), e);
    }
  }
}
