package io.penstock.node.cluster.hot;

import io.penstock.wire.cluster.Member;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// One key that many read, as one of its holders sees it from look to look. Not thread-safe.
///
/// A copy more is wanted when the demand of all exceeds what the holders are to give. One less is wanted when less
/// than half of what the fewer are to give was needed, in each of the last looks. So a steady demand, wherever it is,
/// changes nothing.
final class HotKey {
  /// Looks in which fewer holders must be enough before copies are removed.
  static final int QUIET = 20;
  /// Looks with too few holders after which the first of them acts, though another might.
  private static final int PATIENCE = 10;
  /// Part of the demand here that is surely there: readers draw, so no two holders see the same.
  private static final double SURE = 0.8;
  /// Looks after which a copy that the directory does not tell is given up.
  private static final int UNTOLD = 10;

  private final int[] needed = new int[QUIET];
  private int looks;
  private int tooFew;
  private int holders;
  /// Copies that this node made, and the looks since in which the directory did not tell them; −1 once it has.
  private final Map<Start, Integer> copies = new HashMap<>();
  private final Set<Start> told = new HashSet<>();

  /// The directory tells these holders.
  ///
  /// @return the part of the demand here so far that would have come here, had they been there
  double told(List<Member> now) {
    told.clear();
    now.forEach(member -> told.add(Start.of(member)));
    copies.replaceAll((copy, untold) -> told.contains(copy) ? -1 : untold < 0 ? UNTOLD : untold + 1);
    copies.values().removeIf(untold -> untold >= UNTOLD);
    double part = holders == 0 || now.isEmpty() ? 1 : (double) holders / now.size();
    holders = now.isEmpty() ? holders : now.size();
    return part;
  }

  /// Holders that are missing now.
  ///
  /// @param load demand of all holders, as multiples of what one is to give
  /// @param most holders
  int missing(double load, int most) {
    needed[looks++ % QUIET] = (int) Math.min(most, Math.floor(2 * load) + 1);
    int coming = (int) copies.keySet().stream().filter(copy -> !told.contains(copy)).count();
    tooFew = load * SURE > told.size() + coming ? tooFew + 1 : 0;
    return Math.max(0, (int) Math.ceil(load) - told.size() - coming);
  }

  /// Whether this holder is the one that makes copies.
  ///
  /// @param isFirst whether it is the first of the holders by name
  boolean isActing(boolean isFirst) {
    return !copies.isEmpty() || (isFirst && (told.size() == 1 || tooFew > PATIENCE));
  }

  /// Holders more than were needed at any time lately.
  int spare() {
    return looks < QUIET ? 0 : Math.max(0, told.size() - Arrays.stream(needed).max().orElse(1));
  }

  boolean has(Member member) {
    Start start = Start.of(member);
    return told.contains(start) || copies.containsKey(start);
  }

  boolean isCopy(Member member) {
    return copies.containsKey(Start.of(member));
  }

  int copies() {
    return copies.size();
  }

  void made(Member at) {
    copies.put(Start.of(at), 0);
  }

  /// This node has no say in the copies any more.
  void forgetCopies() {
    copies.clear();
  }

  /// The copy there is removed.
  void forget(Member at) {
    copies.remove(Start.of(at));
  }
}
