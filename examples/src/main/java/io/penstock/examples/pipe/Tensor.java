package io.penstock.examples.pipe;

import static java.util.Objects.requireNonNull;

import java.lang.foreign.MemorySegment;

/// A tensor to be sent: what it is, and who knows its bytes. They are asked for when there is room for them on the
/// other side, part by part, and are written straight into the memory that the socket sends from.
///
/// @param shape type and dimensions
/// @param bytes writes a part; what it reads from must stay as it is until the next tensor was asked for
public record Tensor(TensorShape shape, Bytes bytes) {
  public Tensor {
    requireNonNull(shape, "shape");
    requireNonNull(bytes, "bytes");
  }

  /// Knows the bytes of a tensor.
  @FunctionalInterface
  public interface Bytes {
    /// Fills `to` with the bytes from `from` on.
    void write(long from, MemorySegment to);
  }

  /// A tensor whose bytes are those of `memory`.
  ///
  /// @throws IllegalArgumentException if `memory` is not as long as the shape says
  public static Tensor of(TensorShape shape, MemorySegment memory) {
    if (memory.byteSize() != shape.bytes()) {
      throw new IllegalArgumentException("memory must be " + shape.bytes() + " bytes (was " + memory.byteSize() + ")");
    }
    return new Tensor(shape, (from, to) -> MemorySegment.copy(memory, from, to, 0, to.byteSize()));
  }
}
