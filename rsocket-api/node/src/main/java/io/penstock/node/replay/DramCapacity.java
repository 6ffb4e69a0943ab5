package io.penstock.node.replay;

import com.sun.management.OperatingSystemMXBean;
import io.penstock.node.setting.Capacity;
import java.lang.management.ManagementFactory;

/// The default capacity of host memory: the blocks of 4 GiB of payload, at most half of what the machine has.
final class DramCapacity {
  private static final long USUAL_BYTES = 4L << 30;

  private DramCapacity() {}

  /// @param payloadBytes bytes of the payload of a block
  static Capacity usual(int payloadBytes) {
    OperatingSystemMXBean machine = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    return Capacity.ofBlocks(Math.max(1, Math.min(USUAL_BYTES, machine.getTotalMemorySize() / 2) / payloadBytes));
  }
}
