package io.penstock.device.memory;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;

/// The system's calls, with plain pages behind large ones, what tests refuse refused, and all of it recorded.
final class RecordedCalls implements SystemCalls {
  private static final int HUGE_PAGES = 0x40000;

  final List<String> log = new ArrayList<>();
  private final SystemCalls system;
  private final Map<String, Integer> refused = new HashMap<>();

  RecordedCalls() {
    Assumptions.assumeTrue(LinuxCalls.find().isPresent(), "the calls of this system are not known");
    this.system = LinuxCalls.find().orElseThrow();
  }

  /// From now on `call`, as the log names it, answers `errno`.
  RecordedCalls refuse(String call, int errno) {
    refused.put(call, errno);
    return this;
  }

  private Integer said(String call) {
    Integer errno = refused.get(call);
    log.add(errno == null ? call : call + "!");
    return errno;
  }

  @Override
  public long map(long bytes, int flags) {
    Integer errno = said("map" + (flags == 0 ? "" : " 2^" + (flags >>> 26)));
    return errno != null ? -errno : system.map(bytes, flags & ~HUGE_PAGES & (1 << 26) - 1);
  }

  @Override
  public long unmap(long address, long bytes) {
    Integer errno = said("unmap");
    return errno != null ? -errno : system.unmap(address, bytes);
  }

  @Override
  public long advise(long address, long bytes, int advice) {
    Integer errno = said("advise " + advice);
    return errno != null ? -errno : system.advise(address, bytes, advice);
  }

  @Override
  public long lock(long address, long bytes) {
    Integer errno = said("lock");
    return errno != null ? -errno : system.lock(address, bytes);
  }

  @Override
  public long bind(long address, long bytes, MemorySegment nodes) {
    Integer errno = said("bind " + Long.toHexString(nodes.get(java.lang.foreign.ValueLayout.JAVA_LONG, 0)));
    return errno != null ? -errno : system.bind(address, bytes, nodes);
  }

  @Override
  public long pageBytes() {
    return system.pageBytes();
  }
}
