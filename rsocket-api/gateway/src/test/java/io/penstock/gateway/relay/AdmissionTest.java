package io.penstock.gateway.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.gateway.api.ApiException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.test.scheduler.VirtualTimeScheduler;

final class AdmissionTest {
  private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
  private final List<String> log = new ArrayList<>();

  private Admission admission(int capacity, int queued, Duration goal) {
    return new Admission(new AdmissionOptions(queued, Duration.ofSeconds(10), goal), () -> capacity, time);
  }

  private Admission.Ticket enter(Admission admission, int priority, String name) {
    Admission.Ticket ticket = admission.enter(priority);
    ticket.granted().subscribe(nothing -> {}, failure -> log.add(name + " refused"), () -> log.add(name));
    return ticket;
  }

  @Test
  void greaterPrioritiesGoFirst_andEqualOnesInTheirOrder() {
    Admission admission = admission(1, 10, null);
    List<Admission.Ticket> tickets = new ArrayList<>();
    tickets.add(enter(admission, 4, "first"));
    enter(admission, 1, "low");
    enter(admission, 7, "high");
    enter(admission, 7, "high2");

    assertThat(log).containsExactly("first");
    tickets.getFirst().leave();
    tickets.getFirst().leave();
    assertThat(log).containsExactly("first", "high");
    assertThat(admission.running()).isEqualTo(1);
    assertThat(admission.waiting()).isEqualTo(2);
  }

  @Test
  void fullQueue_refuses_andAGreaterPriorityTakesThePlaceOfTheLeast() {
    Admission admission = admission(1, 1, null);
    enter(admission, 4, "runs");
    enter(admission, 2, "waits");

    assertThatThrownBy(() -> admission.enter(2)).isInstanceOfSatisfying(ApiException.class,
        refusal -> assertThat(refusal.status()).isEqualTo(503));
    enter(admission, 3, "better");
    assertThat(log).containsExactly("runs", "waits refused");
    assertThat(admission.waiting()).isEqualTo(1);
  }

  @Test
  void requestThatWaitsTooLong_isRefused() {
    Admission admission = admission(1, 5, null);
    enter(admission, 4, "runs");
    Admission.Ticket late = enter(admission, 4, "late");

    time.advanceTimeBy(Duration.ofSeconds(11));
    late.leave();
    assertThat(log).containsExactly("runs", "late refused");
    assertThat(admission.waiting()).isZero();
  }

  @Test
  void requestThatCannotReachTheGoal_isRefusedAtOnce_withAnHonestTime() {
    Admission admission = admission(1, 5, Duration.ofSeconds(3));
    Admission.Ticket first = enter(admission, 4, "first");
    time.advanceTimeBy(Duration.ofSeconds(1));
    first.first();
    time.advanceTimeBy(Duration.ofSeconds(1));
    first.leave(); // held 2 s, first token after 1 s
    enter(admission, 4, "second");
    enter(admission, 4, "third"); // 2 s of wait and 1 s

    assertThatThrownBy(() -> admission.enter(4)).isInstanceOfSatisfying(ApiException.class, refusal -> {
      assertThat(refusal.status()).isEqualTo(429);
      assertThat(refusal.retryAfter()).isEqualTo(Duration.ofSeconds(2));
    });
  }

  @Test
  void requestsThatEndAtOnce_doNotGrowTheStack() {
    Admission admission = admission(1, 100_000, null);
    Admission.Ticket first = admission.enter(4);
    int[] ended = {0};
    for (int i = 0; i < 50_000; i++) {
      Admission.Ticket ticket = admission.enter(4);
      ticket.granted().subscribe(nothing -> {}, failure -> {}, () -> {
        ended[0]++;
        ticket.leave();
      });
    }
    first.leave();
    assertThat(ended[0]).isEqualTo(50_000);
    assertThat(admission.running()).isZero();
  }
}
