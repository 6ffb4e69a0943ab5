package io.penstock.node.door;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.BlockKey;
import io.penstock.flow.StoredValue;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Names of values that are there, as far as this node knows, by name and by the blocks that mark them. When they take
/// too much memory, some go again, whichever they are. Safe from any thread.
final class KnownNames {
  /// Memory of a name beside its characters, roughly: its objects, and its places in three maps.
  static final int BYTES_EACH = 640;
  private static final int LOOK_AT = 16;

  private final long mostBytes;
  private final Consumer<Known> tooMany;
  private final AtomicLong bytes = new AtomicLong();
  private volatile boolean isSome;
  @GuardedBy("this") private Iterator<Known> hand = Collections.emptyIterator();
  private final Map<String, Known> byName = new ConcurrentHashMap<>();
  private final Map<BlockKey, Known> byMark = new ConcurrentHashMap<>();
  private final NavigableSet<String> sorted = new ConcurrentSkipListSet<>();
  @GuardedBy("this") private final TreeMap<Long, List<String>> ends = new TreeMap<>();

  /// @param mostBytes of memory, roughly
  /// @param tooMany receives a value that ends by itself and whose name goes for want of memory: it is to end now
  KnownNames(long mostBytes, Consumer<Known> tooMany) {
    this.mostBytes = mostBytes;
    this.tooMany = tooMany;
  }

  /// A value.
  ///
  /// @param size index of the tier that has it
  /// @param untilMillis when it ends by itself; 0 for never
  /// @param usedNanos when it was used last, as far as this node saw
  record Known(StoredValue stored, int size, long untilMillis, AtomicLong usedNanos) {
    Known(StoredValue stored, int size, long untilMillis, long usedNanos) {
      this(stored, size, untilMillis, new AtomicLong(usedNanos));
    }

    Known {
      requireNonNull(stored, "stored");
    }

    String name() {
      return stored.name();
    }

    long length() {
      return stored.length();
    }

    List<BlockKey> marks() {
      return stored.marks();
    }

    /// Whether it has ended by itself.
    boolean isOver(InstantSource wall) {
      return untilMillis != 0 && untilMillis <= wall.millis();
    }

    Known until(long millis) {
      return new Known(stored, size, millis, usedNanos);
    }
  }

  @Nullable Known of(String name) {
    return byName.get(name);
  }

  @Nullable Known of(BlockKey mark) {
    return byMark.get(mark);
  }

  /// @return what was known of the name before
  @Nullable Known add(Known one) {
    Known before;
    synchronized (this) {
      before = byName.put(one.name(), one);
      if (before == null) {
        sorted.add(one.name());
        bytes.addAndGet(bytes(one));
      } else {
        unmark(before);
      }
      mark(one);
    }
    shrink(one);
    return before;
  }

  /// Adds a value unless its name is known.
  void addIfAbsent(Known one) {
    synchronized (this) {
      if (byName.putIfAbsent(one.name(), one) != null) {
        return;
      }
      sorted.add(one.name());
      bytes.addAndGet(bytes(one));
      mark(one);
    }
    shrink(one);
  }

  private static long bytes(Known one) {
    return BYTES_EACH + 2L * one.name().length();
  }

  private void shrink(Known but) {
    while (bytes.get() > mostBytes && byName.size() > 1) {
      Known victim = victim(but);
      if (victim != null && forget(victim)) {
        isSome = true;
        if (victim.untilMillis() != 0) {
          tooMany.accept(victim);
        }
      }
    }
  }

  /// One of the names that come next, if possible one whose value does not end by itself.
  private synchronized @Nullable Known victim(Known but) {
    Known victim = null;
    for (int i = 0; i < LOOK_AT && (victim == null || victim.untilMillis() != 0); i++) {
      if (!hand.hasNext()) {
        hand = byName.values().iterator();
      }
      Known next = hand.hasNext() ? hand.next() : but;
      if (!next.name().equals(but.name()) && (victim == null || next.untilMillis() == 0)) {
        victim = next;
      }
    }
    return victim;
  }

  /// Whether names are missing.
  boolean isSome() {
    return isSome;
  }

  /// Says that names are missing.
  void leaveOut() {
    isSome = true;
  }

  @GuardedBy("this") private void mark(Known one) {
    one.marks().forEach(key -> byMark.put(key, one));
    if (one.untilMillis() != 0) {
      ends.computeIfAbsent(one.untilMillis(), at -> new ArrayList<>(1)).add(one.name());
    }
  }

  /// Takes no event as one about this value any more: it is being replaced.
  synchronized void ignoreEvents(Known one) {
    one.marks().forEach(key -> byMark.remove(key, one));
  }

  /// Takes events as being about this value again.
  ///
  /// @return false if its name is forgotten, or of another by now
  synchronized boolean heedEvents(Known one) {
    boolean isKnown = one.equals(byName.get(one.name()));
    if (isKnown) {
      one.marks().forEach(key -> byMark.put(key, one));
    }
    return isKnown;
  }

  @GuardedBy("this") private void unmark(Known one) {
    one.marks().forEach(key -> byMark.remove(key, one));
    if (one.untilMillis() != 0) {
      List<String> at = ends.get(one.untilMillis());
      if (at != null && at.remove(one.name()) && at.isEmpty()) {
        ends.remove(one.untilMillis());
      }
    }
  }

  synchronized boolean replace(Known one, Known by) {
    boolean replaced = byName.replace(one.name(), one, by);
    if (replaced) {
      unmark(one);
      mark(by);
    }
    return replaced;
  }

  /// @return false if it was not there, or another has its name by now
  synchronized boolean forget(Known one) {
    boolean forgot = byName.remove(one.name(), one);
    if (forgot) {
      sorted.remove(one.name());
      bytes.addAndGet(-bytes(one));
      unmark(one);
    }
    return forgot;
  }

  /// Forgets all values of one tier but those that end by themselves, whose end is known here alone.
  void forgetAll(int size) {
    byName.values().stream().filter(one -> one.size() == size && one.untilMillis() == 0).toList()
        .forEach(this::forget);
  }

  /// Names of the values that have ended by `millis`.
  synchronized List<String> endedBy(long millis) {
    List<String> all = new ArrayList<>();
    ends.headMap(millis, true).values().forEach(all::addAll);
    return all;
  }

  /// Number of the values that end by themselves.
  synchronized int ending() {
    return ends.values().stream().mapToInt(List::size).sum();
  }

  /// Milliseconds from `millis` on for which these values last, all together.
  synchronized long leftMillis(long millis) {
    return ends.tailMap(millis, false).entrySet().stream()
        .mapToLong(at -> (at.getKey() - millis) * at.getValue().size()).sum();
  }

  Iterable<String> names(String after) {
    return sorted.tailSet(after, false);
  }

  int count() {
    return byName.size();
  }
}
