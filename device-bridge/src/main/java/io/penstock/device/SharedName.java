package io.penstock.device;

import java.util.Arrays;

/// A name of fixed length that gives access to memory, so it is never printed.
public abstract sealed class SharedName {
  private final byte[] bytes;

  private SharedName(String what, int length, byte[] bytes) {
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

  /// The name under which other processes of this machine reach device memory of [SharingDevice#export].
  public static final class IpcKey extends SharedName {
    /// The zero at its end included.
    public static final int BYTES = 65;

    private IpcKey(byte[] bytes) {
      super("key", BYTES, bytes);
    }

    /// @throws IllegalArgumentException unless there are [#BYTES] of them
    public static IpcKey of(byte[] bytes) {
      return new IpcKey(bytes);
    }

    @Override
    public String toString() {
      return "key of device memory";
    }
  }

  /// The name under which other processes, on this machine or on another one of the same fabric, reach exported memory.
  public static final class FabricHandle extends SharedName {
    public static final int BYTES = 128;

    private FabricHandle(byte[] bytes) {
      super("handle", BYTES, bytes);
    }

    /// @throws IllegalArgumentException unless there are [#BYTES] of them
    public static FabricHandle of(byte[] bytes) {
      return new FabricHandle(bytes);
    }

    @Override
    public String toString() {
      return "handle of fabric memory";
    }
  }
}
