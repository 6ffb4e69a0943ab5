package io.penstock.examples.pipe;

import io.penstock.block.LayerSlice;
import io.penstock.block.Owned;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// A tensor that arrived, in verified memory of the receiving end, in parts. The memory is free for the next ones once
/// it is closed: who keeps tensors open holds up the pipe, for there is room for two of the largest.
///
/// Reading and closing are safe from any thread.
public final class ReceivedTensor extends Owned {
  private final TensorShape shape;
  private final List<LayerSlice> chunks;

  /// Takes over `chunks`.
  ReceivedTensor(TensorShape shape, List<LayerSlice> chunks) {
    this.shape = shape;
    this.chunks = List.copyOf(chunks);
  }

  public TensorShape shape() {
    return shape;
  }

  /// Receives a part of a tensor.
  @FunctionalInterface
  public interface PartReader {
    /// Reads the bytes from `from` on; `part` is read-only and valid until this returns.
    void read(long from, MemorySegment part);
  }

  /// Lends the bytes to `reader`, part by part, in order.
  ///
  /// @throws IllegalStateException if this tensor was closed
  public void read(PartReader reader) {
    long from = 0;
    for (LayerSlice chunk : chunks) {
      long start = from;
      long length = Math.min(shape.bytes() - from, PipeChunk.room(chunk.bytes(), from));
      int skip = PipeChunk.dataOffset(from);
      chunk.spans().getFirst().read(memory -> {
        reader.read(start, memory.asSlice(skip, length));
        return length;
      });
      from += length;
    }
  }

  /// Copies all bytes into `to`.
  ///
  /// @throws IndexOutOfBoundsException if `to` is too short
  /// @throws IllegalStateException if this tensor was closed
  public void copyTo(MemorySegment to) {
    read((from, part) -> MemorySegment.copy(part, 0, to, from, part.byteSize()));
  }

  @Override
  protected void free() {
    chunks.forEach(LayerSlice::close);
  }

  @Override
  public String toString() {
    return "tensor " + shape;
  }
}
