package io.penstock.device.ascend.acl;

/// The owner of the memory at an address.
///
/// @param device logical number of the device, [#HOST_ID] for the host
/// @param shared whether it was imported: a driver may lack batches for imported memory only
public record MemoryPlace(int device, boolean shared) {
  private static final int DEVICE_TYPE = 1;
  private static final int HOST_ID = -1;

  public static final MemoryPlace HOST = new MemoryPlace(HOST_ID, false);

  public MemoryPlace {
    if (device < HOST_ID) {
      throw new IllegalArgumentException("device must be >= " + HOST_ID + " (was " + device + ")");
    }
  }

  /// Memory of the device's own.
  public MemoryPlace(int device) {
    this(device, false);
  }

  public MemoryPlace imported() {
    return new MemoryPlace(device, true);
  }

  /// Reads an `aclrtMemLocation`: host memory that is registered, bound to a node or unknown to the library all counts
  /// as the host's.
  static MemoryPlace of(int type, int id) {
    return type == DEVICE_TYPE ? new MemoryPlace(id) : HOST;
  }

  public boolean isHost() {
    return device == HOST_ID;
  }

  /// Id as in an `aclrtMemLocation`.
  public int type() {
    return isHost() ? 0 : DEVICE_TYPE;
  }

  /// Id as in an `aclrtMemLocation`.
  public int id() {
    return isHost() ? 0 : device;
  }

  @Override
  public String toString() {
    return (isHost() ? "host" : "device " + device) + (shared ? ", shared" : "");
  }
}
