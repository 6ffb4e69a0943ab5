package io.penstock.device.ascend;

/// The name under which other processes, on this machine or on another one of the same fabric, reach exported memory.
/// It gives access to the memory, so it is never printed.
public final class FabricHandle extends SharedName {
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
