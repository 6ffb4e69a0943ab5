package io.penstock.wire.cluster.place;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// Members that are equally near, prepared so that one is drawn by its capacity in a few steps, among all or among those
/// with room. Immutable but for its slots.
final class Draw {
  /// Pairs that are drawn before all count as full: figures may be older than what was given since.
  private static final int TRIES = 4;

  private final Slot[] byRoom;
  private final double[] sums;

  /// @param slots at least one
  Draw(List<Slot> slots) {
    byRoom = slots.toArray(Slot[]::new);
    Arrays.sort(byRoom, Comparator.comparingLong(Slot::toldFree).reversed());
    sums = new double[byRoom.length];
    double sum = 0;
    for (int i = 0; i < byRoom.length; i++) {
      sum += byRoom[i].capacity();
      sums[i] = sum;
    }
  }

  /// The emptier of two that are drawn among those with room; null if none has room.
  @Nullable Slot withRoom(long bytes, RandomGenerator random) {
    int most = roomy(bytes);
    for (int i = 0; i < TRIES && most > 0; i++) {
      Slot one = drawn(most, random);
      Slot other = drawn(most, random);
      Slot emptier = other.taken() < one.taken() ? other : one;
      if (emptier.hasRoom(bytes)) {
        return emptier;
      }
    }
    return null;
  }

  /// Of two that are drawn among all, the one whose next victim is older.
  Slot oldest(long millis, RandomGenerator random) {
    Slot one = drawn(byRoom.length, random);
    Slot other = drawn(byRoom.length, random);
    return other.idle(millis) > one.idle(millis) ? other : one;
  }

  Slot any(RandomGenerator random) {
    return drawn(byRoom.length, random);
  }

  /// How many have told that they have room; they come first.
  private int roomy(long bytes) {
    int low = 0;
    int high = byRoom.length;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (byRoom[middle].toldFree() >= bytes) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /// One of the first `most`.
  private Slot drawn(int most, RandomGenerator random) {
    double at = random.nextDouble() * sums[most - 1];
    int found = Arrays.binarySearch(sums, 0, most, at);
    return byRoom[Math.min(most - 1, found < 0 ? -found - 1 : found + 1)];
  }
}
