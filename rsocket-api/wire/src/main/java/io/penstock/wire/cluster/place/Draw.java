package io.penstock.wire.cluster.place;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// Members that are equally near, prepared so that one is drawn by its capacity in a few steps, among all or among
/// those with room. Immutable but for its slots.
final class Draw {
  /// Pairs that are drawn before all count as full: figures may be older than what was given since.
  private static final int TRIES = 4;

  private final Slot[] byRoom;
  private final long[] free;
  /// Capacities up to each member.
  private final double[] sums;
  /// For each of equal parts of the whole sum, where the search for a point in it begins.
  private final int[] starts;

  /// @param slots at least one
  Draw(List<Slot> slots) {
    byRoom = slots.toArray(Slot[]::new);
    Arrays.sort(byRoom, Comparator.comparingLong(Slot::toldFree).reversed());
    free = new long[byRoom.length];
    sums = new double[byRoom.length];
    double sum = 0;
    for (int i = 0; i < byRoom.length; i++) {
      free[i] = byRoom[i].toldFree();
      sum += byRoom[i].capacity();
      sums[i] = sum;
    }
    starts = new int[byRoom.length];
    int at = 0;
    for (int part = 0; part < starts.length; part++) {
      while (at < sums.length - 1 && sums[at] <= sum * part / starts.length) {
        at++;
      }
      starts[part] = at;
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
    int low = free[0] >= bytes ? 1 : 0;
    int high = low == 0 ? 0 : free.length;
    if (high > 0 && free[high - 1] >= bytes) {
      return high;
    }
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (free[middle] >= bytes) {
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
    int found = starts[Math.min(starts.length - 1, (int) (at / sums[sums.length - 1] * starts.length))];
    while (found < most - 1 && sums[found] <= at) {
      found++;
    }
    return byRoom[Math.min(found, most - 1)];
  }
}
