package io.penstock.lab.attack;

import io.penstock.block.BlockKey;
import io.penstock.node.text.Reason;
import io.penstock.wire.protocol.WireFailure.ConnectionLostException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.HdrHistogram.Histogram;

/// Observations of the good client in one phase. One thread.
final class Tally {
  private static final int DIGITS = 3;
  private static final int MOST_KINDS = 20;

  private final GoodClient client;
  private final Histogram puts = new Histogram(DIGITS);
  private final Histogram gets = new Histogram(DIGITS);
  private final Histogram visits = new Histogram(DIGITS);
  private final Map<String, Long> errors = new TreeMap<>();
  private long failed;
  private int wrong;

  Tally(GoodClient client) {
    this.client = client;
  }

  /// Puts, gets and removes a few blocks.
  void round() {
    List<BlockKey> keys = client.fresh(GoodClient.ROUND_BLOCKS);
    if (timed("put", puts, () -> {
      client.put(keys);
      return 0;
    })) {
      timed("get", gets, () -> client.read(keys));
    }
    tried("remove", () -> client.removed(keys), 0);
  }

  /// Connects once more.
  void visit() {
    timed("connect", visits, () -> {
      client.visit();
      return 0;
    });
  }

  /// Result of `call`, or `otherwise` if it fails; every failure counts.
  <T> T tried(String what, Supplier<T> call, T otherwise) {
    try {
      return call.get();
    } catch (RuntimeException e) {
      failed(what, e);
      return otherwise;
    }
  }

  /// @param call answers blocks with wrong bytes
  private boolean timed(String what, Histogram nanos, IntSupplier call) {
    long began = System.nanoTime();
    try {
      wrong += call.getAsInt();
      return true;
    } catch (RuntimeException e) {
      failed(what, e);
      return false;
    } finally {
      nanos.recordValue(System.nanoTime() - began);
    }
  }

  private void failed(String what, RuntimeException failure) {
    failed++;
    String words = what + ": " + Reason.of(failure);
    if (errors.size() < MOST_KINDS || errors.containsKey(words)) {
      errors.merge(words, 1L, Long::sum);
    }
    if (failure instanceof ConnectionLostException) {
      client.disconnect();
    }
  }

  Latency puts() {
    return Latency.of(puts);
  }

  Latency gets() {
    return Latency.of(gets);
  }

  Latency visits() {
    return Latency.of(visits);
  }

  /// Calls that failed.
  long failedCalls() {
    return failed;
  }

  /// Number of each error, by its text; only the first kinds.
  Map<String, Long> errors() {
    return Map.copyOf(errors);
  }

  /// Blocks with wrong bytes.
  int wrongBlocks() {
    return wrong;
  }
}
