package io.penstock.wire.segment;

import java.lang.foreign.MemorySegment;
import java.util.Iterator;
import java.util.List;
import java.util.function.Consumer;

/// Pieces of memory as one run of bytes, taken from its start to its end.
final class PieceCursor {
  private final Iterator<MemorySegment> pieces;
  private MemorySegment piece = MemorySegment.NULL;
  private long position;
  private long left;

  PieceCursor(List<MemorySegment> pieces) {
    this.pieces = pieces.iterator();
    this.left = pieces.stream().mapToLong(MemorySegment::byteSize).sum();
  }

  /// Bytes that were taken.
  long position() {
    return position;
  }

  /// Bytes that were not taken.
  long left() {
    return left;
  }

  /// Takes the next `bytes`, which may lie in several pieces.
  void next(int bytes, Consumer<MemorySegment> part) {
    long wanted = bytes;
    while (wanted > 0) {
      if (piece.byteSize() == 0) {
        piece = pieces.next();
      }
      long taken = Math.min(wanted, piece.byteSize());
      part.accept(piece.asSlice(0, taken));
      piece = piece.asSlice(taken);
      wanted -= taken;
    }
    position += bytes;
    left -= bytes;
  }
}
