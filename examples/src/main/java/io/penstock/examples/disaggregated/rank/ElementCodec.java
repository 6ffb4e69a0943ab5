package io.penstock.examples.disaggregated.rank;

import io.penstock.block.Plane.ElementType;
import io.penstock.examples.disaggregated.tensors.NarrowFloats;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// Elements of a cache as `float`, and back, rounded to the nearest, to the even one of two; little-endian.
enum ElementCodec {
  FP32 {
    @Override
    void write(float[] from, MemorySegment to, long offset) {
      MemorySegment.copy(from, 0, to, FLOAT, offset, from.length);
    }

    @Override
    void read(MemorySegment from, long offset, float[] to, int at, int count) {
      MemorySegment.copy(from, FLOAT, offset, to, at, count);
    }
  },
  FP16 {
    @Override
    void write(float[] from, MemorySegment to, long offset) {
      for (int i = 0; i < from.length; i++) {
        to.set(SHORT, offset + 2L * i, Float.floatToFloat16(from[i]));
      }
    }

    @Override
    void read(MemorySegment from, long offset, float[] to, int at, int count) {
      for (int i = 0; i < count; i++) {
        to[at + i] = Float.float16ToFloat(from.get(SHORT, offset + 2L * i));
      }
    }
  },
  BF16 {
    @Override
    void write(float[] from, MemorySegment to, long offset) {
      for (int i = 0; i < from.length; i++) {
        to.set(SHORT, offset + 2L * i, NarrowFloats.toBf16(from[i]));
      }
    }

    @Override
    void read(MemorySegment from, long offset, float[] to, int at, int count) {
      for (int i = 0; i < count; i++) {
        to[at + i] = NarrowFloats.ofBf16(from.get(SHORT, offset + 2L * i));
      }
    }
  };

  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  static ElementCodec of(ElementType type) {
    return valueOf(type.name());
  }

  abstract void write(float[] from, MemorySegment to, long offset);

  abstract void read(MemorySegment from, long offset, float[] to, int at, int count);
}
