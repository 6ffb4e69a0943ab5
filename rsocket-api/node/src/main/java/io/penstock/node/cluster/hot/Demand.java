package io.penstock.node.cluster.hot;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.BlockKey;
import io.penstock.check.Checks;
import io.penstock.tier.Presence;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleUnaryOperator;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// How many bytes a second are read of the keys that are read most. A read counts half after a half-life.
///
/// Memory is fixed: [#KEYS] keys, in sets of eight by their hash. In each set runs Space-Saving (Metwally, Agrawal and
/// El Abbadi, ICDT 2005): a key without a place takes that of the least read one, and keeps what that one had as its
/// possible error. Rates are without this error, so a rate is never too high, and that of a key with more than an
/// eighth of the reads of its set is too low by less than that eighth. Reads of equal age decay alike, so nothing is
/// touched when time passes: later reads weigh more instead.
///
/// Safe from any thread; a read of a key takes the lock of its set.
public final class Demand {
  /// Most keys that are known at a time.
  public static final int KEYS = 1024;

  private static final int WAYS = 8;
  private static final int SETS = KEYS / WAYS;
  /// Half-lives after which weights begin at 1 again: a double would overflow.
  private static final int EPOCH = 512;
  private static final int MIX = 0x9E37_79B9;

  private final LongSupplier nanos;
  private final long start;
  private final double halfLifeNanos;
  private final Ways[] sets = new Ways[SETS];

  /// @param nanos clock of the decay
  public Demand(Duration halfLife, LongSupplier nanos) {
    this.halfLifeNanos = Checks.atLeastOneMilli("halfLife", halfLife).toNanos();
    this.nanos = requireNonNull(nanos, "nanos");
    this.start = nanos.getAsLong();
    Arrays.setAll(sets, i -> new Ways());
  }

  /// The weight of a byte that is read now: `value` × 2^([#EPOCH] × `epoch`).
  private record Weight(int epoch, double value) {
    /// The weight in the numbers of `other`, an epoch that is not far.
    double in(int other) {
      return Math.scalb(value, EPOCH * (epoch - other));
    }
  }

  private Weight now() {
    double halfLives = Math.max(0, (nanos.getAsLong() - start) / halfLifeNanos);
    int epoch = (int) (halfLives / EPOCH);
    return new Weight(epoch, Math.pow(2, halfLives - (double) EPOCH * epoch));
  }

  private Ways set(BlockKey key) {
    return sets[(key.hashCode() * MIX) >>> Integer.numberOfLeadingZeros(SETS - 1)];
  }

  /// The blocks of `keys` that are in `read` are read.
  ///
  /// @param bytes of each block
  public void read(List<BlockKey> keys, Presence read, long bytes) {
    Weight now = now();
    for (int i = 0; i < read.size(); i++) {
      if (read.get(i)) {
        BlockKey key = keys.get(i);
        set(key).add(key, bytes, now);
      }
    }
  }

  /// Bytes that are read of `key` a second; 0 if the key is not known.
  public double rate(BlockKey key) {
    return set(key).known(key, now()) * perSecond();
  }

  /// The keys of which more bytes are read a second than `bytesPerSecond`, with their rates, in no order.
  public Map<BlockKey, Double> above(double bytesPerSecond) {
    Map<BlockKey, Double> found = new HashMap<>();
    Weight now = now();
    double perSecond = perSecond();
    for (Ways set : sets) {
      set.forEach(now, (key, bytes) -> {
        if (bytes * perSecond > bytesPerSecond) {
          found.put(key, bytes * perSecond);
        }
      });
    }
    return found;
  }

  /// Counts the reads of `key` so far as `factor` times as many: others have taken a part of its readers, or brought
  /// some.
  public void scale(BlockKey key, double factor) {
    set(key).change(key, weight -> weight * factor);
  }

  private double perSecond() {
    return Math.log(2) * 1e9 / halfLifeNanos;
  }

  @FunctionalInterface
  private interface Reader {
    void read(BlockKey key, double bytes);
  }

  /// The keys of one set.
  private static final class Ways {
    @GuardedBy("this") private final int[] hashes = new int[WAYS];
    @GuardedBy("this") private final @Nullable BlockKey[] keys = new @Nullable BlockKey[WAYS];
    @GuardedBy("this") private final double[] weights = new double[WAYS];
    @GuardedBy("this") private final double[] errors = new double[WAYS];
    @GuardedBy("this") private int epoch;

    synchronized void add(BlockKey key, long bytes, Weight now) {
      moveTo(now.epoch);
      double more = bytes * now.in(epoch);
      int way = find(key);
      if (way < 0) {
        way = least();
        hashes[way] = key.hashCode();
        keys[way] = key;
        errors[way] = weights[way];
      }
      weights[way] += more;
    }

    @GuardedBy("this") private void moveTo(int next) {
      for (; epoch < next; epoch++) {
        if (next - epoch > 2) {
          epoch = next - 2; // all is over by then
          Arrays.fill(weights, 0);
          Arrays.fill(errors, 0);
        }
        for (int i = 0; i < WAYS; i++) {
          weights[i] = Math.scalb(weights[i], -EPOCH);
          errors[i] = Math.scalb(errors[i], -EPOCH);
        }
      }
    }

    @GuardedBy("this") private int find(BlockKey key) {
      int hash = key.hashCode();
      for (int i = 0; i < WAYS; i++) {
        if (hashes[i] == hash && key.equals(keys[i])) {
          return i;
        }
      }
      return -1;
    }

    @GuardedBy("this") private int least() {
      int least = 0;
      for (int i = 1; i < WAYS; i++) {
        if (weights[i] < weights[least]) {
          least = i;
        }
      }
      return least;
    }

    /// Bytes that surely were read of `key`, less what has decayed.
    synchronized double known(BlockKey key, Weight now) {
      moveTo(now.epoch);
      int way = find(key);
      return way < 0 ? 0 : bytes(way, now);
    }

    @GuardedBy("this") private double bytes(int way, Weight now) {
      return (weights[way] - errors[way]) / now.in(epoch);
    }

    void forEach(Weight now, Reader reader) {
      for (int i = 0; i < WAYS; i++) {
        BlockKey key;
        double bytes;
        synchronized (this) {
          moveTo(now.epoch);
          key = keys[i];
          bytes = bytes(i, now);
        }
        if (key != null) {
          reader.read(key, bytes);
        }
      }
    }

    synchronized void change(BlockKey key, DoubleUnaryOperator change) {
      int way = find(key);
      if (way >= 0) {
        weights[way] = change.applyAsDouble(weights[way]);
        errors[way] = change.applyAsDouble(errors[way]);
      }
    }
  }
}
