package io.penstock.wire.cluster;

import static java.util.Objects.requireNonNull;

import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;

/// A small table of values by name that every member of a cluster has. Each member may write; of two values of one name
/// the later one stays, in any order of writes. After a split of the cluster, members have the later of what both parts
/// wrote. Safe from any thread; nothing waits.
///
/// The first [#VERSION_BYTES] bytes of a value are its version. Versions are compared byte by byte, without signs.
public interface SharedTable {
  /// Length of a version.
  int VERSION_BYTES = 24;

  /// Hears of changes of all members: the last of several of one name at least, some perhaps twice, and in any
  /// order. Must be quick.
  @FunctionalInterface
  interface Listener {
    /// @param value null if it was removed
    void changed(String name, byte @Nullable [] value);
  }

  /// Writes a value, unless one that is not earlier is there. It is tried until it is written.
  ///
  /// @throws IllegalArgumentException if the value is shorter than a version
  void put(String name, byte[] value);

  /// Removes a value, unless a later one than `value` is there. A member that was apart may bring it back.
  void remove(String name, byte[] value);

  /// All values, as this member knows them.
  Map<String, byte[]> values();

  /// Reports changes from now on, until the result is disposed.
  Disposable listen(Listener listener);

  /// Whether `value` is later than `other`; any value is later than none. Bytes that are shorter than a version, which
  /// another member may have written, are as none.
  static boolean isLater(byte[] value, byte @Nullable [] other) {
    return hasVersion(value) && (other == null || !hasVersion(other) || compare(value, other) > 0);
  }

  private static boolean hasVersion(byte[] value) {
    return value.length >= VERSION_BYTES;
  }

  private static int compare(byte[] value, byte[] other) {
    return Arrays.compareUnsigned(value, 0, VERSION_BYTES, other, 0, VERSION_BYTES);
  }

  /// @throws IllegalArgumentException if `value` has no version
  static byte[] versioned(byte[] value) {
    if (!hasVersion(requireNonNull(value, "value"))) {
      throw new IllegalArgumentException(
          "value must begin with a version of %d bytes (was %d)".formatted(VERSION_BYTES, value.length));
    }
    return value;
  }
}
