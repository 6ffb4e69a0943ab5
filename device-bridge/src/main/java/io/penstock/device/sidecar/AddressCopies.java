package io.penstock.device.sidecar;

import io.penstock.block.Owned;
import io.penstock.device.ascend.AclCode;
import io.penstock.device.ascend.AscendDevice;
import io.penstock.device.ascend.CopyReport;
import io.penstock.device.ascend.CopyRequest;
import io.penstock.device.sidecar.RegionWindow.InFile;
import io.penstock.device.sidecar.RegionWindow.Mapped;
import io.penstock.device.sidecar.RegionWindow.OnDevice;
import io.penstock.device.sidecar.RegionWindow.OnFabric;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// Copies that one Ascend device makes by addresses alone: inside the device, and to and from memory of the fabric, wherever that is.
///
/// After a timeout the device may still be at it, so those windows stay open until a later request of it ends otherwise.
final class AddressCopies {
  private static final Set<Integer> TIMEOUTS = Set.of(AclCode.RT_WAIT_TIMEOUT.number(), AclCode.RT_TASK_TIMEOUT.number(),
      AclCode.RT_DRIVER_TIMEOUT.number(), AclCode.RT_STREAM_SYNC_TIMEOUT.number());

  /// Guarded by itself.
  private final Map<AscendDevice, List<Owned>> stuck = new HashMap<>();

  /// The device that reaches both sides by their addresses; null if none does, or if there is a better way.
  static @Nullable AscendDevice between(RegionWindow from, RegionWindow to) {
    AscendDevice first = device(from);
    AscendDevice second = device(to);
    boolean plain = !(from instanceof OnFabric || to instanceof OnFabric) && (first == null || second == null);
    if (plain || from instanceof InFile || to instanceof InFile || (isDevice(from) && isDevice(to) && first != second)) {
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
      case InFile file -> throw new IllegalStateException("a file must not be copied by its address (was " + file + ")");
    };
  }

  /// @param share closed when `device` does not touch the memory any more
  Mono<Void> copy(AscendDevice device, CopyRequest request, Owned share) {
    return device.copy(request).doOnError(nothingCopied -> share.close()).flatMap(report -> ended(device, report, share));
  }

  private Mono<Void> ended(AscendDevice device, CopyReport report, Owned share) {
    if (TIMEOUTS.contains(report.code())) {
      synchronized (stuck) {
        stuck.computeIfAbsent(device, first -> new ArrayList<>()).add(share);
      }
    } else {
      share.close();
      letGo(device);
    }
    return report.isComplete() ? Mono.empty() : Mono.error(SideCarFailure.of(SideCarCode.COPY_FAILED, SideCarFailure.NO_REGION,
        device.name() + ", element " + report.firstFailed() + ": " + report.code() + ", " + AclCode.meaning(report.code())));
  }

  private void letGo(AscendDevice device) {
    List<Owned> done;
    synchronized (stuck) {
      done = stuck.remove(device);
    }
    if (done != null) {
      done.forEach(Owned::close);
    }
  }
}
