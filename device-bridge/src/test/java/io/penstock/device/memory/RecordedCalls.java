package io.penstock.device.memory;

import io.penstock.system.NativeMemory;
import io.penstock.system.SystemCallException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;

/// The system's calls: plain pages stand in for huge ones, calls that a test refuses are refused, all are recorded.
final class RecordedCalls implements NativeMemory {
  final List<String> log = new ArrayList<>();
  private final NativeMemory system = NativeMemory.ofSystem();
  private final Map<String, Integer> refused = new HashMap<>();

  RecordedCalls() {
    Assumptions.assumeTrue(NativeMemory.absence().isEmpty(), "the calls of this system are not known");
  }

  /// From now on `call`, as the log names it, is refused for `errno`.
  RecordedCalls refuse(String call, int errno) {
    refused.put(call, errno);
    return this;
  }

  private void record(String call, String function) throws SystemCallException {
    Integer errno = refused.get(call);
    log.add(errno == null ? call : call + "!");
    if (errno != null) {
      throw new SystemCallException(function, errno);
    }
  }

  @Override
  public long map(long bytes) throws SystemCallException {
    record("map", "mmap");
    return system.map(bytes);
  }

  @Override
  public long mapHuge(long bytes, long pageBytes) throws SystemCallException {
    record("map 2^" + Long.numberOfTrailingZeros(pageBytes), "mmap");
    return system.map(bytes);
  }

  @Override
  public void unmap(long address, long bytes) throws SystemCallException {
    record("unmap", "munmap");
    system.unmap(address, bytes);
  }

  @Override
  public void advise(long address, long bytes, NativeMemory.Advice advice) throws SystemCallException {
    record("advise " + advice, "madvise");
    system.advise(address, bytes, advice);
  }

  @Override
  public void lock(long address, long bytes) throws SystemCallException {
    record("lock", "mlock");
    system.lock(address, bytes);
  }

  @Override
  public void prefer(long address, long bytes, int node) throws SystemCallException {
    record("prefer " + node, "mbind");
    system.prefer(address, bytes, node);
  }

  @Override
  public long pageBytes() {
    return system.pageBytes();
  }
}
