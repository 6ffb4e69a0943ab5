package io.penstock.device.ascend;

import java.util.Arrays;

/// A name of fixed length that gives access to memory, so it is never printed.
abstract sealed class SharedName permits IpcKey, FabricHandle {
  private final byte[] bytes;

  SharedName(String what, int length, byte[] bytes) {
    if (bytes.length != length) {
      throw new IllegalArgumentException(what + " must have " + length + " bytes (was " + bytes.length + ")");
    }
    this.bytes = bytes.clone();
  }

  public final byte[] bytes() {
    return bytes.clone();
  }

  @Override
  public final boolean equals(Object other) {
    return other instanceof SharedName that && getClass() == that.getClass() && Arrays.equals(bytes, that.bytes);
  }

  @Override
  public final int hashCode() {
    return Arrays.hashCode(bytes);
  }
}
