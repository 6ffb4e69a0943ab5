package io.penstock.device.ascend;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import io.penstock.device.CopyTurns;
import io.penstock.device.SharedName.FabricHandle;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/// Options of devices behind a `libascendcl.so`.
///
/// @param library path of the library; empty for the loader's search
/// @param visibleDevices the devices that are used, by their numbers on the machine, in this order; empty for all
/// @param transferTimeout maximum wait for the copies of a stream, 1 ms to 24 days
/// @param maxInFlight maximum number of copies of bridges, stores and stages that are under way at a device
/// @param maxQueued maximum number of copies and allocations that wait at a device
/// @param shared whether memory, of devices and of the host, is allocated so that other processes can map it by a
///     [FabricHandle], or not at all
/// @param libraryUnsupportedFallsBack whether 200006 of the batch call counts as 207000: nothing was copied, each
///     element is copied on its own
public record AscendOptions(Optional<String> library, List<Integer> visibleDevices, Duration transferTimeout,
    int maxInFlight, int maxQueued, boolean shared,
    boolean libraryUnsupportedFallsBack) {
  public AscendOptions {
    requireNonNull(library, "library");
    requireNonNull(transferTimeout, "transferTimeout");
    visibleDevices = List.copyOf(visibleDevices);
    if (visibleDevices.stream().distinct().count() < visibleDevices.size()) {
      throw new IllegalArgumentException("visibleDevices must name each device once (was " + visibleDevices + ")");
    }
    if (transferTimeout.toMillis() <= 0 || transferTimeout.toMillis() > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "transferTimeout must be in [1, " + Integer.MAX_VALUE + "] ms (was " + transferTimeout + ")");
    }
    Checks.positive("maxInFlight", maxInFlight);
    Checks.positive("maxQueued", maxQueued);
  }

  /// The library of the system's loader, all devices, 10 s, 100 in flight, 1,024 in the queue, memory without handles,
  /// and 200006 is an error.
  public static AscendOptions defaults() {
    return new AscendOptions(Optional.empty(), List.of(), Duration.ofSeconds(10), CopyTurns.USUAL, 1024, false, false);
  }

  public AscendOptions withLibrary(String path) {
    return new AscendOptions(Optional.of(path), visibleDevices, transferTimeout, maxInFlight, maxQueued, shared,
        libraryUnsupportedFallsBack);
  }

  public AscendOptions withVisibleDevices(List<Integer> visibleDevices) {
    return new AscendOptions(library, visibleDevices, transferTimeout, maxInFlight, maxQueued, shared,
        libraryUnsupportedFallsBack);
  }

  public AscendOptions withTransferTimeout(Duration transferTimeout) {
    return new AscendOptions(library, visibleDevices, transferTimeout, maxInFlight, maxQueued, shared,
        libraryUnsupportedFallsBack);
  }

  public AscendOptions withMaxInFlight(int maxInFlight) {
    return new AscendOptions(library, visibleDevices, transferTimeout, maxInFlight, maxQueued, shared,
        libraryUnsupportedFallsBack);
  }

  public AscendOptions withMaxQueued(int maxQueued) {
    return new AscendOptions(library, visibleDevices, transferTimeout, maxInFlight, maxQueued, shared,
        libraryUnsupportedFallsBack);
  }

  public AscendOptions withShared(boolean shared) {
    return new AscendOptions(library, visibleDevices, transferTimeout, maxInFlight, maxQueued, shared,
        libraryUnsupportedFallsBack);
  }

  public AscendOptions withLibraryUnsupportedFallsBack(boolean libraryUnsupportedFallsBack) {
    return new AscendOptions(library, visibleDevices, transferTimeout, maxInFlight, maxQueued, shared,
        libraryUnsupportedFallsBack);
  }
}
