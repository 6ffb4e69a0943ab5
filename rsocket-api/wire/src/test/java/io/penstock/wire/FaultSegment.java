package io.penstock.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.wire.transfer.SegmentRegistry;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// The registered memory of one start of a node: an area that is only read, and areas that are only written, one for
/// each transfer of a round.
final class FaultSegment {
  static final String NAME = "kv";
  static final int READ_AREA = 64 << 10;
  static final int WRITE_AREA = 128 << 10;
  static final int WRITE_AREAS = 64;
  static final byte EMPTY = (byte) 0xEE;

  private final SegmentRegistry registry;
  private final long generation;
  private final MemorySegment readable;
  private final MemorySegment memory = Arena.ofAuto().allocate(READ_AREA + (long) WRITE_AREAS * WRITE_AREA);

  FaultSegment(long generation) {
    this.generation = generation;
    this.registry = new SegmentRegistry(generation);
    this.readable = pattern(generation * 101, READ_AREA);
    memory.asSlice(0, READ_AREA).copyFrom(readable);
    memory.asSlice(READ_AREA).fill(EMPTY);
    registry.register(NAME, memory);
  }

  SegmentRegistry registry() {
    return registry;
  }

  long generation() {
    return generation;
  }

  void unregister() {
    registry.unregister(registry.snapshot().segments()).block(FaultRound.PATIENCE);
  }

  static long writeOffset(int area) {
    return READ_AREA + (long) area * WRITE_AREA;
  }

  /// The bytes that a read of `offset` finds.
  MemorySegment readable(long offset, long bytes) {
    return readable.asSlice(offset, bytes);
  }

  MemorySegment written(int area, long bytes) {
    return memory.asSlice(writeOffset(area), bytes);
  }

  /// Makes an area empty again.
  void clear(int area) {
    memory.asSlice(writeOffset(area), WRITE_AREA).fill(EMPTY);
  }

  /// No write has touched what is only read.
  void requireUntouched() {
    assertThat(memory.asSlice(0, READ_AREA).mismatch(readable)).as("first byte changed").isEqualTo(-1);
  }

  /// Bytes that differ at every place from those of another salt, unless the two are equal modulo 251.
  static MemorySegment pattern(long salt, int length) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) ((i * 31L + salt) % 251);
    }
    return MemorySegment.ofArray(bytes);
  }

  /// Whether each byte is that of one of `some`, or empty.
  static boolean isOneOf(MemorySegment memory, MemorySegment... some) {
    for (long i = 0; i < memory.byteSize(); i++) {
      byte is = memory.get(ValueLayout.JAVA_BYTE, i);
      boolean right = is == EMPTY;
      for (MemorySegment one : some) {
        right |= is == one.get(ValueLayout.JAVA_BYTE, i);
      }
      if (!right) {
        return false;
      }
    }
    return true;
  }
}
