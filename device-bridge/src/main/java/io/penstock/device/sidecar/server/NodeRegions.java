package io.penstock.device.sidecar.server;

import io.penstock.block.BlockScope;
import io.penstock.device.Device;
import io.penstock.device.DeviceMemory;
import io.penstock.device.SharingDevice;
import io.penstock.device.ascend.AscendDevice;
import io.penstock.device.ascend.failure.AscendFailure.AscendUnsupportedException;
import io.penstock.device.sidecar.RegionSource.FabricBuffer;
import io.penstock.device.sidecar.RegionSource.IpcBuffer;
import io.penstock.device.sidecar.RegionSource.MappedFile;
import io.penstock.device.sidecar.RegionSource.Memfd;
import io.penstock.device.sidecar.RegionSpec;
import io.penstock.device.sidecar.SideCarCode;
import io.penstock.device.sidecar.SideCarFailure;
import io.penstock.device.sidecar.server.RegionOpener.RegionOwner;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.BiFunction;
import java.util.function.Function;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// Memory of clients that a node on Linux can reach: host memory by itself, device memory through its devices.
final class NodeRegions implements RegionOpener {
  private final Map<Integer, Device> devices;
  private final Scheduler workers;

  /// @param devices by the number that the machine has for them
  NodeRegions(Map<Integer, Device> devices, Scheduler workers) {
    this.devices = Map.copyOf(devices);
    this.workers = workers;
  }

  @Override
  public Mono<RegionWindow> open(RegionSpec region, RegionOwner owner) {
    return switch (region.source()) {
      case Memfd memfd -> byHand(() -> HostRegions.memfd(region, memfd, owner));
      case MappedFile file -> byHand(() -> HostRegions.file(region, file, owner));
      case IpcBuffer buffer -> onDevice(region, buffer.device(), SharingDevice.class,
          device -> device.importShared(buffer.key(), region.bytes(), new BlockScope()), RegionWindow.OnDevice::new);
      case FabricBuffer buffer -> onDevice(region, buffer.device(), AscendDevice.class,
          device -> device.importShared(buffer.handle(), region.bytes(), new BlockScope()), RegionWindow.OnFabric::new);
    };
  }

  private Mono<RegionWindow> byHand(Callable<RegionWindow> work) {
    return WorkerTask.on(workers, work);
  }

  private <D extends Device> Mono<RegionWindow> onDevice(RegionSpec region, int number, Class<D> kind,
      Function<D, Mono<DeviceMemory>> open, BiFunction<D, DeviceMemory, RegionWindow> window) {
    Device device = devices.get(number);
    if (!kind.isInstance(device)) {
      return Mono.error(SideCarFailure.of(SideCarCode.UNSUPPORTED, region.id(),
          device == null ? "no device " + number : device.name() + " reaches no memory of others"));
    }
    D sharing = kind.cast(device);
    return Mono.defer(() -> open.apply(sharing)).map(memory -> window.apply(sharing, memory))
        .onErrorMap(AscendUnsupportedException.class,
            e -> SideCarFailure.of(SideCarCode.UNSUPPORTED, region.id(), String.valueOf(e.getMessage())));
  }
}
