package io.penstock.node.cluster.roster;

import io.penstock.wire.cluster.ClusterView;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.SpaceQuota;
import java.util.List;
import java.util.Locale;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/// The members of a cluster, as JSON shows them.
///
/// @param cluster its name
/// @param members in the order of their names
/// @param quotas of spaces that have one over all members
public record Roster(String cluster, List<Entry> members, Totals totals, List<SpaceQuota> quotas) {
  /// One member.
  ///
  /// @param place empty if unknown
  /// @param state `up` or `draining`
  /// @param capacityBytes null if unbounded
  /// @param generation of its present start
  /// @param endpoints for clients, preferred first
  public record Entry(String name, String place, String state, long bytes, @Nullable Long capacityBytes,
      long inFlightBytes, long generation, List<String> endpoints) {
    static Entry of(Member member) {
      Member.Figures figures = member.figures();
      return new Entry(member.name(), member.place(), member.state().name().toLowerCase(Locale.ROOT), figures.bytes(),
          bounded(figures.capacityBytes()), figures.inFlightBytes(), member.generation(), member.endpoints());
    }
  }

  /// All members together.
  ///
  /// @param members number of them
  /// @param draining those of them that take no new blocks
  /// @param capacityBytes null if one of them is unbounded
  public record Totals(int members, int draining, long bytes, @Nullable Long capacityBytes, long inFlightBytes) {
    static Totals of(List<Member> members) {
      return new Totals(members.size(),
          (int) members.stream().filter(each -> each.state() == Member.State.DRAINING).count(),
          sum(members, Member.Figures::bytes), bounded(sum(members, Member.Figures::capacityBytes)),
          sum(members, Member.Figures::inFlightBytes));
    }
  }

  public static Roster of(ClusterView view) {
    return new Roster(view.cluster(), view.members().stream().map(Entry::of).toList(), Totals.of(view.members()),
        view.quotas());
  }

  private static @Nullable Long bounded(long capacityBytes) {
    return capacityBytes == Long.MAX_VALUE ? null : (Long) capacityBytes;
  }

  private static long sum(List<Member> members, ToLongFunction<Member.Figures> what) {
    return members.stream().map(Member::figures).mapToLong(what)
        .reduce(0, (one, other) -> one > Long.MAX_VALUE - other ? Long.MAX_VALUE : one + other);
  }
}
