package io.penstock.wire.pause;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Two prefills and two decodes under load, their registry, and a node whose blocks the decodes hold: each process in
/// turn is stopped by SIGSTOP. The stopped one drops no rank that lives, ends no lease that was renewed in time, and
/// every request ends in one state.
final class StandstillTest {
  private final List<PausedProcess> processes = new ArrayList<>();
  private PausedProcess registry;
  private PausedProcess node;
  private List<PausedProcess> prefills;
  private List<PausedProcess> decodes;
  private PauseLimits limits;

  /// @param each number of prefills, and of decodes
  /// @param hasNode whether blocks have a node beside the registry
  private void start(PauseLimits given, int each, boolean hasNode) throws Exception {
    assumeTrue(Files.exists(Path.of("/proc/self/stat")), "signals of Linux");
    limits = given;
    registry = added(PausedProcess.start("registry", 0, limits));
    node = hasNode ? added(PausedProcess.start("node", 0, limits)) : registry;
    await("both listen", () -> !registry.lines("port").isEmpty() && !node.lines("port").isEmpty());
    prefills = new ArrayList<>();
    decodes = new ArrayList<>();
    for (int number = 0; number < each; number++) {
      prefills.add(added(PausedProcess.start("prefill", number, limits, registry.port())));
      decodes.add(added(PausedProcess.start("decode", number, limits, registry.port(), node.port(), each)));
    }
    await("all are ready", () -> Stream.concat(prefills.stream(), decodes.stream())
        .allMatch(one -> !one.lines("ready").isEmpty()));
  }

  private PausedProcess added(PausedProcess process) {
    processes.add(process);
    return process;
  }

  @AfterEach
  void stop() {
    processes.forEach(PausedProcess::close);
  }

  private void await(String what, BooleanSupplier condition) throws InterruptedException {
    PausedProcess.await(what, processes, condition);
  }

  @Test
  @Timeout(240)
  void anyProcess_mayStandStillForLongerThanAllLimits() throws Exception {
    start(new PauseLimits(Duration.ofMillis(1200), Duration.ofSeconds(3)), 1, false);
    standStill(Duration.ofSeconds(4));
  }

  @Tag("proof")
  @Test
  @Timeout(1800)
  void anyProcess_mayStandStill_forOneToFortySeconds() throws Exception {
    start(new PauseLimits(Duration.ofSeconds(2), Duration.ofSeconds(7)), 2, true);
    standStill(Duration.ofSeconds(1), Duration.ofSeconds(8), Duration.ofSeconds(15), Duration.ofSeconds(40));
  }

  private void standStill(Duration... times) throws Exception {
    Set<PausedProcess> each =
        new LinkedHashSet<>(List.of(registry, prefills.getFirst(), decodes.getFirst()));
    each.add(node);
    for (Duration time : times) {
      for (PausedProcess one : each) {
        standStill(one, time);
      }
    }
    for (PausedProcess decode : decodes) {
      decode.endLoad();
    }
    await("the load ends", () -> decodes.stream().allMatch(one -> one.lines("idle").size() == PauseRole.CONCURRENCY));
    requireOneEndEach();
  }

  private void standStill(PausedProcess one, Duration time) throws Exception {
    Map<PausedProcess, Integer> before = new HashMap<>();
    processes.forEach(each -> before.put(each, each.lines().size()));
    one.standStill(time);
    Map<PausedProcess, Integer> woken = new HashMap<>();
    decodes.forEach(each -> woken.put(each, each.lines("ended").size()));
    // Those that were under way end, and so do others that began afterwards
    await("requests go on after " + one.name() + " stood still for " + time, () -> decodes.stream()
        .allMatch(each -> each.lines("ended").size() >= woken.get(each) + PauseRole.CONCURRENCY + 2));
    Map<PausedProcess, List<String>> since = new HashMap<>();
    processes.forEach(each -> since.put(each, each.lines().stream().skip(before.get(each)).toList()));
    require(one, time, since);
  }

  private void require(PausedProcess stopped, Duration time, Map<PausedProcess, List<String>> since)
      throws InterruptedException {
    List<String> gone = of(since.get(registry), "gone");
    assertThat(gone).as("ranks dropped while %s stood still for %s", stopped.name(), time)
        .allMatch(line -> line.startsWith("gone " + stopped.name()));
    if (!gone.isEmpty()) { // it was silent, and came back
      await(stopped.name() + " is registered again", () -> of(stopped.lines(), "registered").size() > 1);
    }
    for (PausedProcess decode : decodes) {
      boolean mayLose = decode == stopped && time.compareTo(limits.lease().dividedBy(2)) > 0;
      List<String> ended = of(since.get(decode), "ended");
      assertThat(ended).as("%s while %s stood still for %s", decode.name(), stopped.name(), time)
          .allMatch(line -> line.contains(" READY ") || (mayLose && isReleased(line)));
      assertThat(of(since.get(decode), "lease")).as("leases of %s at the node", decode.name())
          .allMatch(line -> mayLose && line.endsWith("LeaseExpiredException"));
      assertThat(of(since.get(decode), "broken")).isEmpty();
    }
    for (PausedProcess prefill : prefills) {
      assertThat(of(since.get(prefill), "released")).as("%s while %s stood still for %s", prefill.name(),
          stopped.name(), time).allMatch(line -> line.endsWith(" DONE") || line.contains(stopped.name()));
    }
    if (decodes.contains(stopped) && time.compareTo(limits.lease().plus(limits.lease().dividedBy(2))) > 0) {
      assertThat(of(since.get(stopped), "ended")).as("leases that were over are known").anyMatch(
          StandstillTest::isReleased);
    }
  }

  private static boolean isReleased(String line) {
    return line.contains(" FAILED io.penstock.disagg.request.MoveFailure$BlocksReleasedException")
        && line.contains("EXPIRED");
  }

  private static List<String> of(List<String> lines, String first) {
    return lines.stream().filter(line -> line.startsWith(first + " ") || line.equals(first)).toList();
  }

  private void requireOneEndEach() throws InterruptedException {
    for (PausedProcess decode : decodes) {
      List<String> begun = names(decode.lines("begun"));
      assertThat(names(decode.lines("ended"))).as("ends of %s", decode.name()).containsExactlyInAnyOrderElementsOf(
          begun);
      Set<String> released = new HashSet<>();
      await("each request is released once", () -> {
        released.clear();
        for (PausedProcess prefill : prefills) {
          names(prefill.lines("released")).stream().filter(name -> name.startsWith(decode.name()))
              .forEach(name -> assertThat(released.add(name)).as("%s is released once", name).isTrue());
        }
        return released.containsAll(begun);
      });
    }
  }

  private static List<String> names(List<String> lines) {
    return lines.stream().map(line -> line.split(" ")[1]).toList();
  }
}
