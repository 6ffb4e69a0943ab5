package io.penstock.device.sidecar.server;

import io.penstock.device.Device;
import io.penstock.device.DeviceMemory;
import io.penstock.device.ascend.AscendDevice;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// A region's memory as the node reaches it. Closed once, after the last copy; that may take as long as the system does
/// to unmap.
sealed interface RegionWindow {
  void close();

  /// Mapped, and sure to stay there.
  record Mapped(MemorySegment memory, Runnable unmap) implements RegionWindow {
    @Override
    public void close() {
      unmap.run();
    }
  }

  /// In a file that others may cut short at any time.
  non-sealed interface InFile extends RegionWindow {
    /// @throws IOException if not all bytes are there
    void read(long offset, MemorySegment into) throws IOException;

    /// @throws IOException if the file does not reach so far
    void write(long offset, MemorySegment from) throws IOException;
  }

  /// On a device.
  record OnDevice(Device device, DeviceMemory memory) implements RegionWindow {
    @Override
    public void close() {
      memory.close();
    }

    long address(long offset) {
      return memory.address() + offset;
    }
  }

  /// Mapped for a device and for the host, wherever its pages are.
  record OnFabric(AscendDevice device, DeviceMemory memory) implements RegionWindow {
    @Override
    public void close() {
      memory.close();
    }
  }
}
