package io.penstock.device;

import static java.util.Objects.requireNonNull;

import java.util.Arrays;

/// What another process gave out so that its device memory can be reached: opaque bytes of the driver.
public final class DeviceHandle {
  /// How memory is given out.
  public enum Kind {
    /// To processes of the same host.
    IPC(65),
    /// To all that share a fabric.
    FABRIC(128);

    private final int bytes;

    Kind(int bytes) {
      this.bytes = bytes;
    }

    /// Length of such a handle.
    public int bytes() {
      return bytes;
    }
  }

  private final Kind kind;
  private final byte[] bytes;

  /// @throws IllegalArgumentException if there are not as many bytes as `kind` has
  public DeviceHandle(Kind kind, byte[] bytes) {
    this.kind = requireNonNull(kind, "kind");
    if (bytes.length != kind.bytes()) {
      throw new IllegalArgumentException("bytes of an " + kind + " handle must be " + kind.bytes() + " (was " + bytes.length + ")");
    }
    this.bytes = bytes.clone();
  }

  public Kind kind() {
    return kind;
  }

  /// A copy.
  public byte[] bytes() {
    return bytes.clone();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof DeviceHandle that && kind == that.kind && Arrays.equals(bytes, that.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  @Override
  public String toString() {
    return kind + " handle"; // its bytes open memory: not for logs
  }
}
