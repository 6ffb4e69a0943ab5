package io.penstock.device.ascend;

/// The name under which other processes of this machine reach device memory of
/// [AscendDevice#export(io.penstock.device.DeviceMemory)]. It gives access to the memory, so it is never printed.
public final class IpcKey extends SharedName {
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
