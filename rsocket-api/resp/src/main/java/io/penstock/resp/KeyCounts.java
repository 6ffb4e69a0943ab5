package io.penstock.resp;

import io.penstock.node.door.DoorValues;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/// Counts keys that are known, by database. Names of the database 0 are not looked at one by one: they are those that
/// are left.
final class KeyCounts {
  private long keys;
  private long ending;
  private long leftMillis;

  private KeyCounts() {}

  /// @param ending keys whose values end by themselves
  /// @param meanLeftMillis how long these values last from now on, their mean
  record Count(int database, long keys, long ending, long meanLeftMillis) {}

  /// The databases in the space of `session` that have keys, in their order. Takes a while where other databases than 0
  /// have many.
  static List<Count> of(Session session) {
    DoorValues values = session.values();
    long nowMillis = session.house().terms().clocks().wall().millis();
    TreeMap<Integer, KeyCounts> marked = new TreeMap<>();
    KeyCounts others = new KeyCounts();
    others.add(values.count(), values.ending(), values.leftMillis(nowMillis));
    for (String name : values.names("")) {
      if (RespName.isBehindMarked(name)) {
        break;
      }
      int database = RespName.database(name);
      if (database >= 0) {
        long until = values.untilMillis(name);
        long ends = until > 0 ? 1 : 0;
        long left = until > nowMillis ? until - nowMillis : 0;
        marked.computeIfAbsent(database, number -> new KeyCounts()).add(1, ends, left);
        others.add(-1, -ends, -left);
      }
    }
    // names come and go meanwhile
    marked.computeIfAbsent(0, number -> new KeyCounts()).add(Math.max(0, others.keys), Math.max(0, others.ending),
        Math.max(0, others.leftMillis));
    List<Count> all = new ArrayList<>();
    marked.forEach((database, counts) -> {
      if (counts.keys > 0) {
        all.add(new Count(database, counts.keys, counts.ending,
            counts.ending == 0 ? 0 : Math.max(0, counts.leftMillis / counts.ending)));
      }
    });
    return all;
  }

  private void add(long moreKeys, long moreEnding, long moreLeftMillis) {
    keys += moreKeys;
    ending += moreEnding;
    leftMillis += moreLeftMillis;
  }
}
