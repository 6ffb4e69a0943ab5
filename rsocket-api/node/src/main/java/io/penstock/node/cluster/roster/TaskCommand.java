package io.penstock.node.cluster.roster;

import static java.util.Objects.requireNonNullElse;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.Progress;
import io.penstock.node.link.ClusterLink;
import io.penstock.node.link.Dialer;
import io.penstock.node.option.SizeOption;
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

  TaskCommand(Console console) {
    super(console, Dialer.ofWire());
  }

  /// What each member is to do.
  ///
  /// @param bytesPerSecond 0 for the member's own rate
  abstract TaskOrder order(long bytesPerSecond);

  /// The members that are to do it.
  abstract List<Member> concerned(Members members);

  @Override
  final int run(Members members) {
    TaskOrder order = order(requireNonNullElse(rate, 0L));
    Map<Member, ClusterTask> started = new LinkedHashMap<>();
    concerned(members).forEach(member -> started.put(member, members.at(member, link -> link.start(order))));
    Tasks tasks = leaves ? new Tasks(List.copyOf(started.values())) : ended(members, started);
    tasks.print(console, isJson());
    return tasks.exitCode();
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

  /// The task as it is now; one that its member does not know any more has failed.
  private static ClusterTask looked(Members members, Member member, ClusterTask task) {
    return members.at(member, ClusterLink::tasks).stream().filter(each -> each.id().equals(task.id())).findFirst()
        .orElseGet(() -> new ClusterTask(task.id(), task.node(), task.order(), State.FAILED, task.blocks(),
            task.bytes(), task.left(), "the member does not know the task any more; it may have started again"));
  }
}
