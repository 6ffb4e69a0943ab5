package io.penstock.cluster.directory;

import io.penstock.wire.cluster.Member;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The members that are there at one moment, and the rounds of announcements that count. Immutable.
public final class KnownMembers {
  /// Before the first member is known.
  public static final KnownMembers NONE = new KnownMembers(List.of(), List.of());

  private final List<Member> members;
  private final Map<Long, Integer> byRound;

  /// @param members in the order of their names
  /// @param rounds of each member
  public KnownMembers(List<Member> members, List<long[]> rounds) {
    this.members = List.copyOf(members);
    this.byRound = new HashMap<>();
    for (int i = 0; i < rounds.size(); i++) {
      for (long round : rounds.get(i)) {
        byRound.put(round, i);
      }
    }
  }

  public List<Member> members() {
    return members;
  }

  /// Whether a member that is there has told this round.
  public boolean isKnown(long round) {
    return byRound.containsKey(round);
  }

  /// Whether rounds that counted then do not now.
  public boolean lacksRoundsOf(KnownMembers earlier) {
    return !byRound.keySet().containsAll(earlier.byRound.keySet());
  }

  /// Index in [#members()] of the member whose round it is; null if none of them has told it.
  @Nullable Integer memberOf(long round) {
    return byRound.get(round);
  }
}
