package io.penstock.wire.cluster.place;

import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.Member.State;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// One list of members, prepared for draws. It is made when the list changes, so that a put costs the same however many
/// members there are.
final class MemberView {
  /// How much more or less than others a member is given for its capacity.
  private static final double MOST_SHARE = 4;
  /// Parts of its capacity that a member is given alone, at most, because it got fewer than others before.
  private static final double MOST_BEHIND = 1;

  final List<Member> members;
  /// Those that take blocks, by name.
  final Map<String, Slot> slots;
  /// Those that take blocks, the nearest first.
  final List<Near> groups;
  /// Most bytes for which any of them has told room.
  final long mostFree;
  /// Least capacity of any of them.
  final long leastCapacity;
  /// First words of the place that all of them have in common.
  final int common;

  /// Members that are equally near to the writer.
  ///
  /// @param plan of `ring`
  record Near(int nearness, Draw draw, SessionRing.Plan plan, SessionRing ring) {}

  /// @param members as they were told
  /// @param place of the writer
  /// @param before the view of an earlier list; null for none
  MemberView(List<Member> members, String place, @Nullable MemberView before, long millis) {
    this.members = members;
    this.slots = new HashMap<>();
    Map<Integer, List<Slot>> near = new TreeMap<>(Comparator.reverseOrder());
    for (Member member : members) {
      if (member.state() == State.UP) {
        Slot slot = slot(member, place, before, millis);
        slots.put(member.name(), slot);
        near.computeIfAbsent(slot.nearness, none -> new ArrayList<>()).add(slot);
      }
    }
    deal(slots.values(), before);
    this.groups = near.entrySet().stream().map(each -> near(each.getKey(), each.getValue(), before)).toList();
    this.mostFree = slots.values().stream().mapToLong(Slot::toldFree).max().orElse(0);
    this.leastCapacity =
        slots.values().stream().mapToLong(slot -> slot.member.figures().capacityBytes()).min().orElse(0);
    this.common = common(slots.values().stream().map(slot -> slot.member.place()).toList());
  }

  /// Says what part of new blocks each gets: by the age of its next victim, or by its room if it has no victim. An
  /// empty one gets twice what one gets that is nearly full; more would depend too much on how old the figures are.
  private static void deal(Collection<Slot> slots, @Nullable MemberView before) {
    double idle = slots.stream().mapToLong(Slot::toldIdle).filter(millis -> millis > 0).average().orElse(0);
    double room = slots.stream().filter(slot -> slot.toldIdle() == 0).mapToDouble(slot -> 1 - slot.used()).average()
        .orElse(0);
    for (Slot slot : slots) {
      double part = slot.toldIdle() > 0 ? slot.toldIdle() / idle : (2 - slot.used()) / (1 + room);
      slot.share(Double.isFinite(part) ? Math.clamp(part, 1 / MOST_SHARE, MOST_SHARE) : 1);
    }
    double most = slots.stream().mapToDouble(slot -> slot.turn(0)).max().orElse(0);
    double least =
        before == null ? 0 : before.slots.values().stream().mapToDouble(slot -> slot.turn(0)).min().orElse(0);
    slots.forEach(slot -> slot.turnFrom(Math.max(least, most - MOST_BEHIND)));
  }

  private static Slot slot(Member member, String place, @Nullable MemberView before, long millis) {
    Slot known = before == null ? null : before.slots.get(member.name());
    return known != null && known.member.generation() == member.generation()
        && known.member.place().equals(member.place())
            ? known.next(member, millis)
            : new Slot(member, Member.nearness(place, member.place()), millis);
  }

  /// Figures change often, the ring does not.
  private static Near near(int nearness, List<Slot> slots, @Nullable MemberView before) {
    SessionRing.Plan plan = SessionRing.Plan.of(slots);
    SessionRing ring = before == null
        ? null
        : before.groups.stream().filter(each -> each.nearness() == nearness && each.plan().equals(plan))
            .map(Near::ring).findFirst().orElse(null);
    return new Near(nearness, new Draw(slots), plan, ring == null ? new SessionRing(plan) : ring);
  }

  private static int common(List<String> places) {
    int common = Integer.MAX_VALUE;
    for (String place : places) {
      common = Math.min(common, Member.nearness(places.getFirst(), place));
    }
    return common;
  }

  /// The slot of this start of a member; null if it takes no blocks, or is another start.
  @Nullable Slot of(@Nullable Member member) {
    Slot slot = member == null ? null : slots.get(member.name());
    return slot != null && member != null && slot.member.generation() == member.generation() ? slot : null;
  }

  List<Slot> all() {
    List<Slot> all = new ArrayList<>(slots.values());
    all.sort(Comparator.comparing(slot -> slot.member.name()));
    return all;
  }
}
