package io.penstock.wire.cluster.place;

import io.penstock.block.session.SessionId;
import io.penstock.wire.cluster.Member;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// Points of members on a ring, more for a larger capacity: a session belongs to the member behind its own point, so
/// that all clients choose the same one, and a member that comes or goes moves few sessions. Immutable.
final class SessionRing {
  private static final int POINTS = 64;
  private static final int MOST_POINTS = 16 * POINTS;
  /// Points that are looked at for one with room.
  private static final int LOOKED_AT = 32;

  private final long[] points;
  private final int[] owners;
  /// For each value of the first bits, where the search for a point begins.
  private final int[] starts;
  private final int bits;
  private final List<String> names;

  /// What a ring is made of.
  ///
  /// @param shares points of each name
  record Plan(Map<String, Integer> shares) {
    static Plan of(List<Slot> slots) {
      double average = slots.stream().mapToDouble(Slot::capacity).average().orElse(1);
      Map<String, Integer> shares = new HashMap<>();
      slots.forEach(slot -> shares.put(slot.member.name(),
          Math.clamp(Math.round(POINTS * slot.capacity() / average), 1, MOST_POINTS)));
      return new Plan(shares);
    }
  }

  SessionRing(Plan plan) {
    names = plan.shares().keySet().stream().sorted().toList();
    record Point(long at, int owner) {}
    List<Point> all = new ArrayList<>();
    for (int owner = 0; owner < names.size(); owner++) {
      String name = names.get(owner);
      int share = plan.shares().getOrDefault(name, 1);
      for (int i = 0; i < share; i++) {
        all.add(new Point(mixed(31L * name.hashCode() + 0x9E3779B97F4A7C15L * i), owner));
      }
    }
    all.sort((one, other) -> Long.compare(one.at(), other.at()));
    points = all.stream().mapToLong(Point::at).toArray();
    owners = all.stream().mapToInt(Point::owner).toArray();
    bits = Math.max(1, Integer.SIZE - Integer.numberOfLeadingZeros(points.length));
    starts = new int[1 << bits];
    int at = 0;
    for (int first = 0; first < starts.length; first++) {
      while (at < points.length && first(points[at]) < first) {
        at++;
      }
      starts[first] = at;
    }
  }

  /// The first bits of a point, in the order of the points.
  private int first(long point) {
    return (int) ((point ^ Long.MIN_VALUE) >>> (Long.SIZE - bits));
  }

  /// The first member behind the point of the session that has room, and was not tried; null if none is near.
  @Nullable Slot withRoom(SessionId session, long bytes, Map<String, Slot> slots, Set<Member> tried) {
    return behind(session, slots, slot -> slot.hasRoom(bytes) && !tried.contains(slot.member), LOOKED_AT);
  }

  /// The member behind the point of the session; null if it has no point any more.
  @Nullable Slot owner(SessionId session, Map<String, Slot> slots) {
    return behind(session, slots, slot -> true, 1);
  }

  private @Nullable Slot behind(SessionId session, Map<String, Slot> slots,
      Predicate<Slot> wanted, int most) {
    long own = mixed(session.hashCode());
    int at = starts[first(own)];
    while (at < points.length && points[at] < own) {
      at++;
    }
    for (int i = 0; i < Math.min(most, points.length); i++) {
      Slot slot = slots.get(names.get(owners[(at + i) % points.length]));
      if (slot != null && wanted.test(slot)) {
        return slot;
      }
    }
    return null;
  }

  /// A number that looks like one drawn at random.
  private static long mixed(long number) {
    long mixed = (number ^ (number >>> 30)) * 0xBF58476D1CE4E5B9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
    return mixed ^ (mixed >>> 31);
  }
}
