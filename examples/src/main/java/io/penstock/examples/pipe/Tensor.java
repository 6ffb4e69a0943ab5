package io.penstock.examples.pipe;

import static java.util.Objects.requireNonNull;

import java.lang.foreign.MemorySegment;

/// A tensor to be sent: its shape, and a writer of its bytes. The pipe asks for bytes when the other side has room for
/// them, part by part; the writer puts them straight into the memory that the socket sends from.
///
/// @param shape type and dimensions
/// @param bytes writes a part; its source must not change until the next tensor is requested
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
