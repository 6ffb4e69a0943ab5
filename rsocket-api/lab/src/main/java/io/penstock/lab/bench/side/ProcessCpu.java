package io.penstock.lab.bench.side;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/// CPU time of this process.
public final class ProcessCpu {
  private static final OperatingSystemMXBean SYSTEM =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

  private ProcessCpu() {}

  public static long nanos() {
    return SYSTEM.getProcessCpuTime();
  }
}
