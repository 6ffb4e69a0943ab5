package io.penstock.device.memory;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import reactor.util.Logger;
import reactor.util.Loggers;

/// Counts host memory by kind, and wishes that were not met; logs the first of each source and wish. Safe from any
/// thread.
public final class MemoryFigures implements MemoryListener {
  private static final Comparator<MemoryKind> ORDER =
      Comparator.comparing(MemoryKind::pages).thenComparing(kind -> kind.node().orElse(-1))
          .thenComparing(MemoryKind::locked);
  private static final Logger LOG = Loggers.getLogger(MemoryFigures.class);

  private final Map<MemoryKind, Long> bytes = new ConcurrentHashMap<>();
  private final Map<String, Long> fallbacks = new ConcurrentHashMap<>();
  private final Set<String> said = ConcurrentHashMap.newKeySet();

  @Override
  public void taken(MemoryKind kind, long size) {
    bytes.merge(kind, size, Long::sum);
  }

  @Override
  public void givenBack(MemoryKind kind, long size) {
    bytes.merge(kind, -size, (had, change) -> had + change == 0 ? null : had + change);
  }

  @Override
  public void fellBack(String source, Fallback fallback) {
    fallbacks.merge(fallback.wanted(), 1L, Long::sum);
    if (said.add(source + ": no " + fallback.wanted())) {
      LOG.info("{}: no {}: {}", source, fallback.wanted(), fallback.reason());
    }
  }

  /// Bytes of `kind` that are allocated now.
  public long bytes(PageKind kind) {
    return bytes.entrySet().stream().filter(each -> each.getKey().pages() == kind).mapToLong(Map.Entry::getValue).sum();
  }

  /// Bytes by kind, node and lock, the best kind of pages first.
  public SequencedMap<MemoryKind, Long> bytesByKind() {
    SequencedMap<MemoryKind, Long> sorted = new LinkedHashMap<>();
    bytes.entrySet().stream().sorted(Map.Entry.comparingByKey(ORDER))
        .forEach(each -> sorted.put(each.getKey(), each.getValue()));
    return sorted;
  }

  /// Number of times that memory was of another kind than wanted.
  public long fallbacks() {
    return fallbacks.values().stream().mapToLong(Long::longValue).sum();
  }
}
