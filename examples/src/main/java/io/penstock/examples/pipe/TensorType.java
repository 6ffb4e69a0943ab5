package io.penstock.examples.pipe;

/// The type of a tensor's elements, by the names that safetensors gives them. On the pipe a type is its place in this
/// list.
public enum TensorType {
  BOOL(1),
  U8(1),
  I8(1),
  F8_E5M2(1),
  F8_E4M3(1),
  I16(2),
  U16(2),
  F16(2),
  BF16(2),
  I32(4),
  U32(4),
  F32(4),
  F64(8),
  I64(8),
  U64(8);

  private final int bytes;

  TensorType(int bytes) {
    this.bytes = bytes;
  }

  /// Width of one element in bytes.
  public int bytes() {
    return bytes;
  }
}
