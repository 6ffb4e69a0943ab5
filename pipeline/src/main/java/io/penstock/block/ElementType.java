package io.penstock.block;

/// The type of one tensor element and its width. Values are little-endian in memory and on the wire.
///
/// Names follow safetensors and vLLM: `BF16` is `bfloat16`, `FP8_E4M3` is `fp8_e4m3`.
public enum ElementType {
  BF16(2),
  FP16(2),
  FP32(4),
  FP8_E4M3(1),
  FP8_E5M2(1),
  INT8(1);

  private final int bytes;

  ElementType(int bytes) {
    this.bytes = bytes;
  }

  /// Width of one element in bytes.
  public int bytes() {
    return bytes;
  }
}
