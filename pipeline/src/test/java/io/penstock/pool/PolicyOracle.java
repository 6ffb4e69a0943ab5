package io.penstock.pool;

import io.penstock.block.EvictionPolicy;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.SequencedSet;
import java.util.TreeSet;

/// What each policy decides, written from its definition with the collections of the JDK: no rows, no levels.
interface PolicyOracle {
  /// No key was evicted.
  long NONE = -1;

  boolean has(long key);

  /// Touches `key`, which is present.
  void touch(long key, int position);

  /// Inserts `key`, which is absent.
  ///
  /// @return the key that was evicted for it; [#NONE] if there was room
  long insert(long key, int position);

  static PolicyOracle of(EvictionPolicy policy, int capacity) {
    return switch (policy) {
      case LRU -> new Queue(capacity, true);
      case FIFO -> new Queue(capacity, false);
      case LFU -> new Scored(capacity, (scored, uses, position) -> uses, false);
      case LENGTH_AWARE -> new Scored(capacity, (scored, uses, position) -> -position, false);
      case COST_AWARE ->
        new Scored(capacity, (scored, uses, position) -> scored.clock + uses * (64.0 + position), false);
      case REUSE_AWARE, SESSIONS -> reuseAware(capacity); // SESSIONS without a session
      case ARC -> new Arc(capacity);
      case S3_FIFO -> new S3Fifo(capacity);
      case W_TINYLFU -> new OneLevel(policy, capacity); // CaffeineTest has its decisions
      case ADAPTIVE -> new Adaptive(capacity);
    };
  }

  private static Scored reuseAware(int capacity) {
    return new Scored(capacity, (scored, uses, position) -> scored.now + Math.round(scored.interval
        * (log2(Math.min(15, uses)) - log2(1 + position) / 4)), true);
  }

  private static double log2(double value) {
    return StrictMath.log(value) / StrictMath.log(2);
  }

  /// LRU and FIFO.
  final class Queue implements PolicyOracle {
    private final int capacity;
    private final boolean moves;
    private final SequencedSet<Long> keys = new LinkedHashSet<>();

    Queue(int capacity, boolean moves) {
      this.capacity = capacity;
      this.moves = moves;
    }

    @Override
    public boolean has(long key) {
      return keys.contains(key);
    }

    @Override
    public void touch(long key, int position) {
      if (moves) {
        keys.remove(key);
        keys.add(key);
      }
    }

    @Override
    public long insert(long key, int position) {
      long victim = keys.size() < capacity ? NONE : keys.removeFirst();
      keys.add(key);
      return victim;
    }
  }

  /// Evicts the lowest score, of equals the least recently used.
  final class Scored implements PolicyOracle {
    private record Entry(long key, int uses, double score, long last) {}

    interface Score {
      double of(Scored scored, int uses, int position);
    }

    private final int capacity;
    private final Score score;
    private final boolean remembers;
    private final Map<Long, Entry> entries = new HashMap<>();
    private final TreeSet<Entry> order =
        new TreeSet<>(Comparator.comparingDouble(Entry::score).thenComparingLong(Entry::last));
    private final Map<Long, Entry> evicted = new HashMap<>();
    private double clock;
    private long now;
    private double interval;
    private long intervals;

    Scored(int capacity, Score score, boolean remembers) {
      this.capacity = capacity;
      this.score = score;
      this.remembers = remembers;
    }

    @Override
    public boolean has(long key) {
      return entries.containsKey(key);
    }

    @Override
    public void touch(long key, int position) {
      now++;
      Entry before = entries.get(key);
      order.remove(before);
      measure(before);
      put(key, before.uses + 1, position);
    }

    @Override
    public long insert(long key, int position) {
      long victim = entries.size() < capacity ? NONE : evict();
      now++;
      Entry before = remembers ? evicted.get(key) : null;
      if (before != null) {
        measure(before);
      }
      put(key, before == null ? 1 : before.uses + 1, position);
      return victim;
    }

    private void measure(Entry before) {
      intervals++;
      interval += (now - before.last - interval) * Math.max(1.0 / 2048, 1.0 / intervals);
    }

    private void put(long key, int uses, int position) {
      Entry entry = new Entry(key, uses, score.of(this, uses, position), now);
      entries.put(key, entry);
      order.add(entry);
    }

    private long evict() {
      return evict(order.getFirst());
    }

    long evict(Entry victim) {
      order.remove(victim);
      clock = Math.max(clock, victim.score);
      entries.remove(victim.key);
      evicted.put(victim.key, victim);
      return victim.key;
    }
  }

  /// Figure 4 of the paper: T1, T2, B1 and B2.
  final class Arc implements PolicyOracle {
    private final int capacity;
    private final SequencedSet<Long> t1 = new LinkedHashSet<>();
    private final SequencedSet<Long> t2 = new LinkedHashSet<>();
    private final SequencedSet<Long> b1 = new LinkedHashSet<>();
    private final SequencedSet<Long> b2 = new LinkedHashSet<>();
    private double p;

    Arc(int capacity) {
      this.capacity = capacity;
    }

    @Override
    public boolean has(long key) {
      return t1.contains(key) || t2.contains(key);
    }

    @Override
    public void touch(long key, int position) {
      t1.remove(key);
      t2.remove(key);
      t2.add(key);
    }

