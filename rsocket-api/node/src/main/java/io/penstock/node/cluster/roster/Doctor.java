package io.penstock.node.cluster.roster;

import io.penstock.wire.cluster.ClusterView;
import io.penstock.wire.cluster.Member;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// What is wrong with a cluster, from what its members say of it.
///
/// @param view of the member that was asked first
/// @param answers of its members, in the same order
record Doctor(ClusterView view, List<Answer> answers) {
  private static final double FULL = 0.95;
  private static final double UNEVEN = 0.20;

  /// What a member says of its cluster.
  ///
  /// @param view null if it does not answer
  /// @param problem why; empty if it does
  record Answer(Member member, @Nullable ClusterView view, String problem) {}

  /// Something that is wrong.
  ///
  /// @param node name of the member that it is about
  /// @param what is wrong
  /// @param help what to do
  record Finding(String node, String what, String help) {
    @Override
    public String toString() {
      return node + " " + what + ": " + help;
    }
  }

  List<Finding> findings() {
    List<Finding> findings = new ArrayList<>();
    if (view.members().size() == 1) {
      findings.add(new Finding(view.members().getFirst().name(), "is the only member", "if others run, see that it has"
          + " one of them in its cluster.seeds, and that cluster and cluster.secret.file are the same"));
    }
    double average = average();
    for (Answer answer : answers) {
      reached(answer, findings);
      filled(answer.member(), average, findings);
    }
    return findings;
  }

  private void reached(Answer answer, List<Finding> findings) {
    String name = answer.member().name();
    ClusterView own = answer.view();
    if (own == null) {
      findings.add(new Finding(name, "does not answer (" + answer.problem() + ")",
          "see that it runs, and that its endpoints can be reached from here"));
      return;
    }
    Set<String> here = names(view);
    Set<String> there = names(own);
    if (!here.equals(there)) {
      findings.add(new Finding(name, "knows other members, " + difference(here, there), "if it stays so, the cluster is"
          + " split: see that cluster.host and cluster.port of all members can be reached from each other"));
    }
    Optional<Member> itself = own.members().stream().filter(member -> member.name().equals(name)).findFirst();
    itself.filter(member -> member.generation() != answer.member().generation())
        .ifPresent(member -> findings.add(new Finding(name, "has started again, which others do not know",
            "if it stays so, another node has the same cluster.node")));
  }

  private void filled(Member member, double average, List<Finding> findings) {
    if (member.state() == Member.State.DRAINING) {
      findings.add(new Finding(member.name(), "is draining and takes no new blocks",
          "end it, or have it take blocks again with 'penstock cluster resume'"));
    }
    double fullness = fullness(member);
    if (fullness > FULL) {
      findings.add(new Finding(member.name(), "is " + percent(fullness) + " full",
          "add a node, or capacity, if blocks that are still wanted are evicted"));
    } else if (Math.abs(fullness - average) > UNEVEN) {
      findings.add(new Finding(member.name(), "is " + percent(fullness) + " full, and members are "
          + percent(average) + " full on average", "'penstock cluster rebalance' levels them"));
    }
    if (member.place().isEmpty() && view.members().stream().anyMatch(other -> !other.place().isEmpty())) {
      findings.add(new Finding(member.name(), "states no place, but others do",
          "state its cluster.place, so that blocks come from near and copies go far"));
    }
  }

  private double average() {
    double bytes = 0;
    double capacity = 0;
    for (Member member : view.members()) {
      bytes += member.figures().bytes();
      capacity += member.figures().capacityBytes();
    }
    return bytes / Math.max(1, capacity);
  }

  private static double fullness(Member member) {
    return member.figures().bytes() / (double) Math.max(1, member.figures().capacityBytes());
  }

  private static String percent(double part) {
    return Math.round(100 * part) + " %";
  }

  private static Set<String> names(ClusterView view) {
    return view.members().stream().map(Member::name).collect(Collectors.toCollection(TreeSet::new));
  }

  private static String difference(Set<String> here, Set<String> there) {
    Set<String> missing = new TreeSet<>(here);
    missing.removeAll(there);
    Set<String> more = new TreeSet<>(there);
    more.removeAll(here);
    return (missing.isEmpty() ? "" : "without " + String.join(", ", missing))
        + (missing.isEmpty() || more.isEmpty() ? "" : "; ")
        + (more.isEmpty() ? "" : "with " + String.join(", ", more));
  }
}
