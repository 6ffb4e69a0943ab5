package io.penstock.node.cluster.roster;

import io.penstock.node.text.Json;
import io.penstock.node.text.Reason;
import io.penstock.wire.cluster.ClusterTask;
import io.penstock.wire.cluster.ClusterView;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.SpaceQuota;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// A whole cluster at one moment, as one of its nodes sees it and as its members say. Immutable.
public final class ClusterSight {
  private final Roster roster;
  private final String node;
  private final Map<String, Duration> toldAgo;
  private final int asked;
  private final List<ClusterTask> tasks;
  private final List<Doctor.Finding> findings;

  /// What a member says.
  ///
  /// @param answer about its cluster
  /// @param tasks of its own; null if it does not tell them
  /// @param silence why it does not tell its tasks; empty if it does, or does not answer at all
  record Said(Doctor.Answer answer, @Nullable List<ClusterTask> tasks, String silence) {}

  /// This in JSON.
  ///
  /// @param node that sees it
  /// @param toldMillisAgo age of the record of each member
  /// @param asked members that were asked; 0 before the node has joined
  record Shown(String cluster, List<Roster.Entry> members, Roster.Totals totals, String node,
      Map<String, Long> toldMillisAgo, int asked, List<Tasks.Shown> tasks, List<Doctor.Finding> findings,
      List<SpaceQuota> quotas) {}

  /// @param node that sees this
  /// @param toldAgo age of the record of each member
  /// @param said by members that were asked
  ClusterSight(ClusterView view, String node, Map<String, Duration> toldAgo, List<Said> said) {
    this.roster = Roster.of(view);
    this.node = node;
    this.toldAgo = new TreeMap<>(toldAgo);
    this.asked = said.size();
    this.tasks = said.stream().map(Said::tasks).filter(all -> all != null).flatMap(List::stream).toList();
    Map<String, Doctor.Answer> answers = new TreeMap<>();
    said.forEach(each -> answers.put(each.answer().member().name(), each.answer()));
    this.findings = new ArrayList<>(new Doctor(view, view.members().stream()
        .map(member -> answers.getOrDefault(member.name(), unasked(member, view))).toList()).findings());
    said.stream().filter(each -> !each.silence().isEmpty()).forEach(each -> findings.add(new Doctor.Finding(
        each.answer().member().name(), "does not tell its tasks (" + each.silence() + ")",
        "see that cluster.user of this node is a reader there")));
  }

  /// Nothing is said against a member that was not asked.
  private static Doctor.Answer unasked(Member member, ClusterView view) {
    return new Doctor.Answer(member, view, "");
  }

  /// This for machines.
  public String json() {
    Map<String, Long> millis = new TreeMap<>();
    toldAgo.forEach((name, ago) -> millis.put(name, ago.toMillis()));
    return Json.of(new Shown(roster.cluster(), roster.members(), roster.totals(), node, millis, asked,
        new Tasks(tasks).shown(), findings, roster.quotas()));
  }

  /// This for people: a page that loads nothing, runs no script, and asks for itself again.
  public String html() {
    return new ClusterPage(this).toString();
  }

  Roster roster() {
    return roster;
  }

  String node() {
    return node;
  }

  /// Age of the record of a member; null if it is not known.
  @Nullable Duration toldAgo(String name) {
    return toldAgo.get(name);
  }

  int asked() {
    return asked;
  }

  /// The tasks that run, then those that have ended, the last first.
  List<Tasks.Shown> tasks() {
    List<Tasks.Shown> all = new ArrayList<>();
    tasks.stream().filter(Tasks::isRunning).map(Tasks.Shown::of).forEach(all::add);
    tasks.reversed().stream().filter(task -> !Tasks.isRunning(task)).map(Tasks.Shown::of).forEach(all::add);
    return all;
  }

  List<Doctor.Finding> findings() {
    return List.copyOf(findings);
  }

  /// The words of a failure, on one line.
  static String reason(Throwable failure) {
    return Reason.printable(Reason.of(failure).replace('\n', ' '));
  }
}
