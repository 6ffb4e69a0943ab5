package io.penstock.device.memory;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLongArray;
import reactor.util.Logger;
import reactor.util.Loggers;

/// What memory is taken, by rung, and how often it is not what it was to be; the first time for each source and wish is a line in the log.
/// Safe from any thread.
public final class MemoryFigures implements MemoryListener {
  private static final Logger LOG = Loggers.getLogger(MemoryFigures.class);

  private final AtomicLongArray bytes = new AtomicLongArray(MemoryRung.values().length);
  private final Map<String, Long> fallbacks = new ConcurrentHashMap<>();
  private final Set<String> said = ConcurrentHashMap.newKeySet();

  @Override
  public void taken(MemoryRung rung, long size) {
    bytes.addAndGet(rung.ordinal(), size);
  }

  @Override
  public void givenBack(MemoryRung rung, long size) {
    bytes.addAndGet(rung.ordinal(), -size);
  }

  @Override
  public void fellBack(String source, Fallback fallback) {
    fallbacks.merge(fallback.wanted(), 1L, Long::sum);
    if (said.add(source + ": no " + fallback.wanted())) {
      LOG.info(source + ": no " + fallback.wanted() + ": " + fallback.reason());
    }
  }

  /// Bytes taken on `rung` and not given back.
  public long bytes(MemoryRung rung) {
    return bytes.get(rung.ordinal());
  }

  /// How often memory was not what it was to be.
  public long fallbacks() {
    return fallbacks.values().stream().mapToLong(Long::longValue).sum();
  }

  /// The same by what was wanted.
  public Map<String, Long> fallbacksByWish() {
    return new TreeMap<>(fallbacks);
  }
}
