package io.penstock.wire.transfer;

import static java.util.Objects.requireNonNull;

import io.penstock.wire.trace.TraceContext;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Reads and writes, of one or many peers, that are submitted together.
///
/// Local memory must be native and accessible by all threads, and must live until the item's result. The bytes that a
/// read writes there before its result, and those that a failed item left in its destination, are undefined.
///
/// @param items in order
/// @param message sent to each peer when all items of that peer completed; null for none
/// @param trace that continues at the peers; null for none
public record TransferBatch(List<Item> items, @Nullable String message, @Nullable TraceContext trace) {
  public TransferBatch {
    items = List.copyOf(items);
    if (message != null) {
      Notification.requireMessage(message);
    }
  }

  /// Direction of an item.
  public enum Direction {
    /// From a remote segment into local memory.
    READ,
    /// From local memory into a remote segment.
    WRITE
  }

  /// One read or write.
  ///
  /// @param segment name of a segment of `peer`
  /// @param pinned the registration that it must be; null for any with the name
  /// @param offset in the segment
  /// @param local pieces of memory that are filled, or sent, one after the other
  /// @param staged memory that is filled, or sent, in place of these; null for none
  public record Item(Direction direction, String peer, String segment, @Nullable Segment pinned, long offset,
      List<MemorySegment> local, @Nullable Staged staged) {
    /// An item of memory that the CPU reaches.
    public Item(Direction direction, String peer, String segment, @Nullable Segment pinned, long offset,
        List<MemorySegment> local) {
      this(direction, peer, segment, pinned, offset, local, null);
    }

    /// An item of memory that the CPU does not reach.
    public Item(Direction direction, RemoteSegment remote, long offset, Staged staged) {
      this(direction, remote.peer(), remote.segment().name(), remote.segment(), offset, List.of(), staged);
    }

    public Item {
      requireNonNull(direction, "direction");
      if (requireNonNull(peer, "peer").isEmpty()) {
        throw new IllegalArgumentException("peer must be named (was empty)");
      }
      Segment.requireName(segment);
      local = List.copyOf(local);
      long length = 0;
      for (MemorySegment piece : local) {
        Memory.require("local memory", piece, direction == Direction.READ);
        length = Memory.end(length, piece.byteSize());
      }
      if (staged != null) {
        length = requireAlone(staged, local);
      }
      long end = Memory.end(offset, length);
      if (pinned != null && end > pinned.bytes()) {
        throw new IllegalArgumentException("offset + length must be <= %d, the bytes of segment %s (was %d + %d)"
            .formatted(pinned.bytes(), segment, offset, length));
      }
    }

    private static long requireAlone(Staged staged, List<MemorySegment> local) {
      if (!local.isEmpty()) {
        throw new IllegalArgumentException(
            "local memory must be staged or not (was both, " + local.size() + " pieces beside)");
      }
      return staged.part().length();
    }

    /// Bytes that it moves.
    public long bytes() {
      return staged != null ? staged.part().length() : local.stream().mapToLong(MemorySegment::byteSize).sum();
    }
  }

  /// A part of memory that the CPU does not reach.
  public record Staged(StagedMemory memory, StagedMemory.Part part) {
    public Staged {
      if (part.offset() + part.length() > memory.bytes()) {
        throw new IllegalArgumentException("offset + length must be <= %d, the bytes of the memory (was %d + %d)"
            .formatted(memory.bytes(), part.offset(), part.length()));
      }
    }
  }

  public static Builder builder() {
    return new Builder();
  }

  /// Collects items; each call checks its arguments.
  public static final class Builder {
    private final List<Item> items = new ArrayList<>();
    private @Nullable String message;
    private @Nullable TraceContext trace;

    private Builder() {}

    /// Reads from the segment that has the name when the item runs.
    public Builder read(String peer, String segment, long offset, MemorySegment... into) {
      return add(new Item(Direction.READ, peer, segment, null, offset, List.of(into)));
    }

    /// Reads from just this registration.
    public Builder read(RemoteSegment from, long offset, MemorySegment... into) {
      return add(new Item(Direction.READ, from.peer(), from.segment().name(), from.segment(), offset, List.of(into)));
    }

    /// Writes into the segment that has the name when the item runs.
    public Builder write(String peer, String segment, long offset, MemorySegment... from) {
      return add(new Item(Direction.WRITE, peer, segment, null, offset, List.of(from)));
    }

    /// Writes into just this registration.
    public Builder write(RemoteSegment into, long offset, MemorySegment... from) {
      return add(new Item(Direction.WRITE, into.peer(), into.segment().name(), into.segment(), offset, List.of(from)));
    }

    /// Reads from just this registration into memory that the CPU does not reach.
    public Builder read(RemoteSegment from, long offset, Staged into) {
      return add(new Item(Direction.READ, from, offset, into));
    }

    /// Writes into just this registration from memory that the CPU does not reach.
    public Builder write(RemoteSegment into, long offset, Staged from) {
      return add(new Item(Direction.WRITE, into, offset, from));
    }

    public Builder add(Item item) {
      items.add(item);
      return this;
    }

    /// Sends `text` to each peer of the batch when all items of that peer completed.
    public Builder notifying(String text) {
      message = text;
      return this;
    }

    /// Continues `context` at the peers.
    public Builder traced(TraceContext context) {
      trace = context;
      return this;
    }

    public TransferBatch build() {
      return new TransferBatch(items, message, trace);
    }
  }
}
