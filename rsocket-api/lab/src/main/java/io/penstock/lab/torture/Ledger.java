package io.penstock.lab.torture;

import io.penstock.lab.torture.AckLog.Word;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Obligations of a journal: each block must be there, may be there, or must not.
final class Ledger {
  private enum Owed {
    MUST,
    MAY
  }

  /// Blocks that are not in it must not be there.
  private final Map<Long, Owed> owed = new HashMap<>();
  private long next;
  private long stored;
  private long removed;
  private long refused;
  private long wrong;

  /// Takes note of a line of a writer's.
  void heard(Word word, List<Long> numbers) {
    switch (word) {
      case PUTS -> numbers.forEach(number -> {
        owed.putIfAbsent(number, Owed.MAY);
        next = Math.max(next, number + 1);
      });
      case STORED -> {
        numbers.forEach(number -> owed.put(number, Owed.MUST));
        stored += numbers.size();
      }
      case REMOVES -> numbers.forEach(number -> owed.put(number, Owed.MAY));
      case REMOVED -> {
        numbers.forEach(owed::remove);
        removed += numbers.size();
      }
      case REFUSED -> refused++;
      case WRONG -> wrong += numbers.size();
    }
  }

  boolean mustBe(long number) {
    return owed.get(number) == Owed.MUST;
  }

  boolean mayBe(long number) {
    return owed.containsKey(number);
  }

  /// Blocks that must be there.
  long promised() {
    return owed.values().stream().filter(each -> each == Owed.MUST).count();
  }

  /// Blocks that must be there and are not among `found`.
  List<Long> lost(Set<Long> found) {
    return owed.keySet().stream().filter(number -> mustBe(number) && !found.contains(number)).sorted().toList();
  }

  /// Records, after the writer's death, which of the optional blocks are there: from now on these must be, and the rest
  /// must not.
  void settle(Set<Long> found) {
    owed.keySet().retainAll(found);
    owed.replaceAll((number, was) -> Owed.MUST);
  }

  /// Number of the first block that was never put.
  long next() {
    return next;
  }

  /// Receipts.
  long stored() {
    return stored;
  }

  /// Removals that were settled.
  long removed() {
    return removed;
  }

  /// Puts that were refused for want of room.
  long refused() {
    return refused;
  }

  /// Blocks that the writer itself read and found wrong.
  long wrong() {
    return wrong;
  }
}
