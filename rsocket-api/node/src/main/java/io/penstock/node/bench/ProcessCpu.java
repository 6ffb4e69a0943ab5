package io.penstock.node.bench;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/// CPU time of this process.
final class ProcessCpu {
  private static final OperatingSystemMXBean SYSTEM =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

  private ProcessCpu() {}

  static long nanos() {
    return SYSTEM.getProcessCpuTime();
  }
}
