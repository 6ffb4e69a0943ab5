package io.penstock.device;

import io.penstock.device.DeviceFailure.DeviceAddressException;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/// The allocations of one device by address, for implementations of [Device]. For one thread at a time.
///
/// @param <T> value of an allocation
public final class DeviceRegions<T> {
  private final String device;
  private final LongFunction<@Nullable String> strange;
  private final TreeMap<Long, Region<T>> regions = new TreeMap<>();
  /// The one that was hit last: elements of a batch mostly lie together.
  private @Nullable Region<T> recent;

  /// One allocation.
  ///
  /// @param address of its first byte
  public record Region<T>(long address, long bytes, T memory) {
    /// Whether all of `size` bytes at `first` are in it.
    public boolean contains(long first, long size) {
      return first >= address && first - address <= bytes - size;
    }
  }

  /// @param device named in errors
  /// @param strange describes an address that cannot belong to this device; null for one that can
  public DeviceRegions(String device, LongFunction<@Nullable String> strange) {
    this.device = device;
    this.strange = strange;
  }

  public void add(long address, long bytes, T memory) {
    regions.put(address, new Region<>(address, bytes, memory));
  }

  /// Forgets the allocation that begins at `address`; null if none does.
  public @Nullable Region<T> remove(long address) {
    recent = null;
    return regions.remove(address);
  }

  /// The youngest by address; null if there is none.
  public @Nullable Region<T> last() {
    Map.Entry<Long, Region<T>> last = regions.lastEntry();
    return last == null ? null : last.getValue();
  }

  /// The allocation that has all of `bytes` at `address`; null if none has.
  public @Nullable Region<T> find(long address, long bytes) {
    Region<T> likely = recent;
    if (likely != null && likely.contains(address, bytes)) {
      return likely;
    }
    Map.Entry<Long, Region<T>> before = regions.floorEntry(address);
    if (before == null || !before.getValue().contains(address, bytes)) {
      return null;
    }
    recent = before.getValue();
    return recent;
  }

  /// Looks for every element of `batch` on the device's side.
  ///
  /// @throws DeviceAddressException at the first that is not inside one allocation
  public void require(CopyBatch batch) {
    for (int i = 0; i < batch.elements(); i++) {
      long address = batch.device(i);
      long bytes = batch.host(i).byteSize();
      if (find(address, bytes) == null) {
        throw new DeviceAddressException(device, i, address, bytes, what(address));
      }
    }
  }

  private String what(long address) {
    String known = strange.apply(address);
    if (known != null) {
      return known;
    }
    Map.Entry<Long, Region<T>> before = regions.floorEntry(address);
    if (before == null || address - before.getKey() >= before.getValue().bytes()) {
      return "not allocated";
    }
    return "only " + (before.getKey() + before.getValue().bytes() - address) + " bytes to the end of its allocation";
  }
}
