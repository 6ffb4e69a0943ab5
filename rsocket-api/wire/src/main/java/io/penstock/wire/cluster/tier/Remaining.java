package io.penstock.wire.cluster.tier;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.wire.cluster.Located;
import io.penstock.wire.cluster.Located.Holder;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The keys of a request that no member has answered for yet, and which member to ask next. Each holder of a key is
/// asked once; a key whose holders were all asked leaves. Safe from any thread.
final class Remaining {
  private static final int NONE = -1;

  private final Located located;
  private final int[] ranks;
  @GuardedBy("this") private final BitSet open;
  /// Positions for which a member was asked.
  @GuardedBy("this") private final Map<Integer, BitSet> asked = new HashMap<>();

  /// @param ranks of the members of `located`; the lowest is asked first
  Remaining(Located located, int[] ranks) {
    this.located = located;
    this.ranks = ranks;
    this.open = new BitSet(located.size());
    open.set(0, located.size());
  }

  Located located() {
    return located;
  }

  synchronized boolean isOver() {
    return open.isEmpty();
  }

  /// The next questions: open keys, in their order, cut into as few runs as follow one another at a member. A member
  /// that has the key before is preferred, so that a prefix stays in one piece.
  synchronized List<KeyRun> runs() {
    List<KeyRun> runs = new ArrayList<>();
    BitSet run = new BitSet();
    int member = NONE;
    for (int position = open.nextSetBit(0); position >= 0; position = open.nextSetBit(position + 1)) {
      int next = holder(position, member);
      if (next == NONE) {
        open.clear(position);
        continue;
      }
      if (next != member && !run.isEmpty()) {
        runs.add(KeyRun.of(member, run));
        run = new BitSet();
      }
      member = next;
      run.set(position);
      asked.computeIfAbsent(member, none -> new BitSet()).set(position);
    }
    if (!run.isEmpty()) {
      runs.add(KeyRun.of(member, run));
    }
    return runs;
  }

  /// The next questions, one a member.
  List<KeyRun> groups() {
    Map<Integer, BitSet> groups = new LinkedHashMap<>();
    for (KeyRun run : runs()) {
      BitSet group = groups.computeIfAbsent(run.member(), none -> new BitSet());
      for (int position : run.positions()) {
        group.set(position);
      }
    }
    return groups.entrySet().stream().map(group -> KeyRun.of(group.getKey(), group.getValue())).toList();
  }

  @GuardedBy("this") private int holder(int position, int preferred) {
    int best = NONE;
    for (Holder holder : located.holders(position)) {
      int member = holder.member();
      BitSet before = asked.get(member);
      if (before != null && before.get(position)) {
        continue;
      }
      if (member == preferred) {
        return member;
      } else if (best == NONE || ranks[member] < ranks[best]) {
        best = member;
      }
    }
    return best;
  }

  /// A member has these keys.
  synchronized void found(BitSet positions) {
    open.andNot(positions);
  }

  /// A member that had these keys did not give them after all.
  synchronized void lost(BitSet positions) {
    open.or(positions);
  }

  /// A member cannot be reached: it is not asked again.
  synchronized void gone(int member) {
    asked.computeIfAbsent(member, none -> new BitSet()).set(0, located.size());
  }
}
