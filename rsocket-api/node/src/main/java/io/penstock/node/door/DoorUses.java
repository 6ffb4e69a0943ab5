package io.penstock.node.door;

import static java.util.Objects.requireNonNull;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/// What the users of one door did since it was opened. A door whose clients show no credentials has one user, the empty
/// name. Safe from any thread.
public final class DoorUses {
  private final Map<String, Use> users = new ConcurrentHashMap<>();
  private final Consumer<Use> added;

  /// @param added receives each user, once
  public DoorUses(Consumer<Use> added) {
    this.added = requireNonNull(added, "added");
  }

  /// Counts for `user`. Only for users who were let in: each one that is new takes memory.
  public Use of(String user) {
    return users.computeIfAbsent(user, name -> {
      Use use = new Use(name);
      added.accept(use);
      return use;
    });
  }

  /// Figures of each user, by name.
  public Map<String, Figures> figures() {
    Map<String, Figures> all = new TreeMap<>();
    users.forEach((name, use) -> all.put(name, use.figures()));
    return all;
  }

  /// Figures of one user.
  ///
  /// @param hits reads that found a value
  /// @param misses reads that found none
  /// @param finds questions whether a value is there
  /// @param writes values that were stored
  /// @param drops values that were accepted and let go at once, for want of room or time
  /// @param refusals requests that were refused or broke the protocol
  /// @param damages values that were read and had wrong bytes
  /// @param aborts values whose connection ended before their last byte
  /// @param bytesIn of values that came
  /// @param bytesOut of values that went
  public record Figures(long hits, long misses, long finds, long writes, long drops, long refusals, long damages,
      long aborts, long bytesIn, long bytesOut) {
    /// These figures by their names, in this order.
    public Map<String, Long> byName() {
      Map<String, Long> all = new LinkedHashMap<>();
      all.put("hits", hits);
      all.put("misses", misses);
      all.put("finds", finds);
      all.put("writes", writes);
      all.put("drops", drops);
      all.put("refusals", refusals);
      all.put("damages", damages);
      all.put("aborts", aborts);
      all.put("bytesIn", bytesIn);
      all.put("bytesOut", bytesOut);
      return all;
    }
  }

  /// What is counted.
  public enum Kind {
    HIT, MISS, FIND, WRITE, DROP, REFUSAL, DAMAGE, ABORT, BYTES_IN, BYTES_OUT
  }

  /// Counts of one user.
  public static final class Use {
    private final String user;
    private final LongAdder[] counts = new LongAdder[Kind.values().length];

    private Use(String user) {
      this.user = user;
      for (int i = 0; i < counts.length; i++) {
        counts[i] = new LongAdder();
      }
    }

    /// Name of the user.
    public String user() {
      return user;
    }

    /// Counts one of `kind`.
    public void count(Kind kind) {
      add(kind, 1);
    }

    /// Adds `number` of `kind`.
    public void add(Kind kind, long number) {
      counts[kind.ordinal()].add(number);
    }

    long of(Kind kind) {
      return counts[kind.ordinal()].sum();
    }

    /// All counts now.
    public Figures figures() {
      return new Figures(of(Kind.HIT), of(Kind.MISS), of(Kind.FIND), of(Kind.WRITE), of(Kind.DROP), of(Kind.REFUSAL),
          of(Kind.DAMAGE), of(Kind.ABORT), of(Kind.BYTES_IN), of(Kind.BYTES_OUT));
    }
  }
}
