package io.penstock.device.sidecar;

import static java.util.Objects.requireNonNull;

import io.penstock.device.DeviceHandle;
import java.nio.file.Path;

/// Where the memory of a region is.
public sealed interface RegionSource {
  /// Host memory behind a memfd of the registering process, sealed against shrinking. The node maps it.
  ///
  /// @param descriptor its number in that process
  record Memfd(int descriptor) implements RegionSource {
    public Memfd {
      if (descriptor < 0) {
        throw new IllegalArgumentException("descriptor must be >= 0 (was " + descriptor + ")");
      }
    }
  }

  /// A regular file that the process has mapped. Nobody can keep it from shrinking, so the node reads and writes it instead of mapping it.
  ///
  /// @param path absolute
  record MappedFile(Path path) implements RegionSource {
    public MappedFile {
      if (!path.isAbsolute()) {
        throw new IllegalArgumentException("path must be absolute (was " + path + ")");
      }
    }
  }

  /// Memory of a device, by what its owner exported.
  ///
  /// @param device number that the machine has for it, not the process
  record DeviceBuffer(int device, DeviceHandle handle) implements RegionSource {
    public DeviceBuffer {
      if (device < 0) {
        throw new IllegalArgumentException("device must be >= 0 (was " + device + ")");
      }
      requireNonNull(handle, "handle");
    }
  }

  default boolean isHost() {
    return !(this instanceof DeviceBuffer);
  }
}
