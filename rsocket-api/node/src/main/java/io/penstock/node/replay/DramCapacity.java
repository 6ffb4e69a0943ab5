package io.penstock.node.replay;

import com.sun.management.OperatingSystemMXBean;
import io.penstock.node.setting.Capacity;
import java.lang.management.ManagementFactory;

/// The default capacity of host memory: 4 GiB, at most half of what the machine has.
final class DramCapacity {
  private static final long USUAL_BYTES = 4L << 30;

  private DramCapacity() {}

  static Capacity usual() {
    OperatingSystemMXBean machine = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    return Capacity.ofBytes(Math.min(USUAL_BYTES, machine.getTotalMemorySize() / 2));
  }
}
