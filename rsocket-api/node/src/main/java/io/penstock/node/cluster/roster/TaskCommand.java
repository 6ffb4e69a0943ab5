package io.penstock.node.cluster.roster;

import static java.util.Objects.requireNonNullElse;

import io.penstock.KvException;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.Progress;
import io.penstock.node.cli.UnavailableException;
import io.penstock.node.link.ClusterLink;
import io.penstock.node.link.Dialer;
import io.penstock.node.option.SizeOption;
import io.penstock.node.text.Reason;
import io.penstock.wire.cluster.ClusterTask;
import io.penstock.wire.cluster.ClusterTask.State;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.TaskOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/// A command that starts a task at members of a cluster, and waits for its end.
abstract class TaskCommand extends MemberCommand {
  private static final Duration LOOKS_EACH = Duration.ofMillis(300);

  @Option(names = "--no-wait", description = "End when the task runs: 'penstock cluster tasks' shows how far it is.")
  private boolean leaves;

  @Option(names = "--rate", paramLabel = "SIZE", converter = SizeOption.class,
      description = "Most bytes a second that a member sends (default: its cluster.task.rate).")
  private @Nullable Long rate;

  TaskCommand(Console console, Dialer dialer) {
    super(console, dialer);
  }

  /// What each member is to do.
  ///
  /// @param bytesPerSecond 0 for the member's own rate
  abstract TaskOrder order(long bytesPerSecond);

  /// The members that are to do it.
  abstract List<Member> concerned(Members members);

  @Override
  final int run(Members members) {
    Map<Member, ClusterTask> started = started(members, order(requireNonNullElse(rate, 0L)));
    Tasks tasks = leaves ? new Tasks(List.copyOf(started.values())) : ended(members, started);
    tasks.print(console, isJson());
    return tasks.exitCode();
  }

  /// The tasks, as far as members start them: those of the others have failed. If none starts one, the failure of the
  /// first is thrown.
  private Map<Member, ClusterTask> started(Members members, TaskOrder order) {
    Map<Member, ClusterTask> started = new LinkedHashMap<>();
    RuntimeException first = null;
    for (Member member : concerned(members)) {
      try {
        started.put(member, members.at(member, link -> link.start(order)));
      } catch (KvException | UnavailableException e) {
        first = first == null ? e : first;
        started.put(member, new ClusterTask("", member.name(), order, State.FAILED, 0, 0, 0, Reason.of(e)));
      }
    }
    if (first != null && started.values().stream().allMatch(task -> task.id().isEmpty())) {
      throw first;
    }
    return started;
  }

  /// Waits until no task runs. Tasks go on if this process ends first.
  private Tasks ended(Members members, Map<Member, ClusterTask> started) {
    Tasks now = new Tasks(List.copyOf(started.values()));
    try (Progress progress = Progress.of(console, "cluster", "blocks")) {
      progress.soFar("and the tasks go on");
      while (now.areRunning()) {
        progress.at(now.blocks(), now.blocks() + now.left());
        Mono.delay(LOOKS_EACH, Schedulers.single()).block();
        List<ClusterTask> all = new ArrayList<>();
        started.replaceAll((member, task) -> task.state() == State.RUNNING ? looked(members, member, task) : task);
        all.addAll(started.values());
        now = new Tasks(all);
      }
      progress.at(now.blocks(), now.blocks());
    }
    return now;
  }

  /// The task as it is now; one of a member that does not answer, or does not know it any more, has failed.
  private static ClusterTask looked(Members members, Member member, ClusterTask task) {
    try {
      return members.at(member, ClusterLink::tasks).stream().filter(each -> each.id().equals(task.id())).findFirst()
          .orElseGet(() -> failed(task, "the member does not know the task any more; it may have started again"));
    } catch (KvException | UnavailableException e) {
      return failed(task, "the member does not answer, and the task may go on: " + Reason.of(e));
    }
  }

  private static ClusterTask failed(ClusterTask task, String problem) {
    return new ClusterTask(task.id(), task.node(), task.order(), State.FAILED, task.blocks(), task.bytes(),
        task.left(), problem);
  }
}
