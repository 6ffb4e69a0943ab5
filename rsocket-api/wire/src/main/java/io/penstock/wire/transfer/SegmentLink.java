package io.penstock.wire.transfer;

import io.penstock.TransientKvException;
import io.penstock.check.Checks;
import io.penstock.wire.trace.TraceContext;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// A connection to one peer, as a transport makes it. The engine decides about requests, their times and their number;
/// a link moves bytes, verifies them, and bounds those in flight. Safe from any thread.
public interface SegmentLink {
  /// Makes links.
  @FunctionalInterface
  interface Connector {
    /// @param peer address, in the transport's words
    /// @param engine number of the engine that connects; the peer ends the writes of its earlier connections
    /// @return cold; signals [io.penstock.TransientKvException] if another attempt may succeed
    Mono<SegmentLink> connect(String peer, long engine);
  }

  /// A part of a remote segment.
  record Range(long generation, long number, long offset, long length) {
    public Range {
      Checks.positive("length", length);
      Memory.end(offset, length);
    }
  }

  /// A notification on its way.
  ///
  /// @param engine number of the sending engine
  /// @param sequence number of the notification, of that engine; equal when it is sent again
  /// @param generation of the peer in which the items completed
  record Letter(long engine, long sequence, long generation, Notification notification) {}

  /// Work of a link.
  @FunctionalInterface
  interface Operation {
    /// Stops it; it still ends by its [Ending]. Idempotent.
    void abort();

    /// Bytes that went or came through shared memory so far.
    default long sharedBytes() {
      return 0;
    }

    /// Time that checksums of received bytes have taken so far, in nanoseconds; 0 if that is not known.
    default long verifyNanos() {
      return 0;
    }
  }

  /// Receives the end of an operation.
  @FunctionalInterface
  interface Ending {
    /// Called once, on any thread, when nothing uses the local memory any more.
    ///
    /// @param error null if all bytes arrived and were verified, by the peer if they were written
    void ended(@Nullable Throwable error);

    /// The trace that the operation belongs to; null for none.
    default @Nullable TraceContext trace() {
      return null;
    }
  }

  /// Received bytes differ from their checksum. None of them landed.
  final class CorruptException extends TransientKvException {
    private final long offset;

    /// @param offset in the item, of the slice
    public CorruptException(long offset, int expected, int actual) {
      super("CRC32C of the bytes from %d on must be %08x (was %08x)".formatted(offset, expected, actual));
      this.offset = offset;
    }

    public long offset() {
      return offset;
    }
  }

  /// Present segments of the peer.
  Mono<SegmentRegistry.Snapshot> describe();

  /// Maximum bytes of small ranges that are worth moving in one operation; 0 if each range is better off alone. May
  /// change with [#describe()].
  default int groupBytes() {
    return 0;
  }

  /// Word of the transport, for meters.
  default String transport() {
    return "other";
  }

  /// Reads `ranges` one after the other.
  ///
  /// @param ranges one; or several, of at most [#groupBytes()] together
  /// @param into of the bytes of all ranges together
  Operation read(List<Range> ranges, List<MemorySegment> into, Ending ending);

  /// Writes `ranges` one after the other.
  ///
  /// @param ranges as of [#read]
  /// @param from of the bytes of all ranges together
  Operation write(List<Range> ranges, List<MemorySegment> from, Ending ending);

  Operation tell(Letter letter, Ending ending);

  /// Whether the connection is gone; [#onClose()] may complete later.
  default boolean isOver() {
    return false;
  }

  /// Completes when the connection is gone, for any reason.
  Mono<Void> onClose();

  /// Drops the connection; idempotent. Operations under way end.
  void close();
}
