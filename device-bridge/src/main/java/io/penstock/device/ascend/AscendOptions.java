package io.penstock.device.ascend;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.Optional;

/// How devices behind a `libascendcl.so` are used.
///
/// @param library path of the library; empty for the loader's search
/// @param transferTimeout longest wait for the copies of a stream, 1 ms to 24 days
/// @param maxQueued most copies and allocations that wait at a device
/// @param libraryUnsupportedFallsBack whether 200006 of the batch call is taken as 207000 is: nothing was copied, each element is copied on its own
public record AscendOptions(Optional<String> library, Duration transferTimeout, int maxQueued, boolean libraryUnsupportedFallsBack) {
  /// Named by timeouts.
  static final String TRANSFER_TIMEOUT_SETTING = "ascend.transferTimeout, ASCEND_TRANSFER_TIMEOUT";

  public AscendOptions {
    requireNonNull(library, "library");
    requireNonNull(transferTimeout, "transferTimeout");
    if (transferTimeout.toMillis() <= 0 || transferTimeout.toMillis() > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("transferTimeout must be in [1, " + Integer.MAX_VALUE + "] ms (was " + transferTimeout + ")");
    }
    if (maxQueued <= 0) {
      throw new IllegalArgumentException("maxQueued must be > 0 (was " + maxQueued + ")");
    }
  }

  /// The loader's search, 10 s, 1,024 in the queue, and 200006 is an error.
  public static AscendOptions defaults() {
    return new AscendOptions(Optional.empty(), Duration.ofSeconds(10), 1024, false);
  }

  public AscendOptions withLibrary(String path) {
    return new AscendOptions(Optional.of(path), transferTimeout, maxQueued, libraryUnsupportedFallsBack);
  }

  public AscendOptions withTransferTimeout(Duration transferTimeout) {
    return new AscendOptions(library, transferTimeout, maxQueued, libraryUnsupportedFallsBack);
  }

  public AscendOptions withMaxQueued(int maxQueued) {
    return new AscendOptions(library, transferTimeout, maxQueued, libraryUnsupportedFallsBack);
  }

  public AscendOptions withLibraryUnsupportedFallsBack(boolean libraryUnsupportedFallsBack) {
    return new AscendOptions(library, transferTimeout, maxQueued, libraryUnsupportedFallsBack);
  }
}
