package io.penstock.examples.disaggregated.tensors;

import java.nio.ByteBuffer;

/// Element types of safetensors, which are little-endian. Those of weights can be read as `float`.
public enum StoredType {
  F32(4),
  F16(2),
  BF16(2),
  F64(8),
  F8_E4M3(1),
  F8_E5M2(1),
  I64(8),
  I32(4),
  I16(2),
  I8(1),
  U64(8),
  U32(4),
  U16(2),
  U8(1),
  BOOL(1);

  private final int bytes;

  StoredType(int bytes) {
    this.bytes = bytes;
  }

  int bytes() {
    return bytes;
  }

  /// Whether the loader reads this type.
  boolean isWeight() {
    return this == F32 || this == F16 || this == BF16;
  }

  /// The next element of `from`; exact, for every value of the narrower types is a `float`.
  float read(ByteBuffer from) {
    return switch (this) {
      case F32 -> from.getFloat();
      case F16 -> Float.float16ToFloat(from.getShort());
      case BF16 -> Float.intBitsToFloat(from.getShort() << 16);
      default -> throw new IllegalStateException("type must be F32, F16 or BF16 (was " + this + ")");
    };
  }

  /// Appends `value` to `to`, rounded to the nearest value of this type, to the even one of two.
  void write(float value, ByteBuffer to) {
    switch (this) {
      case F32 -> to.putFloat(value);
      case F16 -> to.putShort(Float.floatToFloat16(value));
      case BF16 -> to.putShort(NarrowFloats.toBf16(value));
      default -> throw new IllegalStateException("type must be F32, F16 or BF16 (was " + this + ")");
    }
  }
}
