package io.penstock.device.sidecar;

import static java.util.Objects.requireNonNull;

import io.penstock.device.SharedName.FabricHandle;
import io.penstock.device.SharedName.IpcKey;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/// Place of the memory of a region.
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

  /// A regular file that the process has mapped. It may shrink at any time, so the node reads and writes it
  /// instead of mapping it.
  ///
  /// @param path absolute
  record MappedFile(Path path) implements RegionSource {
    /// Longest path of Linux, in bytes.
    public static final int MAX_PATH_BYTES = 4096;

    public MappedFile {
      if (!path.isAbsolute()) {
        throw new IllegalArgumentException("path must be absolute (was " + path + ")");
      }
      int bytes = path.toString().getBytes(StandardCharsets.UTF_8).length;
      if (bytes > MAX_PATH_BYTES) {
        throw new IllegalArgumentException(
            "path must be at most " + MAX_PATH_BYTES + " bytes long (was " + bytes + ")");
      }
    }
  }

  /// Memory of a device that another process of this machine has exported.
  ///
  /// @param device number that the machine has for it, not the process
  record IpcBuffer(int device, IpcKey key) implements RegionSource {
    public IpcBuffer {
      requireDevice(device);
      requireNonNull(key, "key");
    }
  }

  /// Memory that was exported to the fabric.
  ///
  /// @param device number that the machine has for the one to reach it from
  record FabricBuffer(int device, FabricHandle handle) implements RegionSource {
    public FabricBuffer {
      requireDevice(device);
      requireNonNull(handle, "handle");
    }
  }

  private static void requireDevice(int device) {
    if (device < 0) {
      throw new IllegalArgumentException("device must be >= 0 (was " + device + ")");
    }
  }

  /// Whether it is the host's own: these are replayed before others.
  default boolean isHost() {
    return this instanceof Memfd || this instanceof MappedFile;
  }
}
