package io.penstock.device.sidecar.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.device.sidecar.SideCarCode;
import io.penstock.device.sidecar.server.SimulatedMemories.Owner;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Callers get an end also from a node without threads. After each test nothing is left mapped, and nothing was
/// unmapped twice.
final class ScarceThreadsTest extends SimulatedSideCar {
  @AfterEach
  void threadsAgain() {
    workers.again();
    workers.run();
    pass(1_000);
    assertThat(memories.mistakes).isEmpty();
  }

  @Test
  void unregister_withoutAThread_unmaps_forAllWhoWait() {
    registerAll();
    workers.none();
    List<Outcome> waiting = List.of(new Outcome(client.unregister(1)), new Outcome(client.unregister(1)),
        new Outcome(client.unregister(2)));
    pass(1_000);
    assertThat(waiting).allMatch(outcome -> outcome.ended && outcome.code == null);
    assertThat(memories.mapped()).containsExactly(new Owner(PROCESS, 3));
  }

  @Test
  void close_withoutAThread_ends() {
    registerAll();
    workers.none();
    assertThat(ended(client.close())).isNull();
    assertThat(memories.mapped()).isEmpty();
  }

  @Test
  void copy_withoutAThread_fails_andTheRegionsAreFree() {
    registerAll();
    workers.none();
    assertThat(ended(client.copy(List.of(copy(host, other))))).isEqualTo(SideCarCode.COPY_FAILED);
    assertThat(ended(client.unregister(1))).isNull();
    workers.again();
    assertThat(ended(client.copy(List.of(copy(other, buffer))))).isNull();
    assertThat(ended(client.register(host))).isNull();
    assertThat(ended(client.copy(List.of(copy(host, other))))).isNull();
  }
}
