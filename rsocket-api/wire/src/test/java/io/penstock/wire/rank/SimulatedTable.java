package io.penstock.wire.rank;

import io.penstock.wire.cluster.SharedTable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;

/// A table whose members get what others write after a while, in any order, and not from the other side of a split.
final class SimulatedTable {
  private final Scheduler time;
  private final Random random;
  private final int longestMillis;
  private final List<Copy> members = new CopyOnWriteArrayList<>();
  private final List<Message> underWay = new ArrayList<>();

  /// @param value null for a removal of what is not later than `of`
  private record Message(Copy from, String name, byte[] of, byte @Nullable [] value) {}

  SimulatedTable(Scheduler time, Random random, int longestMillis) {
    this.time = time;
    this.random = random;
    this.longestMillis = longestMillis;
  }

  /// A member with what those of its side have, and are about to get.
  Copy join(int side) {
    Copy copy = new Copy(side);
    for (Copy each : members) {
      if (each.side == side) {
        each.values.forEach((name, value) -> copy.apply(name, value, value));
      }
    }
    underWay.stream().filter(each -> each.from.side == side)
        .forEach(each -> copy.apply(each.name, each.of, each.value));
    members.add(copy);
    return copy;
  }

  /// A split ends: each member has the later of what all have.
  void heal() {
    members.forEach(each -> each.side = 0);
    for (Copy from : members) {
      for (Copy to : members) {
        Map.copyOf(from.values).forEach((name, value) -> to.apply(name, value, value));
      }
    }
  }

  private void send(Message message) {
    underWay.add(message);
    time.schedule(() -> {
      underWay.remove(message);
      if (members.contains(message.from)) { // what a member that died has not sent is lost
        members.stream().filter(each -> each.side == message.from.side)
            .forEach(each -> each.apply(message.name, message.of, message.value));
      }
    }, 1 + random.nextInt(longestMillis), TimeUnit.MILLISECONDS);
  }

  /// What one member has.
  final class Copy implements SharedTable {
    private final Map<String, byte[]> values = new HashMap<>();
    private final List<Listener> listeners = new CopyOnWriteArrayList<>();
    private int side;

    Copy(int side) {
      this.side = side;
    }

    void moveTo(int other) {
      side = other;
    }

    int side() {
      return side;
    }

    /// The member dies.
    void die() {
      members.remove(this);
    }

    private void apply(String name, byte[] of, byte @Nullable [] value) {
      byte[] there = values.get(name);
      if (value == null) {
        if (there != null && !SharedTable.isLater(there, of)) {
          values.remove(name);
          listeners.forEach(each -> each.changed(name, null));
        }
      } else if (SharedTable.isLater(value, there)) {
        values.put(name, value);
        listeners.forEach(each -> each.changed(name, value));
      }
    }

    @Override
    public void put(String name, byte[] value) {
      send(new Message(this, name, SharedTable.versioned(value), value));
    }

    @Override
    public void remove(String name, byte[] value) {
      send(new Message(this, name, value, null));
    }

    @Override
    public Map<String, byte[]> values() {
      return Map.copyOf(values);
    }

    @Override
    public Disposable listen(Listener listener) {
      listeners.add(listener);
      return () -> listeners.remove(listener);
    }
  }
}
