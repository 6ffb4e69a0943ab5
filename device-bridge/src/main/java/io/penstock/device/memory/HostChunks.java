package io.penstock.device.memory;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.SlabArena;
import io.penstock.block.SlabArena.ChunkSource;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.LongFunction;

/// Chunks of an arena, cut from larger pieces of host memory, one behind the other.
public final class HostChunks implements ChunkSource {
  /// Alignment that `SlabArena` needs.
  private static final long ALIGNMENT_BYTES = 64;

  private final LongFunction<HostMemory> more;
  /// The piece that chunks are cut from now is the first.
  @GuardedBy("this") private final Deque<HostMemory> pieces = new ArrayDeque<>();
  @GuardedBy("this") private final Deque<HostMemory> offered = new ArrayDeque<>();
  @GuardedBy("this") private long used;
  @GuardedBy("this") private boolean closed;

  private HostChunks(LongFunction<HostMemory> more, HostMemory... first) {
    this.more = more;
    pieces.addAll(List.of(first));
  }

  /// Chunks from `memory` until it is used up.
  ///
  /// @param memory closed with this
  public static HostChunks of(HostMemory memory) {
    return new HostChunks(bytes -> {
      throw new OutOfMemoryError("all of " + memory + " is used");
    }, memory);
  }

  /// Chunks from pieces of `source`, taken when they are needed.
  ///
  /// @param pieceBytes of a piece, at most 1 GiB; the last one is as large
  public static HostChunks of(MappedMemory source, long pieceBytes) {
    requireNonNull(source, "source");
    if (pieceBytes <= 0 || pieceBytes > SlabArena.MAX_CHUNK_BYTES) {
      throw new IllegalArgumentException(
          "pieceBytes must be in [1, " + SlabArena.MAX_CHUNK_BYTES + "] (was " + pieceBytes + ")");
    }
    return new HostChunks(bytes -> source.map(Math.max(bytes, pieceBytes)));
  }

  /// Cuts the next chunks from `piece`, before more pieces are taken.
  ///
  /// @param piece closed with this; at once if this is closed
  public synchronized void offer(HostMemory piece) {
    if (closed) {
      piece.close();
    } else {
      offered.add(piece);
    }
  }

  @Override
  public synchronized MemorySegment chunk(long bytes) {
    HostMemory piece = pieces.peek();
    long begin = Math.ceilDiv(used, ALIGNMENT_BYTES) * ALIGNMENT_BYTES;
    while (piece == null || bytes > piece.bytes() - begin) {
      piece = offered.isEmpty() ? more.apply(bytes) : offered.remove();
      pieces.push(piece);
      begin = 0;
    }
    used = begin + bytes;
    return piece.segment().asSlice(begin, bytes);
  }

  /// The last piece first.
  @Override
  public synchronized void close() {
    closed = true;
    offered.forEach(pieces::push);
    offered.clear();
    pieces.forEach(HostMemory::close);
    pieces.clear();
  }
}
