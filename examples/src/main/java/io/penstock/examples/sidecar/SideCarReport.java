package io.penstock.examples.sidecar;

/// The result of the example.
///
/// @param blocks moved to the device and back by the process that has none
/// @param wrong blocks that came back with other bytes
/// @param toDevice bytes a second
/// @param toHost bytes a second
/// @param owner what the process with the device counted
public record SideCarReport(int blocks, int blockBytes, int wrong, double toDevice, double toHost, Owner owner) {
  /// Figures of the process that has the device.
  ///
  /// @param calls of copies that the side-car made
  /// @param bytes of these
  /// @param blocks of its own that it moved to the device and back meanwhile
  /// @param wrong blocks of these that came back with other bytes
  public record Owner(long calls, long bytes, long blocks, long wrong) {
    String line() {
      return calls + " " + bytes + " " + blocks + " " + wrong;
    }

    static Owner of(String line) {
      String[] figures = line.split(" ", -1);
      return new Owner(Long.parseLong(figures[0]), Long.parseLong(figures[1]), Long.parseLong(figures[2]),
          Long.parseLong(figures[3]));
    }
  }

  long bytes() {
    return (long) blocks * blockBytes;
  }

  /// Whether all bytes are right, and the side-car copied each block twice.
  boolean isGood() {
    return wrong == 0 && owner.wrong == 0 && owner.blocks > 0 && owner.bytes == 2 * bytes();
  }
}
