package io.penstock.device.ascend;

import io.penstock.device.DeviceRegions;
import io.penstock.device.DeviceRegions.Region;
import io.penstock.device.ascend.acl.AclMemory;
import io.penstock.device.ascend.acl.MemoryPlace;
import org.jspecify.annotations.Nullable;

/// Whose memory the addresses of a request are of: known for each region, asked of the library for addresses that are
/// in none. For the device's thread.
final class MemoryPlaces {
  private final AclMemory memory;
  private final DeviceRegions<MemoryPlace> regions;
  /// Host memory that was registered with the device.
  private final DeviceRegions<MemoryPlace> host;
  /// Array as long as the longest request so far.
  private MemoryPlace[] sources = {};
  private MemoryPlace[] targets = {};

  MemoryPlaces(String device, AclMemory memory, DeviceRegions<MemoryPlace> regions) {
    this.memory = memory;
    this.regions = regions;
    this.host = new DeviceRegions<>(device, address -> null);
  }

  /// The elements of `request`, valid until the next call. Their results go to `request`.
  CopyElements of(CopyRequest request) {
    if (sources.length < request.elements()) {
      sources = new MemoryPlace[request.elements()];
      targets = new MemoryPlace[request.elements()];
    }
    Region<MemoryPlace> source = null;
    Region<MemoryPlace> target = null;
    for (int i = 0; i < request.elements(); i++) {
      source = region(source, request.from(i), request.bytes(i));
      target = region(target, request.to(i), request.bytes(i));
      sources[i] = source == null ? memory.locate(request.from(i)) : source.memory();
      targets[i] = target == null ? memory.locate(request.to(i)) : target.memory();
    }
    return new Located(request, sources, targets);
  }

  /// @param last region of the previous element, null for the first: elements of a request mostly lie in one region
  private @Nullable Region<MemoryPlace> region(@Nullable Region<MemoryPlace> last, long address, long bytes) {
    if (last != null && last.contains(address, bytes)) {
      return last;
    }
    Region<MemoryPlace> ofDevice = regions.find(address, bytes);
    return ofDevice != null ? ofDevice : host.find(address, bytes);
  }

  /// Whether all of it is the device's own, the host's through it, or registered.
  boolean isKnown(long address, long bytes) {
    return host.find(address, bytes) != null || regions.find(address, bytes) != null;
  }

  /// @param place of the host
  void know(long address, long bytes, MemoryPlace place) {
    host.add(address, bytes, place);
  }

  void forget(long address) {
    host.remove(address);
  }

  private record Located(CopyRequest request, MemoryPlace[] sources, MemoryPlace[] targets) implements CopyElements {
    @Override
    public int count() {
      return request.elements();
    }

    @Override
    public long from(int element) {
      return request.from(element);
    }

    @Override
    public long to(int element) {
      return request.to(element);
    }

    @Override
    public long bytes(int element) {
      return request.bytes(element);
    }

    @Override
    public MemoryPlace source(int element) {
      return sources[element];
    }

    @Override
    public MemoryPlace target(int element) {
      return targets[element];
    }

    @Override
    public void ended(int element, int code) {
      request.result(element, code);
    }
  }
}
