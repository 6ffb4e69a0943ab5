package io.penstock.lab.bench.cluster;

import io.penstock.KvException;
import io.penstock.block.BlockKey;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/// What became of the requests of a load. Safe from any thread.
final class Outcome {
  private final Set<BlockKey> stored = new LinkedHashSet<>();
  private final List<Ended> ended = new ArrayList<>();
  private final Map<String, Integer> refused = new TreeMap<>();
  private final Map<String, Integer> broken = new TreeMap<>();

  /// A request that ended with what it asked for.
  ///
  /// @param began [System#nanoTime()]
  /// @param hits blocks that it read
  private record Ended(long began, long end, int blocks, int hits) {}

  synchronized void ended(long began, int blocks, int hits) {
    ended.add(new Ended(began, System.nanoTime(), blocks, hits));
  }

  synchronized void stored(List<BlockKey> keys) {
    stored.addAll(keys);
  }

  /// A request that failed; only a failure of a type that callers are told of may be one.
  synchronized void failed(Throwable failure) {
    String name = failure.getClass().getSimpleName();
    (failure instanceof KvException ? refused : broken)
        .merge(failure instanceof KvException ? name : name + ": " + failure.getMessage(), 1, Integer::sum);
  }

  /// Keys of blocks that the cluster has acknowledged, the oldest first.
  synchronized List<BlockKey> stored() {
    return List.copyOf(stored);
  }

  synchronized int requests() {
    return ended.size() + failures();
  }

  synchronized long blocks() {
    return ended.stream().mapToLong(Ended::blocks).sum();
  }

  synchronized long hits() {
    return ended.stream().mapToLong(Ended::hits).sum();
  }

  /// Requests that failed, with errors of any type.
  synchronized int failures() {
    return count(refused) + count(broken);
  }

  /// Requests that ended in no way that is allowed: too late, or with an error that has no type.
  synchronized int broken() {
    return count(broken);
  }

  private static int count(Map<String, Integer> failures) {
    return failures.values().stream().mapToInt(Integer::intValue).sum();
  }

  /// All failures in words; empty for none.
  synchronized String failed() {
    Map<String, Integer> all = new TreeMap<>(refused);
    all.putAll(broken);
    return all.isEmpty() ? "" : "; failed: " + all;
  }

  /// Nanoseconds from `moment` to the end of the first request that began after it and read blocks; `Long.MAX_VALUE`
  /// for none.
  synchronized long firstHitAfter(long moment) {
    return ended.stream().filter(each -> each.began() - moment >= 0 && each.hits() > 0)
        .mapToLong(each -> each.end() - moment).min().orElse(Long.MAX_VALUE);
  }

  /// Time of a request that `part` of all requests do not exceed, in nanoseconds.
  synchronized long nanos(double part) {
    List<Long> times = new ArrayList<>(ended.stream().map(each -> each.end() - each.began()).toList());
    Collections.sort(times);
    return times.isEmpty() ? 0 : times.get((int) Math.min(times.size() - 1L, Math.round(part * times.size())));
  }
}
