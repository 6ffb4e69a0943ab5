package io.penstock.device.sidecar.server;

import io.penstock.device.ascend.AscendDevice;
import io.penstock.device.ascend.CopyRequest;
import io.penstock.device.ascend.failure.AclCode;
import io.penstock.device.sidecar.SideCarCode;
import io.penstock.device.sidecar.SideCarFailure;
import io.penstock.device.sidecar.server.RegionWindow.InFile;
import io.penstock.device.sidecar.server.RegionWindow.Mapped;
import io.penstock.device.sidecar.server.RegionWindow.OnDevice;
import io.penstock.device.sidecar.server.RegionWindow.OnFabric;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// Copies that one Ascend device makes by addresses alone: inside the device, and to and from memory of the fabric,
/// wherever that is.
final class AddressCopies {
  private AddressCopies() {}

  /// The device that reaches both sides by their addresses; null if none does, or if there is a better way.
  static @Nullable AscendDevice between(RegionWindow from, RegionWindow to) {
    AscendDevice first = device(from);
    AscendDevice second = device(to);
    boolean plain = !(from instanceof OnFabric || to instanceof OnFabric) && (first == null || second == null);
    if (plain || from instanceof InFile || to instanceof InFile
        || (isDevice(from) && isDevice(to) && first != second)) {
      return null;
    }
    return first == null ? second : first;
  }

  private static boolean isDevice(RegionWindow window) {
    return !(window instanceof Mapped);
  }

  private static @Nullable AscendDevice device(RegionWindow window) {
    return switch (window) {
      case OnFabric there -> there.device();
      case OnDevice there when there.device() instanceof AscendDevice ascend -> ascend;
      default -> null;
    };
  }

  static long address(RegionWindow window, long offset) {
    return switch (window) {
      case OnFabric there -> there.memory().address() + offset;
      case OnDevice there -> there.memory().address() + offset;
      case Mapped mapped -> mapped.memory().address() + offset;
      case InFile file ->
        throw new IllegalStateException("a file must not be copied by its address (was " + file + ")");
    };
  }

  /// @param request its holds are closed when `device` no longer touches the memory
  static Mono<Void> copy(AscendDevice device, CopyRequest request) {
    return device.copy(request)
        .flatMap(report -> report.isComplete()
            ? Mono.empty()
            : Mono.error(SideCarFailure.of(SideCarCode.COPY_FAILED,
                SideCarFailure.NO_REGION, device.name() + ", element " + report.firstFailed() + ": " + report.code()
                    + ", " + AclCode.explained(report.code()))));
  }
}
