package io.penstock.wire.cluster.tier;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierHolds;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.tier.ClusterEvents.Start;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// The holds of one party at each member, and which members have a part of which of its leases. Safe from any thread.
final class MemberHolds {
  /// Leases of which the members are known; the oldest are forgotten.
  private static final int MOST_KNOWN = 1 << 14;

  private final Nodes nodes;
  private final Object party;
  @GuardedBy("this") private final Map<Start, At> open = new HashMap<>();
  @GuardedBy("this") private final Map<Long, Set<Start>> leases = new LinkedHashMap<>();
  @GuardedBy("this") private boolean closed;

  /// The holds at a member.
  ///
  /// @param node that they were asked of; another connection to a member is another node
  private record At(BlockTier node, TierHolds holds) {}

  MemberHolds(Nodes nodes, Object party) {
    this.nodes = nodes;
    this.party = party;
  }

  /// The holds at a member. Signals a transient failure if it cannot be reached.
  Mono<TierHolds> at(Member member) {
    return nodes.node(member).map(node -> at(member, node));
  }

  /// The holds at a member that was reached.
  TierHolds at(Member member, BlockTier node) {
    At before;
    At now;
    synchronized (this) {
      requireOpen();
      before = open.get(ClusterEvents.start(member));
      if (before != null && before.node.equals(node)) {
        return before.holds;
      }
      now = new At(node, node.holds(party));
      open.put(ClusterEvents.start(member), now);
    }
    if (before != null) {
      before.holds.close(); // its connection is lost, and a new one was made
    }
    return now.holds;
  }

  @GuardedBy("this") private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("holds must be open (was closed)");
    }
  }

  /// `member` has a part of the lease `id` from now on.
  synchronized void leased(long id, Member member) {
    leases.computeIfAbsent(id, none -> new LinkedHashSet<>()).add(ClusterEvents.start(member));
    if (leases.size() > MOST_KNOWN) {
      leases.remove(leases.keySet().iterator().next());
    }
  }

  synchronized void forget(long id) {
    leases.remove(id);
  }

  private synchronized @Nullable Set<Start> known(long id) {
    Set<Start> members = leases.get(id);
    return members == null ? null : Set.copyOf(members);
  }

  /// Members that may have a part of the lease `id`: all, if another process asked for it.
  Mono<List<Member>> candidates(long id) {
    return members().map(members -> {
      Set<Start> known = known(id);
      return known == null
          ? members
          : members.stream().filter(member -> known.contains(ClusterEvents.start(member))).toList();
    });
  }

  /// All members.
  Mono<List<Member>> members() {
    return opened(nodes.members().doOnNext(this::keep));
  }

  /// Lets a call pass until [#close()].
  <T> Mono<T> opened(Mono<T> call) {
    return Mono.defer(() -> {
      synchronized (this) {
        requireOpen();
      }
      return call;
    });
  }

  /// Forgets members that have left.
  private void keep(List<Member> members) {
    Set<Start> there = new HashSet<>();
    members.forEach(member -> there.add(ClusterEvents.start(member)));
    List<At> left = new ArrayList<>();
    synchronized (this) {
      open.entrySet().removeIf(entry -> !there.contains(entry.getKey()) && left.add(entry.getValue()));
    }
    left.forEach(at -> at.holds.close());
  }

  /// Ends the leases that do not survive their party.
  void close() {
    List<At> all;
    synchronized (this) {
      closed = true;
      all = List.copyOf(open.values());
      open.clear();
      leases.clear();
    }
    all.forEach(at -> at.holds.close());
  }
}
