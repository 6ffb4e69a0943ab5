package io.penstock.resp;

import io.penstock.node.door.DoorValues;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/// Counts keys that are known, by database. Names of the database 0 are not looked at one by one: they are those that
/// are left.
final class KeyCounts {
  private KeyCounts() {}

  /// @param ending keys whose values end by themselves
  record Count(int database, long keys, long ending) {}

  /// The databases of `values` that have keys, in their order. Takes a while where other databases than 0 have many.
  static List<Count> of(DoorValues values) {
    TreeMap<Integer, long[]> marked = new TreeMap<>();
    long others = values.count();
    long ending = values.ending();
    for (String name : values.names("")) {
      if (RespName.isBehindMarked(name)) {
        break;
      }
      int database = RespName.database(name);
      if (database >= 0) {
        long[] counts = marked.computeIfAbsent(database, number -> new long[2]);
        boolean ends = values.untilMillis(name) > 0;
        counts[0]++;
        counts[1] += ends ? 1 : 0;
        others--;
        ending -= ends ? 1 : 0;
      }
    }
    long[] first = marked.computeIfAbsent(0, number -> new long[2]);
    first[0] += Math.max(0, others); // names come and go meanwhile
    first[1] += Math.max(0, ending);
    List<Count> all = new ArrayList<>();
    marked.forEach((database, counts) -> {
      if (counts[0] > 0) {
        all.add(new Count(database, counts[0], counts[1]));
      }
    });
    return all;
  }
}
