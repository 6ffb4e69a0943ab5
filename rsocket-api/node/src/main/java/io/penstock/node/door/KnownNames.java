package io.penstock.node.door;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.BlockKey;
import io.penstock.flow.ValueStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// Names of values that are there, as far as this node knows, by name and by the blocks that mark them. Safe from any
/// thread.
final class KnownNames {
  private final Map<String, Known> byName = new ConcurrentHashMap<>();
  private final Map<BlockKey, Known> byMark = new ConcurrentHashMap<>();
  private final NavigableSet<String> sorted = new ConcurrentSkipListSet<>();
  @GuardedBy("this") private final TreeMap<Long, List<String>> ends = new TreeMap<>();

  /// A value.
  ///
  /// @param size index of the tier that has it
  /// @param untilMillis when it ends by itself; 0 for never
  /// @param usedNanos when it was used last, as far as this node saw
  record Known(ValueStore.Stored stored, int size, long untilMillis, AtomicLong usedNanos) {
    Known(ValueStore.Stored stored, int size, long untilMillis, long usedNanos) {
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

  void add(Known one) {
    Known before = byName.put(one.name(), one);
    if (before == null) {
      sorted.add(one.name());
    } else {
      unmark(before);
    }
    mark(one);
  }

  private void mark(Known one) {
    one.marks().forEach(key -> byMark.put(key, one));
    if (one.untilMillis() != 0) {
      synchronized (this) {
        ends.computeIfAbsent(one.untilMillis(), at -> new ArrayList<>(1)).add(one.name());
      }
    }
  }

  /// Takes no event as one about this value any more: it is being replaced.
  void ignoreEvents(Known one) {
    one.marks().forEach(key -> byMark.remove(key, one));
  }

  /// Takes events as being about this value again.
  ///
  /// @return false if its name is forgotten, or of another by now
  boolean heedEvents(Known one) {
    boolean isKnown = one.equals(byName.get(one.name()));
    if (isKnown) {
      one.marks().forEach(key -> byMark.put(key, one));
    }
    return isKnown;
  }

  private void unmark(Known one) {
    one.marks().forEach(key -> byMark.remove(key, one));
    if (one.untilMillis() != 0) {
      synchronized (this) {
        List<String> at = ends.get(one.untilMillis());
        if (at != null && at.remove(one.name()) && at.isEmpty()) {
          ends.remove(one.untilMillis());
        }
      }
    }
  }

  boolean replace(Known one, Known by) {
    boolean replaced = byName.replace(one.name(), one, by);
    if (replaced) {
      unmark(one);
      mark(by);
    }
    return replaced;
  }

  /// @return false if it was not there, or another has its name by now
  boolean forget(Known one) {
    boolean forgot = byName.remove(one.name(), one);
    if (forgot) {
      sorted.remove(one.name());
      unmark(one);
    }
    return forgot;
  }

  /// Forgets all values but those that end by themselves, whose end is known here alone.
  void forgetAll() {
    byName.values().stream().filter(one -> one.untilMillis() == 0).toList().forEach(this::forget);
  }

  /// Names of the values that have ended by `millis`.
  synchronized List<String> endedBy(long millis) {
    List<String> all = new ArrayList<>();
    ends.headMap(millis, true).values().forEach(all::addAll);
    return all;
  }

  Iterable<String> names(String after) {
    return sorted.tailSet(after, false);
  }

  int count() {
    return byName.size();
  }
}