    @Override
    public long insert(long key, int position) {
      if (b1.contains(key)) {
        p = Math.min(capacity, p + Math.max(1, (double) b2.size() / b1.size()));
        b1.remove(key);
        long victim = replace(false);
        t2.add(key);
        return victim;
      }
      if (b2.contains(key)) {
        p = Math.max(0, p - Math.max(1, (double) b1.size() / b2.size()));
        b2.remove(key);
        long victim = replace(true);
        t2.add(key);
        return victim;
      }
      long victim = NONE;
      if (t1.size() + b1.size() == capacity) {
        if (t1.size() < capacity) {
          b1.removeFirst();
          victim = replace(false);
        } else {
          victim = t1.removeFirst();
        }
      } else if (t1.size() + t2.size() + b1.size() + b2.size() >= capacity) {
        if (t1.size() + t2.size() + b1.size() + b2.size() == 2 * capacity) {
          b2.removeFirst();
        }
        victim = replace(false);
      }
      t1.add(key);
      return victim;
    }

    private long replace(boolean isInB2) {
      if (t1.size() + t2.size() < capacity) {
        return NONE;
      }
      boolean first = !t1.isEmpty() && (t1.size() > p || (isInB2 && t1.size() == (int) p) || t2.isEmpty());
      long victim = (first ? t1 : t2).removeFirst();
      (first ? b1 : b2).add(victim);
      return victim;
    }
  }

  /// Algorithm 1 of the paper: S, M and G.
  final class S3Fifo implements PolicyOracle {
    private final int capacity;
    private final int small;
    private final Deque<Long> s = new ArrayDeque<>();
    private final Deque<Long> m = new ArrayDeque<>();
    private final SequencedSet<Long> g = new LinkedHashSet<>();
    private final Map<Long, Integer> freq = new HashMap<>();

    S3Fifo(int capacity) {
      this.capacity = capacity;
      this.small = Math.max(1, capacity / 10);
    }

    @Override
    public boolean has(long key) {
      return freq.containsKey(key);
    }

    @Override
    public void touch(long key, int position) {
      freq.put(key, Math.min(3, freq.get(key) + 1));
    }

    @Override
    public long insert(long key, int position) {
      long victim = freq.size() < capacity ? NONE : s.size() >= small || m.isEmpty() ? evictSmall() : evictMain();
      (g.remove(key) ? m : s).add(key);
      freq.put(key, 0);
      return victim;
    }

    private long evictSmall() {
      while (!s.isEmpty() && (m.size() <= capacity - small && (s.size() >= small || m.isEmpty()))) {
        long key = s.remove();
        if (freq.get(key) > 1) {
          m.add(key);
        } else {
          freq.remove(key);
          g.add(key);
          while (g.size() > Math.max(1, capacity - small)) {
            g.removeFirst();
          }
          return key;
        }
      }
      return evictMain();
    }

    private long evictMain() {
      while (true) {
        long key = m.remove();
        int uses = freq.get(key);
        if (uses == 0) {
          freq.remove(key);
          return key;
        }
        freq.put(key, uses - 1);
        m.add(key);
      }
    }
  }

  /// LRU and REUSE_AWARE, each alone, and a third cache that follows the one with more hits lately.
  final class Adaptive implements PolicyOracle {
    private static final double DECAY = Math.pow(0.5, 1.0 / 4096);

    private final int capacity;
    private final PolicyOracle[] alone;
    private final double[] hits = new double[2];
    private final Queue recent;
    private final Scored scored;
    private int leader;

    Adaptive(int capacity) {
      this.capacity = capacity;
      this.alone = new PolicyOracle[] {new Queue(capacity, true), reuseAware(capacity)};
      this.recent = new Queue(capacity + 1, true);
      this.scored = reuseAware(capacity + 1);
    }

    @Override
    public boolean has(long key) {
      return recent.has(key);
    }

    @Override
    public void touch(long key, int position) {
      compare(key, position);
      recent.touch(key, position);
      scored.touch(key, position);
    }

    @Override
    public long insert(long key, int position) {
      long victim = NONE;
      if (recent.keys.size() == capacity) {
        victim = leader == 0 ? recent.keys.getFirst() : scored.order.getFirst().key;
        recent.keys.remove(victim);
        scored.evict(scored.entries.get(victim));
      }
      compare(key, position);
      recent.insert(key, position);
      scored.insert(key, position);
      return victim;
    }

    private void compare(long key, int position) {
      for (int i = 0; i < alone.length; i++) {
        hits[i] *= DECAY;
        if (alone[i].has(key)) {
          hits[i]++;
          alone[i].touch(key, position);
        } else {
          alone[i].insert(key, position);
        }
      }
      if (hits[1 - leader] > hits[leader] * 1.005 + 1) {
        leader = 1 - leader;
      }
    }
  }

  /// The ledger itself, on one level, for a policy that another test compares with its model step by step.
  final class OneLevel implements PolicyOracle {
    private final Ledger<Long> ledger;
    private long victim;

    OneLevel(EvictionPolicy policy, int capacity) {
      this.ledger = new Ledger<>(EvictionOrderTest.key(0).space(), policy, capacity);
    }

    @Override
    public boolean has(long key) {
      return ledger.level(EvictionOrderTest.key(key)) == 0;
    }

    @Override
    public void touch(long key, int position) {
      ledger.touch(EvictionOrderTest.key(key), position, (moved, value, level) -> {});
    }

    @Override
    public long insert(long key, int position) {
      victim = NONE;
      ledger.insert(EvictionOrderTest.key(key), key, position, (moved, value, level) -> victim = value);
      return victim;
    }
  }
}
