package io.penstock.flow;

import io.penstock.block.Block;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSpan;
import io.penstock.block.Owned;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// A run of bytes of a value.
public final class ValuePart extends Owned {
  private final Block block;
  private final long offset;
  private final long bytes;
  private @Nullable LayerSpan span;

  ValuePart(Block block, long offset, long bytes) {
    this.block = block;
    this.offset = offset;
    this.bytes = bytes;
  }

  public long bytes() {
    return bytes;
  }

  /// Lends the bytes, read-only, to `reader`. The memory is valid until `reader` returns.
  ///
  /// @throws IllegalStateException if this part was closed
  public <R> R read(Function<MemorySegment, R> reader) {
    return block.read(memory -> reader.apply(memory.asSlice(offset, bytes)));
  }

  /// A second handle, for a second owner: no scope has it.
  ///
  /// @throws IllegalStateException if this part was closed
  public ValuePart share() {
    return new ValuePart(block.share(), offset, bytes);
  }

  /// The bytes as a direct buffer for a socket, valid while this handle is open; read-only by agreement. For one
  /// thread.
  public ByteBuffer buffer() {
    LayerSpan held = span;
    if (held == null) {
      held = block.span(GranuleRange.all(block.layout()));
      span = held;
    }
    return held.buffer().slice((int) offset, (int) bytes);
  }

  @Override
  protected void free() {
    LayerSpan held = span;
    if (held != null) {
      held.close();
    }
    block.close();
  }
}
