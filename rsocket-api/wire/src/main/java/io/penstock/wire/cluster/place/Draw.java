package io.penstock.wire.cluster.place;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// Members that are equally near, prepared so that one is drawn by its capacity in a few steps, among all or among
/// those with room. Immutable but for its slots.
final class Draw {
  /// Draws before all count as full: figures may be older than what was given since.
  private static final int TRIES = 4;
  /// Members among which one's turn is.
  private static final int CANDIDATES = 4;

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

  /// One of those that told room, and has it; null if none is found.
  @Nullable Slot withRoom(long bytes, RandomGenerator random) {
    int most = roomy(bytes);
    for (int i = 0; i < TRIES && most > 0; i++) {
      Slot next = next(most, bytes, random);
      if (next.hasRoom(bytes)) {
        return next;
      }
    }
    return null;
  }

  /// One of all.
  Slot next(long bytes, RandomGenerator random) {
    return next(byRoom.length, bytes, random);
  }

  /// Of some that are drawn among the first `most`, the one whose turn it is.
  private Slot next(int most, long bytes, RandomGenerator random) {
    Slot next = drawn(most, random);
    for (int i = 1; i < CANDIDATES; i++) {
      Slot other = drawn(most, random);
      next = other.turn(bytes) < next.turn(bytes) ? other : next;
    }
    return next;
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
